"""Compares the heap that goheap finds in a core file with what other readers of cores find there, by the DWARF of the twin.

    peers.py goref GOHEAP PROGRAM CORE GRAPH RAW SYMBOLS
    peers.py viewcore GOHEAP PROGRAM CORE GRAPH OBJECTS BREAKDOWN

GRAPH is what the oracle dumpfile prints of goheap's dump of the core; RAW what `go tool pprof -raw` prints of goref's
profile, SYMBOLS what `nm -S` prints of the program; OBJECTS and BREAKDOWN what viewcore's commands print. Prints
"NAME<tab>EXPECTED<tab>FOUND" a line, and as "# ..." what is not compared.
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

peer, goheap, program, core, graph = sys.argv[1:6]
# Objects from this size on have their type in their first word, or in their span.
SMALLEST_WITH_TYPE, LARGEST_WITH_HEADER = 513, 32768
# Roots are compared one by one that reach such a share of all bytes.
SHARE = 1 / 1000
# The share of bytes that goref may miss: what is behind an object in an interface whose first word is a number that some
# function's code has for an address, for which goref takes it for a closure; and, to Go 1.23, what a map has for overflow.
MISSED = 1 / 100


def ask(command, *arguments):
    output = subprocess.run([goheap, command, "--json", "-e", program, *arguments, core],
                            check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()]


def row(name, expected, found):
    print(name, expected, found, sep="\t")


size, references, roots = {}, collections.defaultdict(list), []
for line in open(graph):
    field = line.rstrip("\n").split("\t")
    if field[0] == "object":
        size[int(field[1], 16)] = int(field[2])
    elif field[0] == "reference":
        references[int(field[1], 16)].append(int(field[2], 16))
    else:
        roots.append((field[1], int(field[-1], 16)))


def reached(start):
    seen = set(start)
    left = list(seen)
    while left:
        for to in references.get(left.pop(), ()):
            if to not in seen:
                seen.add(to)
                left.append(to)
    return seen


def total(objects):
    return sum(size[o] for o in objects)


def fits(found, least, most):
    return "fits" if least * (1 - MISSED) <= found <= most else f"{found}, not {least} to {most}"


def read_profile(path):
    """A profile's samples: bytes, and places from the innermost to the root."""
    place, samples, section = {}, [], None
    for line in open(path):
        if line.startswith(("Samples", "Locations", "Mappings")):
            section = line[0]
        elif section == "S" and (m := re.match(r" *\d+ +(\d+): ([\d ]+)", line)):
            samples.append((int(m[1]), m[2].split()))
        elif section == "L" and (m := re.match(r" *(\d+): 0x[0-9a-f]+ (.*) :0(:0)? s=0(\(\))?$", line)):
            place[m[1]] = m[2]
    return [(n, [place[i] for i in ids]) for n, ids in samples]


def check_goref(raw, symbols):
    samples = read_profile(raw)
    functions, variables = set(), []
    for line in open(symbols):
        field = line.split(maxsplit=3)
        if len(field) == 4 and field[2] in "tT":
            functions.add(field[3].strip().removesuffix(".abi0"))
        elif len(field) == 4 and field[2] in "bBdD" and int(field[1], 16):
            variables.append((int(field[0], 16), int(field[1], 16), field[3].strip()))
    variables.sort()
    starts, objects = [v[0] for v in variables], sorted(size)
    held, others = collections.defaultdict(set), {to for kind, to in roots if kind not in ("data", "bss")}
    for root in ask("roots"):
        if root["kind"] not in ("data", "bss"):
            continue
        i = bisect.bisect(starts, int(root["address"], 16)) - 1
        pointer = int(root["pointer"], 16)
        o = bisect.bisect(objects, pointer) - 1
        if i >= 0 and o >= 0 and pointer < objects[o] + size[objects[o]]:
            held[variables[i][2]].add(objects[o])
    live = total(reached(others.union(*held.values())))

    # What a closure holds is in its own sample and in that of what points to it. Variables of frames are followed
    # whether they are live or not.
    twice, by_root, dead = collections.Counter(), collections.Counter(), 0
    for n, places in samples:
        root = places[-1]
        by_root[root] += n
        if len(places) > 1 and places[0] in functions and root not in functions:
            twice[root] += n
        elif root not in held and root.rpartition(".")[0] in functions:
            dead += n
    found = sum(by_root.values()) - sum(twice.values())
    row("goref: bytes that roots reach", "fits", fits(found, live, live + dead))
    print(f"# goheap {live} bytes; goref {sum(by_root.values())}, of which {sum(twice.values())} twice, {dead} by frames")
    compared = 0
    for root, n in by_root.most_common():
        if n < live * SHARE or root not in held:
            continue
        # An object that several roots reach goref tells of the first that it goes by.
        most = total(reached(held[root]))
        least = live - total(reached(others.union(*(held[h] for h in held if h != root))))
        row(f"goref: bytes by root {root}", "fits", fits(n - twice[root], least, most))
        compared += n
    row("goref: most bytes are of roots that are compared", True, compared > 0.9 * live)


