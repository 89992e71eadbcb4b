#!/usr/bin/env python3
"""embed_sql.py sqlite|postgres OUT.h OUT.c TABLE.def... HEADER.h... FILE.sql...: puts a folder of SQL files into C.

A file is one statement, named for the file, or several, each below a line `-- name: find_key`. What a statement is follows
from its name: 001_x is a migration, check_x a check of the doctor's, script_x a script that is run as a whole.

What statements share is written once and expanded here:

  @order @fresh @standing @end    the columns of that part of a task, from task.def, and @record, from record.def; @order(b.) with
                                  that before each, @order(:) as SQLite's parameters; @end(d., result = EXPRESSION) with
                                  something else for one
  @blank                          what the columns of @standing behind @fresh hold before anything has happened to a task
  @set_standing(c.)               state = c.state, and so on
  @wanted(b.)                     PostgreSQL: what filter.def asks of the columns with that before each; NULL means any
  @now_ms                         PostgreSQL: what time it is by its clock
  @name @name(t)                  the text below `-- fragment: name` or `-- fragment: name(x)` of the same file, with t for x
  @rows(id uuid, @standing)       PostgreSQL: an array for each column, taken apart: unnest($id::uuid[]) AS id, and so on
  @table(c: id uuid, n)           the same in a FROM; a column without a type, at the end, is its number
  :QUEUED :OUTCOME_FAILED         the numbers of the enums in the headers; a task's states and priorities without their TASK_
  $name                           PostgreSQL: a parameter. They are numbered as a line `-- takes: a, b` says, or as they
                                  come; the C beside it gives its values in that order

Comments are left out, but of migrations: those are history, in which only numbers have names. An unknown name is an error that
says where it is. SPDX-License-Identifier: MIT
"""
import os
import re
import sys

PREFIXES = {"sqlite": "sql", "postgres": "pg"}
PARTS = ["ORDER", "RARE_ORDER", "BODY", "FRESH", "STANDING", "RARE_STANDING", "END", "RECORD", "WANTED"]
LISTS = {
    "order": ["ORDER", "RARE_ORDER"],
    "fresh": ["FRESH"],
    "standing": ["FRESH", "STANDING", "RARE_STANDING"],
    "end": ["END"],
    "record": ["RECORD"],
}
NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
# For each kind of column: PostgreSQL's type, and what it holds when there is nothing to say.
KINDS = {
    "ID": ("uuid", "NULL"), "PACKED": ("uuid", "NULL"), "NAME": ("text", "NULL"), "TEXT": ("bytea", "NULL"), "JSON": ("bytea", "NULL"),
    "BYTES": ("bytea", "NULL"), "TAGS": ("bytea", "NULL"), "TIME": ("bigint", "0"), "I64": ("bigint", "0"),
    "U64": ("bigint", "0"), "I32": ("integer", "0"), "STATE": ("integer", "0"), "PRIORITY": ("integer", "0"),
    "OUTCOME": ("integer", "0"), "F64": ("float8", "0"), "AMOUNT": ("float8", "NULL"), "BOOL": ("boolean", "false"),
}
TOKEN = re.compile(r"'(?:[^']|'')*'|--[^\n]*|::|@(?P<call>\w+)|(?<!\w):(?P<number>[A-Z]\w*)|\$(?P<param>\w+)")


def fail(path, line, text):
    sys.exit(f"embed_sql: {path}:{line}: {text}")


# ---- What there is to expand ----

class Names:
    """The columns of a task and the numbers of the enums, in one dialect."""

    def __init__(self, dialect):
        self.dialect, self.fields, self.numbers = dialect, [], {}

    def read_fields(self, path):
        with open(path, encoding="utf-8") as handle:
            for line, text in enumerate(handle, 1):
                found = re.match(r"FIELD\((\w+),\s*(\w+),\s*(\w+),", text)
                if text.startswith("FIELD(") and not found:
                    fail(path, line, "not a row of a part, a kind and a column")
                if not found:
                    continue
                part, kind, column = found.groups()
                if part not in PARTS or kind not in KINDS:
                    fail(path, line, f"unknown {'part ' + part if part not in PARTS else 'kind ' + kind}")
                if self.fields and PARTS.index(part) < PARTS.index(self.fields[-1][0]):
                    fail(path, line, f"{part} comes before {self.fields[-1][0]}: C counts columns in the order of the rows")
                self.fields.append((part, kind, column))

    def read_enums(self, path):
        with open(path, encoding="utf-8") as handle:
            text = re.sub(r"/\*.*?\*/", "", handle.read(), flags=re.S)
        for body in re.findall(r"\benum \w+\s*\{(.*?)\}", text, flags=re.S):
            value = -1
            for item in filter(None, (item.strip() for item in body.split(","))):
                found = re.fullmatch(r"(\w+)(?:\s*=\s*(\d+))?", item)
                if not found:
                    break  # not one of plain numbers
                value = int(found[2]) if found[2] else value + 1
                self.numbers[found[1].removeprefix("TASK_")] = value
        for name, value, unit in re.findall(r"^#define TASK_(\w+_MAX)\s+\(?(\d+)(?: \* (KIB|MIB))?\)?\s*$", text, flags=re.M):
            self.numbers[name] = int(value) * {"KIB": 1024, "MIB": 1024 * 1024}.get(unit, 1)

    def columns_of(self, kind, column):
        if self.dialect == "sqlite" and kind == "NAME":
            return [column + "_id"]
        if self.dialect == "sqlite" and kind == "ID":
            return ["k", "lo"] if column == "id" else [column + "_hi", column + "_lo"]
        return [column]

    def part(self, name):
        return [(column, kind) for part, kind, field in self.fields if part == name for column in self.columns_of(kind, field)]

    def list(self, name):
        """(column, kind) of each column of a list, in the order in which C gives and reads them."""
        return [pair for part in LISTS[name] for pair in self.part(part)]


