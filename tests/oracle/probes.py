#!/usr/bin/env python3
"""probes.py: of each line of JSON of `goheap probes --for json' or `goheap funcs --json' on standard input, rows.

return	the file that the function is in, the address of a return instruction, and its offset in the program
probe	the function's name, its entry, and the address and offset of its probe
place	the entry, the probe, the number of an argument and where it is there, as `twin args' has it
"""
import json
import sys

# As DWARF numbers them.
numbers = {name: number for number, name in enumerate("ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15".split())}
numbers.update(("x%d" % number, number) for number in range(31))


def place(word, size):
    if "cfa_offset" in word:
        text = "cfa+%d" % word["cfa_offset"] if word["cfa_offset"] else "cfa"
    else:
        text = "r%d" % numbers[word["register"]]
    return "%s:%d" % (text, word["size"]) if size else text


for line in sys.stdin:
    function = json.loads(line)
    for row in function.get("returns", []):
        print("return", function.get("file"), row["address"], row["offset"], sep="\t")
    if "function" in function:
        print("probe", function["function"], function["entry"], function["address"], function["offset"], sep="\t")
    for number, argument in enumerate(function.get("arguments", [])):
        words = argument["words"]
        if all("register" in word or "cfa_offset" in word for word in words):
            places = " ".join(place(word, len(words) > 1) for word in words)
            print("place", function["entry"], function["address"], number, places, sep="\t")
