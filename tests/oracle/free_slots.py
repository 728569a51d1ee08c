"""For GDB with a core file of a Go program and the program's DWARF: prints those of the ADDRESSES, a variable that is a
list, that the runtime's own span has for free: it is swept, and neither its free index nor its allocation bits say else."""
import bisect

import gdb

heap = gdb.parse_and_eval("'runtime.mheap_'")
spans = [heap["allspans"]["array"][i].dereference() for i in range(int(heap["allspans"]["len"]))]
spans = sorted(((int(span["startAddr"]), span) for span in spans), key=lambda item: item[0])
starts = [start for start, _ in spans]


def is_free(address):
    start, span = spans[bisect.bisect_right(starts, address) - 1]
    index = (address - start) // int(span["elemsize"])
    ahead = int(span["sweepgen"]) - int(heap["sweepgen"])
    byte = gdb.selected_inferior().read_memory(int(span["allocBits"]) + index // 8, 1)[0]
    return ahead in (0, 3) and index >= int(span["freeindex"]) and not ord(byte) >> index % 8 & 1


for address in ADDRESSES:
    if is_free(address):
        print(f"free {address:#x}")
