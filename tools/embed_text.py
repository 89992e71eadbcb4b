#!/usr/bin/env python3
"""embed_text.py OUT.c NAME=FILE[,FILE...]...: puts texts into C, each a `const char NAME[]` made of its files in order.

SPDX-License-Identifier: MIT
"""
import sys


def c_text(text):
    lines = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text.rstrip("\n").split("\n")]
    return "\n".join('    "%s\\n"' % line for line in lines)


def read(paths):
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as handle:
            texts.append(handle.read())
    return "".join(texts)


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("/* Made by tools/embed_text.py. SPDX-License-Identifier: MIT */\n")
        for wanted in sys.argv[2:]:
            name, paths = wanted.split("=")
            text = c_text(read(paths.split(",")))
            out.write(f"extern const char {name}[];\nconst char {name}[] =\n{text};\n")


main()
