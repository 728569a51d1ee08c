"""Compares what goheap sql says of a heap dump with what the program that wrote it said of its own structures, and with
an independent reader of heap dumps.

    sql.py GOHEAP DUMPFILE PROGRAM DUMP SAID

DUMPFILE is the oracle of that name. PROGRAM is stripped; beside it is the one that is not. SAID is what the sample graph
printed. Prints "NAME<tab>EXPECTED<tab>FOUND" a line.
"""
import csv
import io
import json
import subprocess
import sys

goheap, dumpfile, program, dump, said = sys.argv[1:]


def run(*arguments):
    return subprocess.run([goheap, "sql", dump, "-e", program, *arguments], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def ask(query):
    return [tuple(json.loads(line).values()) for line in run("--json", query).splitlines()]


def row(name, expected, found):
    print(name, expected, found, sep="\t")


lines = [line.rstrip("\n").split("\t") for line in open(said)]


def of_kind(kind):
    return [line[1:] for line in lines if line[0] == kind]


objects = {address: (structure, int(size)) for structure, _, address, size in of_kind("object")}
roots = of_kind("root")
pointers = {(source, int(offset), to) for _, source, offset, to in of_kind("pointer")}
garbage = {address for address, (structure, _) in objects.items() if structure == "garbage"}
opaque = {address for address, (structure, _) in objects.items() if structure == "table"}
known = [address for address, (_, size) in objects.items() if size]


def listed(addresses):
    return "(" + ", ".join(addresses) + ")"


output = subprocess.run([dumpfile, "objects", dump], check=True, stdout=subprocess.PIPE, encoding="ascii").stdout
total = dict(line.split("\t") for line in output.splitlines())
row("objects: all, and their bytes", (int(total["objects"]), int(total["bytes"])),
    ask("SELECT count(*), sum(bytes) FROM objects")[0])
row("objects: by type, all of them", [(int(total["objects"]), int(total["bytes"]))],
    ask("SELECT sum(n), sum(b) FROM (SELECT count(*) n, sum(bytes) b FROM objects GROUP BY type)"))
row("objects: sizes of some", sorted((a, objects[a][1]) for a in known),
    sorted(ask(f"SELECT address, bytes FROM objects WHERE address IN {listed(known)}")))
row("objects: sizes of some, without a look-up", sorted((a, objects[a][1]) for a in known),
    sorted(ask(f"SELECT address, bytes FROM objects WHERE +address IN {listed(known)}")))
row("objects: garbage", sorted(garbage),
    sorted(a for a, in ask("SELECT address FROM objects WHERE NOT reachable") if a in objects))
by_type = dict((t, (n, b)) for t, n, b in ask("SELECT type, count(*), sum(bytes) FROM objects GROUP BY type"))
for structure in "ring", "tree":
    mine = [a for a in objects if objects[a][0] == structure]
    types = ask(f"SELECT DISTINCT type FROM objects WHERE address IN {listed(mine)}")
    expected = len(mine), sum(objects[a][1] for a in mine)
    row(f"objects: {structure} is of one type, which has so many", (1, expected), (len(types), by_type[types[0][0]]))
    name = types[0][0].replace("'", "''")
    row(f"objects: the same by the type's name", sorted(mine),
        sorted(a for a, in ask(f"SELECT address FROM objects WHERE type = '{name}'")))
    row(f"types: the same type once", [(1, objects[mine[0]][1])],
        ask(f"SELECT count(*), size FROM types WHERE name = '{name}'"))

mine = [a for a in objects if a not in opaque]
row("refs: pointers of an object", sorted(p for p in pointers),
    sorted(p for p in ask(f"SELECT holder, offset, object FROM refs WHERE holder IN {listed(mine)}") if p[2] in objects))
row("refs: pointers to an object", sorted(p for p in pointers),
    sorted(p for p in ask(f"SELECT holder, offset, object FROM refs WHERE object IN {listed(mine)}") if p[0] in objects))
row("refs: by either, each once", sorted(p for p in pointers),
    sorted(p for p in ask(f"SELECT holder, offset, object FROM refs WHERE holder IN {listed(mine)} OR object IN {listed(mine)}")
           if p[0] in objects and p[2] in objects))
row("refs: as many when all are looked at", ask("SELECT count(*) FROM refs"),
    ask("SELECT count(*) FROM objects JOIN refs ON holder = address"))
row("refs: as many when they are found from the other end", ask("SELECT count(*) FROM refs"),
    ask("SELECT count(*) FROM objects JOIN refs ON object = address"))


def said_root(kind, name, where, to):
    return (kind if kind != "frame" else "stack", where if kind in ("data", "bss") else None,
            int(where) if kind == "frame" else None, to)


tops = {root[4] for root in roots}
row("roots: of each structure", sorted(map(str, (said_root(*root[1:]) for root in roots))),
    sorted(map(str, ask("SELECT kind, CASE WHEN kind IN ('data', 'bss') THEN printf('0x%x', slot) END, "
                        f"CASE WHEN kind = 'stack' THEN goroutine END, object FROM roots WHERE object IN {listed(tops)}"))))
row("roots: as many when all are looked at", ask("SELECT count(*) FROM roots"),
    ask("SELECT count(*) FROM objects JOIN roots ON object = address"))


def held(structure):
    """What holds all of it: what an object with a finalizer points to goes with that."""
    return listed(root[4] for root in roots if root[0] == structure and root[1] != "finalizer")


def retained(structure):
    mine = held(structure)
    return ask(f"SELECT sum(bytes) FROM retained WHERE object IN {mine}")[0][0]


freed = {structure: (int(size), int(count)) for structure, size, count in of_kind("freed")}
row("retained: what MemStats shows freed, bytes", {s: freed[s][0] for s in freed}, {s: retained(s) for s in freed})


def below(structure):
    mine = held(structure)
    return ask(f"WITH RECURSIVE below(o) AS (SELECT address FROM objects WHERE address IN {mine} UNION "
               "SELECT object FROM below JOIN retained ON holder = o) SELECT count(*) FROM below")[0][0]


row("retained: what MemStats shows freed, objects", {s: freed[s][1] for s in freed}, {s: below(s) for s in freed})
row("retained: those without a holder are held by roots together", [],
    ask("SELECT object FROM retained WHERE holder IS NULL AND object NOT IN (SELECT object FROM roots) AND object NOT IN "
        "(SELECT object FROM refs)"))


def steps_to(address):
    # What has a finalizer has a root, too: the way is through it.
    level, seen, steps = {root[4] for root in roots if root[1] != "finalizer"}, set(), 1
    while level:
        if address in level:
            return steps
        seen |= level
        level, steps = {to for source, _, to in pointers if source in level} - seen, steps + 1
    return 0


mine = [a for a in objects if a not in opaque]
row("path: how long the shortest is", sorted((a, steps_to(a)) for a in mine),
    sorted(ask(f"SELECT address, (SELECT count(*) FROM path(o.address)) FROM objects o WHERE address IN {listed(mine)}")))
last = [a for a in mine if objects[a][0] == "list"][-1]
row("path: by the program's pointers", [],
    [p for p in ask(f"SELECT a.object, a.offset, b.object FROM path({last}) a JOIN path({last}) b ON b.step = a.step + 1")
     if p not in pointers])

for _, address, copies, text in of_kind("text"):
    row("strings: text and copies", [(text, int(copies))],
        ask(f"SELECT text, copies FROM strings WHERE object = {address}"))

found = ask("SELECT function, file, line, count(*) FROM samples JOIN sites ON site = id GROUP BY function, file, line")
row("sites, samples: objects of each place of allocation", sorted((f, p, int(n), int(c)) for _, f, p, n, c in of_kind("site")),
    sorted(f for f in found if f[:3] in {(s[1], s[2], int(s[3])) for s in of_kind("site")}))
row("samples: of objects", ask("SELECT count(*) FROM samples"), ask("SELECT count(*) FROM samples JOIN objects ON address = object"))
# What the frame of the other does not list is found by its contents.
frames = {(int(goroutine), function, to) for kind, function, goroutine, to in (root[1:] for root in roots)
          if kind == "frame" and function == "main.hold"}
row("slots: what frames hold", sorted(frames),
    sorted(ask(f"SELECT goroutine, function, object FROM slots WHERE object IN {listed(f[2] for f in frames)}")))
row("slots: the same of a goroutine, and that is in a frame of its", sorted(frames),
    sorted(ask("SELECT g.id, f.function, object FROM goroutines g JOIN frames f ON f.goroutine = g.id JOIN slots s ON "
               f"s.goroutine = g.id AND s.depth = f.depth WHERE NOT inlined AND object IN {listed(f[2] for f in frames)}")))
row("finalizers", sorted((root[2], root[3]) for root in roots if root[1] == "finalizer"),
    ask("SELECT function, object FROM finalizers WHERE function LIKE 'main.%'"))

output = subprocess.run(["nm", program.removesuffix(".stripped")], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
symbols = {line.split(" ", 2)[2]: int(line.split(" ", 2)[0], 16) for line in output.splitlines() if line[0] != " "}
row("segments", [(kind, hex(symbols["runtime." + kind]), symbols["runtime.e" + kind] - symbols["runtime." + kind])
                 for kind in ("data", "bss")], ask("SELECT kind, address, bytes FROM segments"))
itabs = {address: name[len("go.itab."):].split(",")[0] for name, address in symbols.items() if name[:8] in ("go.itab.", "go:itab.")}
found = {int(address, 16): name for address, name in ask("SELECT address, type FROM itabs")}
row("itabs: where the linker has them", [], sorted(a for a in found if itabs and a not in itabs))
row("itabs: their types", {a: itabs[a].replace("internal/", "").split("/")[-1].lstrip("*") for a in found if a in itabs},
    {a: name.lstrip("*") for a, name in found.items() if a in itabs})

query = "SELECT text, length, copies, printf('%d', object) FROM strings"
fields = list(csv.reader(io.StringIO(run("--csv", query), newline="")))
row("CSV: titles", ["text", "length", "copies", "printf('%d', object)"], fields[0])
row("CSV: the same as JSON", sorted([t, str(n), str(c), o] for t, n, c, o in ask(query)), sorted(fields[1:]))
