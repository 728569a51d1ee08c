"""Compares what goheap says of a heap dump with what the program that wrote it said of its own structures.

    heap.py GOHEAP DUMPFILE PROGRAM DUMP AFTER SAID

DUMPFILE is the oracle of that name. SAID is what the sample graph printed; AFTER its second dump. Prints "NAME<tab>EXPECTED<tab>FOUND" a line.
"""
import collections
import json
import subprocess
import sys

goheap, dumpfile, program, dump, after, said = sys.argv[1:]
GARBAGE = "garbage"
SEGMENTS = "data", "bss"


def ask(*arguments):
    output = subprocess.run([goheap, *arguments], check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()]


def row(name, expected, found):
    print(name, expected, found, sep="\t")


lines = [line.rstrip("\n").split("\t") for line in open(said)]


def of_kind(kind):
    return [line[1:] for line in lines if line[0] == kind]


objects = {address: (structure, int(size)) for structure, _, address, size in of_kind("object")}
# The map is told of as the root's target only.
roots = of_kind("root")
for structure, _, _, _, address in roots:
    objects.setdefault(address, (structure, 0))
structures = list(dict.fromkeys(structure for structure, _ in objects.values()))
pointers = {(source, int(offset), to) for _, source, offset, to in of_kind("pointer")}
addresses = list(objects)
opaque = {address for address, (structure, _) in objects.items() if structure == "table"}


def compare(name, wanted, found):
    """Of each structure, what is wanted of its objects and what is found."""
    for structure in structures:
        mine = [a for a in addresses if objects[a][0] == structure]
        row(f"{name} of {structure}", [wanted(a) for a in mine], [found(a) for a in mine])


def check_objects():
    found = dict(zip(addresses, ask("objects", "--json", dump, *addresses)))
    compare("objects: where they begin", lambda a: a, lambda a: found[a]["object"])
    compare("objects: sizes", lambda a: objects[a][1],
            lambda a: found[a]["size"] if objects[a][1] else 0)
    known = set(addresses) - opaque
    compare("objects: pointers", lambda a: sorted(p[1:] for p in pointers if p[0] == a),
            lambda a: sorted((p["offset"], p["value"]) for p in found[a]["pointers"]
                             if p["value"] in known))
    inside = [hex(int(a, 16) + 4) for a in addresses]
    row("objects: addresses within them", [(a, 4) for a in addresses],
        [(o["object"], o["offset"]) for o in ask("objects", "--json", dump, *inside)])


def describe(root):
    """A root as the sample says it."""
    if root["kind"] in SEGMENTS:
        return root["kind"], root["address"]
    if root["kind"] == "stack":
        return "frame", root["function"], str(root["goroutine"])
    return root["kind"], root["function"], root["object"]


def said_roots(address):
    return [(kind, where) if kind in SEGMENTS else (kind, name, where)
            for _, kind, name, where, to in roots if to == address]


def check_referrers():
    found = dict(zip(addresses, ask("referrers", "--json", "-e", program, dump, *addresses)))
    compare("referrers: roots", said_roots,
            lambda a: [describe(root) for root in found[a]["roots"]])
    compare("referrers: objects and their pointers",
            lambda a: sorted((p[0], p[1]) for p in pointers if p[2] == a),
            lambda a: [] if a in opaque else
            sorted((r["object"], p["offset"]) for r in found[a]["referrers"] for p in r["pointers"]))


# What an object with a finalizer points to is a root, to the garbage collector, and goes with the object: such roots count for
# what no others lead to.
finalizers = {to for _, kind, *_, to in roots if kind == "finalizer"}
lasting = {to for _, kind, *_, to in roots if kind != "finalizer"}


def steps_from(level, address):
    seen, steps = set(), 1
    while level:
        if address in level:
            return steps
        seen |= level
        level, steps = {to for source, _, to in pointers if source in level} - seen, steps + 1
    return None


def steps_to(address):
    """The least number of objects from a root to the one at ADDRESS; None for garbage."""
    return steps_from(lasting, address) or steps_from(finalizers, address)


def check_path():
    found = dict(zip(addresses, ask("path", "--json", "-e", program, dump, *addresses)))

    def is_path(address):
        path, root = found[address]["path"], found[address]["root"]
        if path is None:
            return None
        first, last = path[0]["object"], path[-1]["object"]
        held = describe(root) in said_roots(first) and last == address
        linked = address in opaque or all(
            (a["object"], a["offset"], b["object"]) in pointers for a, b in zip(path, path[1:]))
        return held and linked

    compare("path: from what holds it, by its pointers",
            lambda a: None if objects[a][0] == GARBAGE else True, is_path)
    compare("path: how long the shortest is", lambda a: None if a in opaque else steps_to(a),
            lambda a: None if a in opaque or found[a]["path"] is None else len(found[a]["path"]))