# ---- Expanding one statement ----

def split(text):
    """At commas that are not inside parentheses."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in parts + [text[start:].strip()] if part]


def without_comments(text):
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("--"))


class Statement:
    """One text with a name. `where` is the line at which `text` begins."""

    def __init__(self, path, name, where, text, fragments=None):
        self.path, self.name, self.where, self.text, self.parameters = path, name, where, text, []
        self.fragments = fragments or {}

    def kind(self):
        found = re.match(r"(\d+|check|script)_", self.name)
        return "statement" if not found else "migration" if found[1].isdigit() else found[1]

    def fail(self, at, text):
        fail(self.path, self.where + self.text.count("\n", 0, at), text)

    def arguments(self, at):
        """What stands in the parentheses at `at`, if there are any, and the place behind them."""
        if self.text[at:at + 1] != "(":
            return None, at
        depth = 0
        for end in range(at, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            if depth == 0:
                return self.text[at + 1:end], end + 1
        self.fail(at, "a parenthesis that is not closed")

    def typed_columns(self, names, items, at):
        for item in items:
            found = re.fullmatch(r"(\w+)(?: (\w+))?|@(\w+)", item)
            if not found or (found[3] and found[3] not in LISTS):
                self.fail(at, f"'{item}' is neither a column with its type nor a list of columns")
            if found[3]:
                yield from ((column, KINDS[kind][0]) for column, kind in names.list(found[3]))
            else:
                yield found[1], found[2]

    def expand_fragment(self, names, name, argument, at):
        """The text of a fragment, with the arguments in place of its own words for them."""
        fragment, words = self.fragments[name]
        arguments = split(argument or "")
        if len(arguments) != len(words):
            self.fail(at, f"@{name} takes {len(words)} arguments, not {len(arguments)}")
        text = fragment.expand(names)
        for word, argument in zip(words, arguments):
            text = re.sub(rf"\b{word}\b", argument, text)
        return without_comments(text).strip()

    def expand_call(self, names, name, argument, at):
        if name in self.fragments:
            return self.expand_fragment(names, name, argument, at)
        if name in LISTS:
            prefix, *others = split(argument or "") or [""]
            if not re.fullmatch(r"[\w.:]*", prefix) or not all("=" in other for other in others):
                self.fail(at, f"@{name}({argument}): what stands before each column, and `column = something else`")
            instead = dict(re.split(r"\s*=\s*", other, maxsplit=1) for other in others)
            columns = [column for column, _ in names.list(name)]
            unknown = set(instead) - set(columns)
            if unknown:
                self.fail(at, f"@{name} has no column {unknown.pop()}")
            return ", ".join(instead.get(column, prefix + column) for column in columns)
        if name == "blank":
            fresh = names.list("fresh")
            return ", ".join(KINDS[kind][1] for column, kind in names.list("standing") if (column, kind) not in fresh)
        if name.startswith("set_") and name[4:] in LISTS and argument:
            values = split(self.expand_call(names, name[4:], argument, at))
            return ", ".join(f"{column} = {value}" for (column, _), value in zip(names.list(name[4:]), values))
        if name == "wanted" and argument and names.dialect == "postgres":
            return " AND ".join(f"(${column}::{KINDS[kind][0]} IS NULL OR {argument}{column} = ${column})"
                                for column, kind in names.part("WANTED"))
        if name == "now_ms" and names.dialect == "postgres":
            return NOW_MS
        if name == "rows" and argument and names.dialect == "postgres":
            return ", ".join(f"unnest(${column}::{kind}[]) AS {column}"
                             for column, kind in self.typed_columns(names, split(argument), at))
        if name == "table" and argument and ":" in argument and names.dialect == "postgres":
            alias, _, items = argument.partition(":")
            columns = list(self.typed_columns(names, split(items), at))
            arrays = ", ".join(f"${column}::{kind}[]" for column, kind in columns if kind)
            number = " WITH ORDINALITY" if columns[-1][1] is None else ""
            return f"unnest({arrays}){number} AS {alias} ({', '.join(column for column, _ in columns)})"
        self.fail(at, f"unknown list @{name}")

    def expand(self, names):
        out, end = [], 0
        while found := TOKEN.search(self.text, end):
            out.append(self.text[end:found.start()])
            end = found.end()
            if found["call"]:
                if self.kind() == "migration":
                    self.fail(found.start(), "a migration is history: it names its columns itself")
                argument, end = self.arguments(end)
                out.append(self.expand_call(names, found["call"], argument, found.start()))
            elif found["number"]:
                if found["number"] not in names.numbers:
                    self.fail(found.start(), f"unknown name :{found['number']}")
                out.append(str(names.numbers[found["number"]]))
            elif found["param"] and not found["param"][0].isalpha():
                self.fail(found.start(), f"${found['param']}: a parameter has a name")
            else:
                out.append(found[0])
        return "".join(out) + self.text[end:]

    def number_parameters(self, text):
        """PostgreSQL's $name becomes $1; the order is what `-- takes:` says, or that of the text."""
        said = re.search(r"^-- takes: (.*)$", self.text, flags=re.M)
        self.parameters = split(said[1]) if said else []

        def number(found):
            name = found["param"]
            if name is None:
                return found[0]
            if name not in self.parameters:
                if said:
                    self.fail(said.start(), f"takes no {name}, but there is ${name}")
                self.parameters.append(name)
            return f"${self.parameters.index(name) + 1}"
        return TOKEN.sub(number, text)

    def finish(self, names):
        text = self.expand(names)
        left = next((found for found in TOKEN.finditer(text) if found["call"] or found["number"]), None)
        if left:
            self.fail(0, f"{left[0]} stands where nothing is expanded")
        if names.dialect == "postgres":
            text = self.number_parameters(text)
        else:
            self.parameters = sorted(set(re.findall(r"(?<![:\w]):([a-z]\w*)", re.sub(r"--[^\n]*|'[^']*'", "", text))))
        self.text = (text if self.kind() == "migration" else without_comments(text)).strip("\n")


