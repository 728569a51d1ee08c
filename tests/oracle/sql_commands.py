"""Compares what goheap sql says of a heap with what its commands say of the same.

    sql_commands.py GOHEAP PROGRAM DUMP

Prints "NAME<tab>EXPECTED<tab>FOUND" a line: how many rows there are or, where they differ, some that do.
"""
import collections
import json
import subprocess
import sys

goheap, program, dump = sys.argv[1:]


def run(name, *arguments):
    output = subprocess.run([goheap, name, dump, "-e", program, "--json", *arguments], check=True, stdout=subprocess.PIPE,
                            encoding="utf-8").stdout
    return [json.loads(line) for line in output.splitlines()]


def ask(query):
    return [tuple(row.values()) for row in run("sql", query)]


def row(name, expected, found):
    expected, found = collections.Counter(map(repr, expected)), collections.Counter(map(repr, found))
    count = sum(expected.values())
    print(f"{name} ({count})", sorted((expected - found).elements())[:3] or count,
          sorted((found - expected).elements())[:3] or sum(found.values()), sep="\t")


def picked(rows, *keys):
    return [tuple(r[key] for key in keys) for r in rows]


histogram = run("histogram")
sums = "objects", "bytes"
row("histogram: types", picked(histogram, "type", *sums, "retained"),
    ask("SELECT name, objects, bytes, retained FROM types WHERE objects > 0"))
by_name = collections.Counter()
for r in histogram:
    by_name[r["type"]] += r["objects"] + r["bytes"] * 1j
row("histogram: objects", [(name, int(n.real), int(n.imag)) for name, n in by_name.items()],
    ask("SELECT type, count(*), sum(bytes) FROM objects GROUP BY type ORDER BY 3 DESC"))
row("histogram --by size", picked(run("histogram", "--by", "size"), "size", *sums),
    ask("SELECT bytes, count(*), sum(bytes) FROM objects GROUP BY bytes"))
row("histogram --by site", [r for r in picked(run("histogram", "--by", "site"), "site", *sums) if r[0][0] != "("],
    ask("SELECT function || coalesce(' at ' || file || ':' || line, ''), count(*), sum(bytes) FROM samples JOIN sites ON site = id "
        "JOIN objects ON address = object WHERE function NOT NULL GROUP BY 1"))
row("histogram --by path", picked(run("histogram", "--by", "path"), "path", *sums),
    ask("SELECT path, objects, bytes FROM paths WHERE objects > 0"))
row("histogram --by root", picked(run("histogram", "--by", "root"), "root", *sums),
    ask("SELECT path, all_objects, all_bytes FROM paths WHERE depth = 0"))
row("dominators", [(d["object"], d["retained"], d["dominator"]) for d in run("dominators")],
    [r for r in ask("SELECT object, bytes, holder FROM retained")])
row("unreachable", picked(run("unreachable"), "object", "size", "type"),
    ask("SELECT address, bytes, type FROM objects WHERE NOT reachable"))
row("strings", picked(run("strings"), "object", "bytes", "copies", "length", "text"),
    ask("SELECT object, bytes, copies, length, text FROM strings"))
row("roots", picked([r for r in run("roots") if r["kind"] in ("data", "bss")], "kind", "slot", "object"),
    ask("SELECT kind, slot, object FROM roots WHERE kind IN ('data', 'bss')"))

goroutines = run("goroutines", "--all")
row("goroutines", picked(goroutines, "id", "status", "waited_ns", "descriptor"),
    ask("SELECT id, status, waited, descriptor FROM goroutines"))
row("goroutines: frames", [(g["id"], f["function"], f["file"], f["line"], f["inlined"]) for g in goroutines for f in g["frames"]],
    [(*r[:4], bool(r[4])) for r in ask("SELECT goroutine, function, file, line, inlined FROM frames")])
row("goroutines: stacks", [(";".join(f["function"] for f in reversed(g["frames"])),) for g in goroutines],
    [(s,) for s, n in ask("SELECT stack, goroutines FROM stacks") for _ in range(n)])
row("frames", picked(run("frames"), "goroutine", "depth", "sp", "size"),
    ask("SELECT goroutine, depth, sp, size FROM frames WHERE NOT inlined"))
waits = run("waits")
row("waits", picked(waits, "goroutine", "wait", "reason", "waited"),
    ask("SELECT DISTINCT goroutine, kind, w.reason, w.waited FROM waits w JOIN goroutines ON id = goroutine WHERE NOT system"))
row("waits: channels", [(w["goroutine"], c["operation"], c["address"], c["type"], c["length"], c["capacity"]) for w in waits for c in w["channels"]],
    ask("SELECT goroutine, operation, object, type, length, capacity FROM waits JOIN goroutines ON id = goroutine WHERE NOT system AND "
        "operation NOT NULL AND object NOT NULL"))
row("leaked", picked(run("goroutines", "--leaked"), "id"), ask("SELECT id FROM goroutines WHERE leaked"))

row("itabs", picked(run("itabs"), "address", "type"), ask("SELECT address, descriptor FROM itabs"))
row("finalizers", picked(run("finalizers"), "state", "object", "entry", "func_value"),
    ask("SELECT state, object, entry, closure FROM finalizers"))
row("profile", [(";".join(f["function"] for f in reversed(p["stack"])), p["size"], p["inuse_objects"], p["alloc_objects"]) for p in run("profile")],
    ask("SELECT stack, size, allocations - frees, allocations FROM sites"))
info = dict(line.split(":", 1) for line in subprocess.run([goheap, "info", "--bytes", dump], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines())
row("info", [int(info[key]) for key in ("size of segments", "goroutines", "itabs", "samples")],
    [n for n, in ask("SELECT sum(bytes) FROM segments UNION ALL SELECT count(*) FROM goroutines "
                     "UNION ALL SELECT count(*) FROM itabs UNION ALL SELECT count(*) FROM samples")])

some = [a for a, in ask("SELECT address FROM objects WHERE reachable ORDER BY bytes DESC LIMIT 40")]
row("path", [(step["object"], step["type"], step.get("field"), step.get("offset")) for p in run("path", *some) for step in p["path"]],
    ask(" UNION ALL ".join(f"SELECT * FROM (SELECT object, type, field, offset FROM path({a}))" for a in some)))
row("referrers", [(r["object"], p["offset"], p["field"], f["object"]) for f in run("referrers", *some) for r in f["referrers"] for p in r["pointers"]],
    ask(f"SELECT holder, offset, field, object FROM refs WHERE object IN ({','.join(some)})"))
row("instances", picked(run("instances", histogram[0]["type"]), "object"),
    ask(f"SELECT address FROM objects WHERE type = '{histogram[0]['type']}'"))
