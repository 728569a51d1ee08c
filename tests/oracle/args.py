# In GDB, with the stripped program as its program: runs it up to where a breakpoint on each of the functions
# in the file $FUNCTIONS is, and prints what $DEBUGFILE says of the arguments there, and what $TWIN says: "ours" or
# "twin", the pc, the function, and each argument's name and words. Words are in hexadecimal; - is one that is
# optimized out, and ? one that GDB cannot tell.
import os
import re
import struct

import gdb


def number(value, size):
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_FLT:
        code = {4: "<f", 8: "<d"}[size]
        return int.from_bytes(struct.pack(code, float(value)), "little")
    return int(value) & (1 << 8 * size) - 1


def words(value):
    """The words that the compiler takes a value apart into."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return [word for field in kind.fields() for word in words(value[field])]
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return [word for i in range(first, last + 1) for word in words(value[i])]
    if kind.sizeof == 0:
        return []
    if kind.code == gdb.TYPE_CODE_COMPLEX:
        return ["?", "?"]
    return ["-" if value.is_optimized_out else "%x" % number(value, kind.sizeof)]


def argument(symbol, frame):
    try:
        return symbol.name + "=" + ",".join(words(symbol.value(frame)))
    except gdb.error:
        return symbol.name + "=?"


def show(who, wanted):
    frame = gdb.newest_frame()
    block = frame.block()
    found = []
    while block is not None and not block.is_global and not block.is_static:
        found += [symbol for symbol in block if wanted(symbol)]
        block = None if block.function else block.superblock
    print(who, "%x" % frame.pc(), frame.name(),
          *[argument(symbol, frame) for symbol in found])


def stop():
    show("ours", lambda symbol: re.match(r"arg\d", symbol.name))
    gdb.execute("symbol-file " + os.environ["TWIN"], to_string=True)
    show("twin", lambda symbol: symbol.is_argument and not symbol.name.startswith("~"))
    gdb.execute("symbol-file " + os.environ["DEBUGFILE"], to_string=True)


def breakpoint_on(place):
    text = gdb.execute("tbreak " + place, to_string=True)
    return re.search(" at (0x[0-9a-f]+)", text).group(1)


for setting in ("pagination off", "confirm off", "breakpoint pending off"):
    gdb.execute("set " + setting)
gdb.execute("symbol-file " + os.environ["DEBUGFILE"], to_string=True)
places = set()
with open(os.environ["FUNCTIONS"]) as functions:
    for function in functions:
        places.add(breakpoint_on("'" + function.strip() + "'"))
gdb.execute("delete")
for place in places:
    gdb.execute("tbreak *" + place, to_string=True)
gdb.execute("run >/dev/null", to_string=True)
while gdb.selected_inferior().pid != 0:
    stop()
    gdb.execute("continue", to_string=True)