def read(path):
    """The statements of a file."""
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    pieces = re.split(r"^-- (name|fragment): (.*)\n", text, flags=re.M)
    if len(pieces) == 1:
        return [Statement(path, os.path.basename(path)[:-len(".sql")], 1, text)]
    if without_comments(pieces[0]).strip():
        fail(path, 1, "a statement before the first `-- name:`")
    line, statements, fragments = 1 + pieces[0].count("\n"), [], {}
    for what, name, body in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        found = re.fullmatch(r"([a-z]\w*)" if what == "name" else r"([a-z]\w*)(?:\((.*)\))?", name)
        if not found or name in LISTS:
            fail(path, line, f"'{name}' cannot be the name of a {what if what == 'fragment' else 'statement'}")
        piece = Statement(path, found[1], line + 1, body, fragments)
        if what == "name":
            statements.append(piece)
        else:
            fragments[found[1]] = (piece, split(found[2] or ""))
        line += 1 + body.count("\n")
    return statements


def group(statements):
    groups, seen = {"migration": [], "check": [], "script": [], "statement": []}, {}
    for statement in sorted(statements, key=lambda s: s.name):
        other = seen.setdefault(statement.name, statement)
        if other is not statement:
            fail(statement.path, statement.where, f"{statement.name} is also in {other.path}:{other.where}")
        groups[statement.kind()].append(statement)
    for at, migration in enumerate(groups["migration"]):
        if int(migration.name.split("_")[0]) != at + 1:
            fail(migration.path, 1, "migrations are numbered 001, 002, … without a gap")
    return groups


# ---- Writing C ----

def c_text(text):
    lines = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return "\n".join('    "%s\\n"' % line for line in lines)


def write_header(path, prefix, names, groups):
    big = prefix.upper()
    columns = "".join(f"    {big}_{part}_COLUMNS = {len(names.part(part))},\n" for part in PARTS)
    statements = "".join(f"    {big}_{s.name.upper()},\n" for s in groups["statement"])
    scripts = "".join(f"extern const char {prefix}_{s.name}[];\n" for s in groups["script"])
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"""/* Made by tools/embed_sql.py: the SQL of this folder. SPDX-License-Identifier: MIT */
#pragma once

enum {prefix}_id {{
{statements}    {big}_COUNT
}};

/* How many columns each part of a table is here. */
enum {{
{columns}}};

struct {prefix}_text {{
    const char *name, *text;
    int parameters;
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
            for s in groups[kind]:
                out.write(f'    {{"{s.name}",\n{c_text(s.text)}, {len(s.parameters)}}},\n')
            out.write("    {0, 0, 0},\n};\n" if kind != "statement" else "};\n")
        for s in groups["script"]:
            out.write(f"\nconst char {prefix}_{s.name}[] =\n{c_text(s.text)};\n")


def main():
    dialect, header, source, *paths = sys.argv[1:]
    names, statements = Names(dialect), []
    for path in paths:
        if path.endswith(".def"):
            names.read_fields(path)
        elif path.endswith(".h"):
            names.read_enums(path)
    for path in paths:
        if path.endswith(".sql"):
            statements += read(path)
    for statement in statements:
        statement.finish(names)
    groups = group(statements)
    write_header(header, PREFIXES[dialect], names, groups)
    write_source(source, header, PREFIXES[dialect], groups)


main()
