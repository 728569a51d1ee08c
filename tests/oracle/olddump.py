"""Compares what goheap says of a heap dump of Go 1.3 to 1.7 with what a reader of its own finds there.

    olddump.py GOHEAP DUMP [PROGRAM]

Written from src/runtime/heapdump.c (1.3) and heapdump.go of those releases. Prints "NAME<tab>EXPECTED<tab>FOUND" a line.
"""
import json
import subprocess
import sys

goheap, path = sys.argv[1:3]
program = sys.argv[3] if len(sys.argv) > 3 else None
data = open(path, "rb").read()
at = data.index(b"\n") + 1
release = int(data[4:5])
# The beta releases had no continuation pc.
beta = "beta" in path
KINDS = ("end", "pointer", "string", "slice", "iface", "eface") if release == 3 else ("end", "pointer", "iface", "eface")


def number():
    global at
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def text():
    global at
    size = number()
    at += size
    return data[at - size : at]


def fields():
    found = []
    while True:
        kind = number()
        if kind == 0:
            return found
        found.append([KINDS[kind], number()])


records = {}
goroutine = None
while True:
    tag = number()
    if tag == 0:
        break
    if tag == 1:
        row = [number()] + ([number(), number()] if release == 3 else [])
        row += [len(text())] + ([] if release == 3 else [fields()])
    elif tag == 2:
        row = [text(), number()]
    elif tag == 3:
        row = [number(), number(), text().decode(), bool(number()), fields() if release == 3 else []]
    elif tag == 4:
        row = [number() for _ in range(8)] + [text().decode()] + [number() for _ in range(4)]
        goroutine = row[2]
    elif tag == 5:
        row = [goroutine] + [number() for _ in range(3)] + [len(text())] + [number() for _ in range(2)]
        row += [row[-1] if beta else number(), text().decode(), fields()]
    elif tag == 6:
        row = [bool(number()), number()] + ([number()] if release == 3 else []) + [number(), number()]
        row += [text() if release == 7 else number(), text(), number()]
    elif tag in (7, 11):
        row = [number() for _ in range(5)]
    elif tag == 8:
        row = [number(), number()]
    elif tag == 9:
        row = [number() for _ in range(3)]
    elif tag == 10:
        row = [number() for _ in range(24 + 256 + 1)]
    elif tag in (12, 13):
        row = [number(), len(text()), fields()]
    elif tag in (14, 15):
        row = [number() for _ in range(7 if tag == 14 else 6)]
    elif tag == 16:
        row = [number(), number(), [(text(), text(), number()) for _ in range(number())], number(), number()]
    elif tag == 17:
        row = [number(), number()]
    else:
        raise SystemExit(f"{path}: tag {tag} before offset {at}")
    records.setdefault(tag, []).append(row)


def of(tag):
    return records.get(tag, [])


def ask(command, *arguments):
    output = subprocess.run([goheap, command, "--json", path, *arguments], check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()]


def compare(name, expected, found):
    """The number of equal rows, and the first that differ."""
    expected, found = [json.dumps(row) for row in expected], [json.dumps(row) for row in found]
    print(name, f"{len(expected)} rows", f"{len(found)} rows", sep="\t")
    for pair in zip(expected, found):
        if pair[0] != pair[1]:
            print(name, *pair, sep="\t")
            break


def words(row, *names):
    return [int(row[name], 16) for name in names]


info = ask("info")[0]
sizes = of(1)
contents = 3 if release == 3 else 1
for name, expected in (
    ("goroutines", len(of(4))),
    ("stack_frames", len(of(5))),
    ("objects", len(sizes)),
    ("object_bytes", sum(row[contents] for row in sizes)),
    ("stack_bytes", sum(row[4] for row in of(5))),
    ("segment_bytes", sum(row[1] for row in of(12) + of(13))),
    ("types", len({row[0] for row in of(3)})),
    ("itabs", len(of(8))),
    ("finalizers", len(of(7))),
    ("queued", len(of(11))),
    ("threads", len(of(9))),
    ("profile_records", len(of(16))),
    ("samples", len(of(17))),
    ("whole", True),
):
    print("info", f"{name} {expected}", f"{name} {info[name]}", sep="\t")

compare(
    "frames",
    of(5),
    [
        [row["goroutine"], *words(row, "sp"), row["depth"], *words(row, "child_sp"), row["size"]]
        + [*words(row, "entry", "pc", "continuation"), row["function"], row["fields"]]
        for row in ask("frames")
    ],
)
# The runtime may dump a type twice.
types = {row[0]: row for row in reversed(of(3))}
compare(
    "types",
    sorted(types.values()),
    sorted(
        [*words(row, "address"), row["size"], row["name"], row["indirect"], row.get("fields", [])]
        for row in ask("types")
    ),
)
compare(
    "itabs",
    of(8),
    [words(row, "address") + [int(row["indirect"]) if release == 3 else int(row["type"], 16)] for row in ask("itabs")],
)
compare(
    "finalizers",
    [["registered", *row] for row in of(7)] + [["queued", *row] for row in of(11)],
    [
        [row["state"], *words(row, "object", "func_value", "entry", "argument_type", "object_type")]
        for row in ask("finalizers")
    ],
)
by_g = {row[0]: row[2] for row in of(4)}
compare(
    "defers",
    [[row[0], by_g[row[1]], *row[2:]] for row in of(14)],
    [
        [*words(row, "record"), row["goroutine"], *words(row, "argp", "pc", "func_value", "entry", "next")]
        for row in ask("defers")
    ],
)
compare(
    "panics",
    [[row[0], by_g[row[1]], *row[2:]] for row in of(15)],
    [
        [*words(row, "record"), row["goroutine"], *words(row, "argument_type", "argument_data", "defer", "next")]
        for row in ask("panics")
    ],
)
compare("threads", of(9), [[*words(row, "descriptor"), row["id"], row["os_id"]] for row in ask("threads")])
stats = list(ask("memstats")[0].items())
collections = of(10)[0][-1]
compare(
    "memstats",
    [[*of(10)[0][:24], collections]],
    [[value for name, value in stats if not isinstance(value, list)]],
)
# Go 1.3 recorded each object's type; of a map's header, that it is one.
if release == 3 and program:
    kinds = {0: "", 1: "[]", 2: "chan "}
    typed = [row for row in of(1) if row[1] != 0 and row[2] in kinds]
    compare(
        "object types",
        [[row[0], kinds[row[2]] + types[row[1]][2].replace("map.hdr[", "map[")] for row in typed],
        [
            [*words(row, "object"), row["type"].replace("map.hdr[", "map[")]
            for row in ask("objects", "-e", program, *(hex(row[0]) for row in typed))
        ],
    )
