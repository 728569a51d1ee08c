"""Copies a debug file, with the augmentation "S" (a signal's frame) taken out of its .debug_frame.

    plaincie.py DEBUGFILE COPY

libdwarf reads no call frames at all where it meets that augmentation. The rows are the same without it.
"""
import shutil
import struct
import subprocess
import sys

path, copy = sys.argv[1:]
shutil.copyfile(path, copy)
sections = subprocess.run(["readelf", "-SW", path], check=True, stdout=subprocess.PIPE, text=True).stdout
where = [line.split("]", 1)[1].split() for line in sections.splitlines() if " .debug_frame " in line][0]
start, size = int(where[3], 16), int(where[4], 16)
with open(copy, "r+b") as file:
    order = ">" if file.read(6)[5] == 2 else "<"
    file.seek(start)
    data = bytearray(file.read(size))
    at = found = 0
    while at < size:
        length, kind = struct.unpack_from(order + "II", data, at)
        end = at + 4 + length
        if kind == 0xFFFFFFFF and data[at + 9 : at + 11] == b"S\0":
            # A DW_CFA_nop more at the end.
            data[at + 9 : end] = data[at + 10 : end] + b"\0"
            found += 1
        at = end
    if found != 1:
        sys.exit(f"{path}: {found} entries of .debug_frame with the augmentation S")
    file.seek(start)
    file.write(data)