def reached_from(level, without):
    level, seen = level - without, set()
    while level:
        seen |= level
        level = {to for source, _, to in pointers if source in level} - seen - without
    return seen


def reached_without(removed):
    kept = reached_from(lasting, set())
    return reached_from(lasting, {removed}) | reached_from(finalizers, kept | {removed})


def check_dominators():
    found = {d["object"]: d for d in ask("dominators", "--json", dump)}
    alive = reached_without(None)
    dominated = {a: alive - reached_without(a) for a in addresses}

    def dominator(address):
        above = [a for a in addresses if a != address and address in dominated[a]]
        return min(above, key=lambda a: len(dominated[a]), default=None)

    checked = [a for a in addresses if a in alive and a not in opaque]
    compare("dominators", lambda a: dominator(a) if a in checked else None,
            lambda a: found[a]["dominator"] if a in checked else None)
    sized = {a for a in checked if all(objects[o][1] for o in dominated[a])}
    compare("dominators: retained sizes of those whose sizes are known",
            lambda a: sum(objects[o][1] for o in dominated[a]) if a in sized else None,
            lambda a: found[a]["retained"] if a in sized else None)
    row("dominators: garbage has none", [], [a for a in found if a in objects and objects[a][0] == GARBAGE])

    children = collections.Counter()
    for entry in found.values():
        above = entry["object"]
        while above is not None:
            children[above] += 1
            above = found[above]["dominator"]
    for structure, freed_bytes, freed_objects in of_kind("freed"):
        tops = [root[4] for root in roots if root[0] == structure and root[1] != "finalizer"]
        row(f"dominators: {structure} retains what MemStats shows freed, bytes and objects",
            (int(freed_bytes), int(freed_objects)),
            (sum(found[a]["retained"] for a in tops), sum(children[a] for a in tops)))


def check_reachable():
    """Of what is held by one pointer alone, all that is reached goes with it."""
    tops = [root for root in roots if root[0] not in ("resource",)]
    freed = {structure: (int(size), int(count)) for structure, size, count in of_kind("freed")}
    found = ask("reachable", "--json", dump, *[root[4] for root in tops])
    row("reachable: from each top what MemStats shows freed", [freed[root[0]] for root in tops],
        [(r["bytes"], r["objects"]) for r in found])
    row("reachable: and all of it is retained", [r["bytes"] for r in found], [r["retained"] for r in found])


def check_unreachable():
    found = ask("unreachable", "--json", dump)
    row("unreachable: garbage, and nothing that is held",
        sorted(a for a in addresses if objects[a][0] == GARBAGE),
        sorted(o["object"] for o in found if o["object"] in objects))


def check_histogram():
    sites = {f"{function} at {file}:{line}": int(count)
             for _, function, file, line, count in of_kind("site")}
    by_site = {h["site"]: h for h in ask("histogram", "--by", "site", "--json", dump)}
    row("histogram: objects of each place of allocation", sites,
        {site: by_site[site]["objects"] if site in by_site else None for site in sites})
    before = ask("diff", "--by", "site", "--json", after, dump)
    growth = {g["site"]: g["objects_growth"] for g in before}
    row("diff: objects of each place of allocation", sites, {site: growth.get(site) for site in sites})
    by_type = ask("histogram", "--json", dump)
    by_size = ask("histogram", "--json", "--by", "size", dump)
    output = subprocess.run([dumpfile, "objects", dump], check=True, stdout=subprocess.PIPE,
                            encoding="ascii").stdout
    total = dict(line.split("\t") for line in output.splitlines())
    for name, rows in ("type", by_type), ("size", by_size), ("site", list(by_site.values())):
        row(f"histogram: by {name}, all objects and bytes",
            (int(total["objects"]), int(total["bytes"])),
            (sum(h["objects"] for h in rows), sum(h["bytes"] for h in rows)))
    return by_type


def check_classes():
    """Each structure's own type is known by the objects that have its name."""
    types = {o["object"]: o["type"] for o in ask("objects", "--json", dump, *addresses)}
    counts = {h["type"]: h for h in ask("histogram", "--json", dump)}
    for structure in ("ring", "tree"):
        mine = [a for a in addresses if objects[a][0] == structure]
        names = {types[a] for a in mine}
        row(f"histogram: {structure} is of one type", 1, len(names))
        size = sum(objects[a][1] for a in mine)
        found = counts[names.pop()]
        row(f"histogram: objects, bytes and retained bytes of {structure}", (len(mine), size, size),
            (found["objects"], found["bytes"], found["retained"]))


def check_strings():
    found = {s["object"]: s for s in ask("strings", "--json", dump)}
    for _, address, copies, text in of_kind("text"):
        row("strings: text and copies", (text, int(copies)),
            (found[address]["text"], found[address]["copies"]) if address in found else None)


check_objects()
check_referrers()
check_path()
check_dominators()
check_reachable()
check_unreachable()
check_histogram()
check_classes()
check_strings()
