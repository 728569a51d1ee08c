# In GDB, with the stripped program as its program and $DEBUGFILE for its symbols: runs it with a breakpoint on each of
# the functions in the file $FUNCTIONS, its output to $TOLD, and prints at each stop what GDB has of the arguments, as tests/samples/told does:
# the stop, the function, the argument, its type, its words and its value. - is what is optimized out, and ? what GDB
# does not show: of functions the code.
import os
import struct

import gdb


def kind_of(value):
    return value.type.strip_typedefs()


def name_of(kind):
    """A type's name as Go writes it: GDB writes pointers as C does."""
    stars = 0
    while kind.code == gdb.TYPE_CODE_PTR and kind.name is None:
        kind = kind.target()
        stars += 1
    return "*" * stars + str(kind)


def bits(value):
    kind = kind_of(value)
    if value.is_optimized_out:
        return "-"
    if kind.code == gdb.TYPE_CODE_FUNC:
        return "?"
    if kind.code == gdb.TYPE_CODE_FLT:
        code = {4: "<f", 8: "<d"}[kind.sizeof]
        return "%x" % int.from_bytes(struct.pack(code, float(value)), "little")
    return "%x" % (int(value) & (1 << 8 * kind.sizeof) - 1)


def parts(value):
    """What the compiler takes the value apart into; none if it does not."""
    kind = kind_of(value)
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return [value[field] for field in kind.fields()]
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return [value[i] for i in range(kind.range()[1] + 1)]
    if kind.code == gdb.TYPE_CODE_COMPLEX:
        gdb.set_convenience_variable("complex", value)
        return [gdb.parse_and_eval(part) for part in ("$_creal($complex)", "$_cimag($complex)")]
    return None


def leaves(value):
    inner = parts(value)
    return [bits(value)] if inner is None else [leaf for part in inner for leaf in leaves(part)]


def joined(values, depth):
    return " ".join(text(value, depth) for value in values)


def interface(value):
    first, data = parts(value)
    if kind_of(value).fields()[0].name == "tab" and int(first) != 0:
        first = (first.cast(gdb.lookup_type("uintptr").pointer()) + 1).dereference()
    return "<%s %s>" % (bits(first), bits(data))


def text(value, depth):
    kind = kind_of(value)
    names = [field.name for field in kind.fields()] if kind.code == gdb.TYPE_CODE_STRUCT else []
    if names == ["str", "len"]:
        length = int(value["len"])
        memory = gdb.selected_inferior().read_memory(int(value["str"]), length).tobytes() if length else b""
        return "%d'%s" % (length, memory.hex())
    if names == ["array", "len", "cap"]:
        length = int(value["len"])
        return "%d/%d[%s]" % (length, int(value["cap"]), joined([value["array"][i] for i in range(length)], depth))
    if names in (["_type", "data"], ["tab", "data"]):
        return interface(value)
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return "{" + " ".join(name + ":" + text(value[name], depth) for name in names) + "}"
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return "[" + joined(parts(value), depth) + "]"
    if kind.code == gdb.TYPE_CODE_COMPLEX:
        return "(" + joined(parts(value), depth) + ")"
    # Maps and channels have a name.
    if kind.code == gdb.TYPE_CODE_PTR and value.type.code == gdb.TYPE_CODE_PTR and depth > 0 and int(value) != 0:
        return bits(value) + "&" + text(value.dereference(), depth - 1)
    return bits(value)


def show(number):
    frame = gdb.newest_frame()
    block = frame.block()
    while block.function is None:
        block = block.superblock
    for symbol in block:
        if symbol.name.startswith("arg"):
            value = symbol.value(frame)
            words = leaves(value)
            known = "-" not in words and "?" not in words
            print(number, frame.name(), symbol.name, name_of(value.type), ",".join(words),
                  text(value, 2) if known else "-", sep="\t")


for setting in ("pagination off", "confirm off", "breakpoint pending off", "print thread-events off"):
    gdb.execute("set " + setting)
# A signal that is handled on the way from a breakpoint returns to it.
gdb.execute("set environment GODEBUG=asyncpreemptoff=1")
gdb.execute("symbol-file " + os.environ["DEBUGFILE"], to_string=True)
with open(os.environ["FUNCTIONS"]) as functions:
    for function in functions:
        gdb.execute("break '" + function.strip() + "'", to_string=True)
gdb.execute("run >" + os.environ["TOLD"], to_string=True)
stop = 0
while gdb.selected_inferior().pid != 0:
    stop += 1
    show(stop)
    gdb.execute("continue", to_string=True)
