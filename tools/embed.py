#!/usr/bin/env python3
# tools/embed.py: turns a file into a C header that holds its bytes.
#
# SPDX-License-Identifier: MIT
"""embed.py NAME INPUT OUTPUT: `static const unsigned char NAME[] = {…};`"""
import sys

PER_LINE = 24


def main(name, source, target):
    with open(source, "rb") as handle:
        data = handle.read()
    with open(target, "w", encoding="ascii") as out:
        out.write(f"static const unsigned char {name}[] = {{\n")
        for at in range(0, len(data), PER_LINE):
            out.write(",".join(map(str, data[at:at + PER_LINE])) + ",\n")
        out.write("};\n")


main(*sys.argv[1:])