def plain(name):
    """A type's name as either says it, but for the length of arrays."""
    name = re.sub(r"^\[[\d+?]+\]", "", name.removeprefix("closure "))
    name = re.sub(r"^\[\]", "", name)
    name = re.sub(r"^hchan<(.*)>$", r"chan \1", name)
    name = re.sub(r"\b(map|table)<(.*?),(.*)>$", r"\1[\2]\3", name)
    name = name.replace("table of map[", "table[").replace("noalg.", "")
    # A group names its types by their package's last part.
    return re.sub(r"[\w.-]+/", "", name)


def free_slots(addresses):
    """Those that the runtime's spans say are free, as GDB reads them."""
    script = os.path.join(os.path.dirname(__file__), "free_slots.py")
    out = subprocess.run(
        ["gdb", "-nx", "-q", "-batch", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off",
         "-ex", f"python ADDRESSES = {addresses}", "-ex", f"source {script}", program, core],
        stdout=subprocess.PIPE, check=True, text=True).stdout if addresses else ""
    return {int(line.split()[1], 16) for line in out.splitlines() if line.startswith("free ")}


def check_viewcore(objects, breakdown):
    # One is of spans in use, the other of stacks.
    alloc = {int(line.split()[1]) for line in open(breakdown) if line.split()[:1] == ["alloc"]}
    row("viewcore: bytes in objects", "fits", "fits" if total(size) in alloc else f"{total(size)}, not {alloc}")
    theirs = dict(line.strip().split(" ", 1) for line in open(objects))
    theirs = {int(address, 16): name for address, name in theirs.items()}
    ours = {int(o["object"], 16): o["type"] for o in ask("dominators", "--names", program)}
    lost = [o for o in theirs if o not in ours]
    free = free_slots(lost)
    row("viewcore: its objects that goheap has not", [], [hex(o) for o in lost if o not in free][:5])
    print(f"# viewcore takes {len(free)} slots for objects that the runtime has for free")

    # It reads the pointers of the first element only, of an array whose object has its type in its first word.
    lacking = [(source, to) for source in theirs for to in references[source] if to not in theirs]
    row("viewcore: what it lacks is in arrays of objects that name their types", [],
        [hex(s) for s, _ in lacking if not SMALLEST_WITH_TYPE <= size[s] <= LARGEST_WITH_HEADER][:5])
    row("viewcore: what it lacks of roots", [],
        [(kind, hex(to)) for kind, to in roots
         if to in ours and to not in theirs and kind in ("data", "bss", "frame")][:5])
    print(f"# goheap reaches {len(ours)} objects, viewcore {len(theirs)}")

    # What both know the type of; small values without pointers may share an object.
    bytes_of, differ = collections.Counter(), collections.Counter()
    for o, name in theirs.items():
        mine = ours.get(o, "")
        if name.startswith("unk") or re.match(r"\d+ bytes|small values|string data", mine) or mine == "":
            continue
        if plain(name) == plain(mine):
            bytes_of[plain(name)] += size[o]
        # A small map's group for an array of tables; another name of the same structure.
        elif not (name.find("]*table<") >= 0 and mine.startswith("map.group[")) and size[o] > 16:
            differ[plain(name), plain(mine)] += size[o]
    row("viewcore: most bytes that both name the type of are of the same", True,
        sum(differ.values()) < SHARE * sum(bytes_of.values()))
    print(f"# the same: {sum(bytes_of.values())} bytes of {len(bytes_of)} types; not: {differ.most_common(9)}")


if peer == "goref":
    check_goref(*sys.argv[6:])
else:
    check_viewcore(*sys.argv[6:])
