#!/usr/bin/env python3
"""embed_sql.py OUT.h OUT.c FILE.sql...: puts a folder of SQL files into C.

What a file is follows from its name: 001_x.sql is a migration, check_x.sql a check of the doctor's, script_x.sql a
script that is run as a whole; every other file is one statement, prepared once. SPDX-License-Identifier: MIT
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


def write_header(path, groups):
    names = "".join(f"    SQL_{name.upper()},\n" for name, _ in groups["statement"])
    scripts = "".join(f"extern const char sql_{name}[];\n" for name, _ in groups["script"])
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"""/* Made by tools/embed_sql.py: the SQL of this folder. SPDX-License-Identifier: MIT */
#pragma once

enum sql_id {{
{names}    SQL_COUNT
}};

struct sql_text {{
    const char *name, *text;
}};

extern const struct sql_text sql_statements[SQL_COUNT];
#define SQL_MIGRATIONS {len(groups["migration"])}
extern const struct sql_text sql_migrations[];
#define SQL_CHECKS {len(groups["check"])}
extern const struct sql_text sql_checks[];
{scripts}""")


def write_source(path, header, groups):
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'/* Made by tools/embed_sql.py. SPDX-License-Identifier: MIT */\n#include "{os.path.basename(header)}"\n')
        for kind in ("statement", "migration", "check"):
            size = "SQL_COUNT" if kind == "statement" else ""
            out.write(f"\nconst struct sql_text sql_{kind}s[{size}] = {{\n")
            for name, text in groups[kind]:
                out.write(f'    {{"{name}",\n{c_text(text)}}},\n')
            out.write("    {0, 0},\n};\n" if kind != "statement" else "};\n")
        for name, text in groups["script"]:
            out.write(f"\nconst char sql_{name}[] =\n{c_text(text)};\n")


def main():
    header, source, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    groups = read(paths)
    write_header(header, groups)
    write_source(source, header, groups)


main()
