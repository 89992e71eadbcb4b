#!/usr/bin/env python3
"""embed_sql.py [--prefix=NAME] OUT.h OUT.c FILE.sql...: puts a folder of SQL files into C.

What a file is follows from its name: 001_x.sql is a migration, check_x.sql a check of the doctor's, script_x.sql a
script that is run as a whole; every other file is one statement. All names begin with the prefix (sql), so that two
folders can stand in one program. SPDX-License-Identifier: MIT
"""
import os
import re
import sys


def c_text(text):
    lines = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text.rstrip("\n").split("\n")]
    return "\n".join('    "%s\\n"' % line for line in lines)


def read(paths):
    groups = {"migration": [], "check": [], "script": [], "statement": []}
    for path in sorted(paths):
        name = os.path.basename(path)[:-len(".sql")]
        found = re.match(r"(\d+|check|script)_", name)
        kind = "statement" if not found else "migration" if found[1].isdigit() else found[1]
        with open(path, encoding="utf-8") as handle:
            groups[kind].append((name, handle.read()))
    for at, (name, _) in enumerate(groups["migration"]):
        if int(name.split("_")[0]) != at + 1:
            sys.exit(f"embed_sql: {name}.sql: migrations are numbered 001, 002, … without a gap")
    return groups


def write_header(path, prefix, groups):
    big = prefix.upper()
    names = "".join(f"    {big}_{name.upper()},\n" for name, _ in groups["statement"])
    scripts = "".join(f"extern const char {prefix}_{name}[];\n" for name, _ in groups["script"])
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"""/* Made by tools/embed_sql.py: the SQL of this folder. SPDX-License-Identifier: MIT */
#pragma once

enum {prefix}_id {{
{names}    {big}_COUNT
}};

struct {prefix}_text {{
    const char *name, *text;
}};

extern const struct {prefix}_text {prefix}_statements[{big}_COUNT];
#define {big}_MIGRATIONS {len(groups["migration"])}
extern const struct {prefix}_text {prefix}_migrations[];
#define {big}_CHECKS {len(groups["check"])}
extern const struct {prefix}_text {prefix}_checks[];
{scripts}""")


def write_source(path, header, prefix, groups):
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'/* Made by tools/embed_sql.py. SPDX-License-Identifier: MIT */\n#include "{os.path.basename(header)}"\n')
        for kind in ("statement", "migration", "check"):
            size = f"{prefix.upper()}_COUNT" if kind == "statement" else ""
            out.write(f"\nconst struct {prefix}_text {prefix}_{kind}s[{size}] = {{\n")
            for name, text in groups[kind]:
                out.write(f'    {{"{name}",\n{c_text(text)}}},\n')
            out.write("    {0, 0},\n};\n" if kind != "statement" else "};\n")
        for name, text in groups["script"]:
            out.write(f"\nconst char {prefix}_{name}[] =\n{c_text(text)};\n")


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--prefix=")]
    prefix = next((a[len("--prefix="):] for a in sys.argv[1:] if a.startswith("--prefix=")), "sql")
    header, source, paths = arguments[0], arguments[1], arguments[2:]
    groups = read(paths)
    write_header(header, prefix, groups)
    write_source(source, header, prefix, groups)


main()
