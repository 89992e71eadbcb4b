#!/usr/bin/env python3
# tools/tidy.py: the rules of the house that a machine can hold. Run by `meson test tidy`.
#
# Each rule is a function that yields what it found wrong; each becomes one TAP test. Sizes are a
# ratchet: tools/tidy.ratchet lists what was too long, and how many functions of a room were too small,
# when the rule came, and that may only shrink. `tools/tidy.py --ratchet` writes down the shrinking (and
# never a growth).
#
# SPDX-License-Identifier: MIT
"""tidy.py [--ratchet] [ROOT]: checks the shape of the tree and speaks TAP."""
import os
import re
import shutil
import statistics
import subprocess
import sys

ROOMS = ("base wire time english client task store broker queue fleet schedule assist team deliver cloud work net remote cli").split()
STRANGERS = {("broker", "store")}  # in the right order, and still not to know each other
FOLDERS = "src web tests bench include tools script meson docs".split()
CODE = "src tests bench include".split()

FUNCTION_MAX, FUNCTION_P95, FUNCTION_MEDIAN = 70, 50, 14
FILE_MAX, HEADER_MAX = 600, 120
SPLINTER_LINES = 3  # of a body: a static that is called once and is no longer belongs into its caller
PLATE_LINES, LICENCE_LINES = 4, 40
FORBIDDEN = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")

# What comments and documents may not speak of: it is not in the repository.
OUTSIDE = re.compile(r"\b(SP" + r"EC|DES" + r"IGN|STY" + r"LE)(\.md\b|:? (rule )?[GI]?\d)|\bshared corp" + r"ora\b|\.\./sha" + r"red\b")
HISTORY = ("docs/changes/", "CHANGELOG.md")  # tells of what was, under the names of its time
SUFFIXES = "c|h|sql|lua|py|md|json|sh|build|tsv"

# The mutable statics of the house (CONTRIBUTING.md, "State"): (file, name).
STATICS = {
    ("src/base/log.c", "least_level"),   # the log sink
    ("src/base/log.c", "line_format"),
    ("src/base/str.c", "seed"),          # of str_hash(): once per process, then constant
    ("tests/test.c", "tests"), ("tests/test.c", "tests_count"),  # the list of tests
    ("tests/test.h", "test"),
    ("tests/system/shim.c", "shim"),     # an interposer has no caller to hand it its state
    ("tests/fuzz/zones.c", "zones"),     # nor has a fuzz target
}
PAUSES = ("tests/system/patience.py", "tests/test.c")  # where a test may pause, looking for something
SIGNAL_FLAG = re.compile(r"volatile sig_atomic_t|_Atomic \w+ \w*signal")  # the third, in cli/


class File:
    """One file of the tree: its path from the root, its lines."""

    def __init__(self, root, path):
        self.path = os.path.relpath(path, root)
        self.parts = self.path.split(os.sep)
        self.top = self.parts[0]
        self.room = self.parts[1] if self.top == "src" and len(self.parts) > 2 else ""
        self.ext = os.path.splitext(path)[1]
        with open(path, encoding="utf-8", errors="replace") as handle:
            self.text = handle.read()
        self.lines = self.text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()

    def is_c(self):
        return self.ext in (".c", ".h")

    def said(self):
        """What people read: all of a document, the comments of C; (line, text) each."""
        if self.ext == ".md":
            yield from enumerate(self.lines, 1)
        for found in re.finditer(r"/\*.*?\*/", self.text if self.is_c() else "", re.S):
            first = self.text.count("\n", 0, found.start()) + 1
            yield from enumerate(found.group(0).split("\n"), first)


def find_files(root):
    found = []
    for top in FOLDERS:
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            subfolders[:] = sorted(s for s in subfolders if s not in ("corpus", "corpora", "node_modules", "__pycache__"))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if is_text(path) and not os.path.islink(path):
                    found.append(File(root, path))
    found += [File(root, os.path.join(root, name)) for name in sorted(os.listdir(root)) if name.endswith(".md")]
    return found


def is_text(path):
    with open(path, "rb") as handle:
        return b"\0" not in handle.read(4096)


def functions(file):
    """Yields (name, line, length, comment) of each function; bodies open and close in column 0."""
    start = None
    for at, line in enumerate(file.lines):
        if line.startswith("{") or re.match(r"^[A-Za-z_].*\)\s*\{\s*$", line):
            start = at
        elif line.startswith("}") and start is not None:
            head = " ".join(file.lines[max(0, start - 4):start + 1])
            names = re.findall(r"(\w+)\s*\(", head) or ["?"]
            yield names[-1], start + 1, at - start + 1, comment_of(file.lines, start)
            start = None


def comment_of(lines, start):
    """The first line of the comment above the function, or else of the first inside it."""
    above = start
    while above > 0 and lines[above - 1].strip() and not lines[above - 1].startswith(("}", "#")):
        above -= 1
    block = lines[above:start + 1]
    return next((line for line in block + lines[start + 1:start + 6] if "/*" in line), "")


class Ratchet:
    """Sizes that were too big when the rule came; they may only shrink."""

    def __init__(self, root):
        self.path = os.path.join(root, "tools", "tidy.ratchet")
        self.sizes, self.seen = {}, {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as handle:
                rows = [line.split() for line in handle if line.strip() and line[0] != "#"]
            self.sizes = {what: int(size) for size, what in rows}

    def judge(self, what, size, limit, unit="lines"):
        """None when fine, else the complaint. Remembers what a rewritten ratchet would say."""
        allowed = self.sizes.get(what, limit)
        if size > limit:
            self.seen[what] = min(size, self.sizes.get(what, size))
        if size <= allowed:
            return None
        was = f", and was {allowed}" if what in self.sizes else ""
        return f"{what} has {size} {unit}, the limit is {limit}{was}"

    def stale(self):
        return [what for what in self.sizes if self.seen.get(what) != self.sizes[what]]

    def write(self):
        with open(self.path, "w", encoding="utf-8") as handle:
            handle.write("# tools/tidy.ratchet: what is longer than the house allows, and statics that are too small,\n"
                         "# by room. It may only shrink. Written by `tools/tidy.py --ratchet`.\n")
            for what in sorted(what for what in self.seen if what in self.sizes):
                handle.write(f"{self.seen[what]} {what}\n")


# ---- The rules: each takes (files, ratchet) and yields complaints ----


def rooms_include_only_earlier_rooms(files, _):
    for file in files:
        for number, line in enumerate(file.lines, 1):
            found = re.match(r'\s*#\s*include "(\w+)/(\w+/)?', line)
            if file.room not in ROOMS or not found or found.group(1) not in ROOMS:
                continue
            other = found.group(1)
            if ROOMS.index(other) > ROOMS.index(file.room) or (file.room, other) in STRANGERS:
                yield f"{file.path}:{number} {file.room}/ may not know {other}/"
            elif found.group(2) and other != file.room:
                yield f"{file.path}:{number} {other}/{found.group(2)} is private to {other}/"


def functions_fit_on_a_screen(files, ratchet):
    for file in files:
        if file.ext != ".c" or file.top not in CODE:
            continue
        for name, line, length, comment in functions(file):
            if length > FUNCTION_MAX and "flat" in comment:
                continue
            complaint = ratchet.judge(f"{file.path}:{name}()", length, FUNCTION_MAX)
            if complaint:
                yield f"line {line}: {complaint}"


def splinters(file):
    """Statics that are called once and say in no more than a few lines what their caller could say.
    A body that is one `return` is spared (its name explains an expression), and so is one whose address
    is taken."""
    code = re.sub(r"/\*.*?\*/", "", file.text, flags=re.S)
    for name, line, length, _ in functions(file):
        body = " ".join(text.strip() for text in file.lines[line:line + length - 2])
        if length - 2 <= SPLINTER_LINES and not re.match(r"return [^;]*;$", body) \
                and re.search(rf"^static (?!inline)[^;{{}}=]*\b{name}\(", file.text, re.M) \
                and len(re.findall(rf"\b{name}\b", code)) == len(re.findall(rf"\b{name}\(", code)) == 2:
            yield f"{file.path}:{line} {name}()"


def statics_are_not_splinters(files, ratchet):
    for room in ROOMS:
        found = [splinter for file in files if file.room == room and file.ext == ".c" for splinter in splinters(file)]
        complaint = ratchet.judge(f"src/{room}/", len(found), 0, "statics that belong into their only caller")
        if complaint:
            yield complaint + ": " + ", ".join(found)


def references_lead_somewhere(files, _):
    """A comment or a document names only documents and files that are in the repository."""
    names = {file.parts[-1] for file in files}
    places = "|".join(FOLDERS + ROOMS + ["clients", "examples"])
    path = re.compile(rf"(?<![\w/.<*-])((?:{places})/[\w./-]*\w\.(?:{SUFFIXES}))\b(?![\w*-])")
    bare = re.compile(rf"(?<![\w/.<*-])([a-z]\w*\.(?:c|h|sql|lua))\b(?![\w(*])")
    for file in files:
        if file.path.startswith(HISTORY) or file.path == os.path.join("tools", "tidy.py"):
            continue
        folder = os.path.dirname(file.path)
        for number, line in file.said():
            if OUTSIDE.search(line):
                yield f"{file.path}:{number} speaks of a document that is not in the repository"
            for named in path.findall(line):
                if not any(os.path.exists(os.path.join(at, named)) for at in ("", "src", "tests", folder)):
                    yield f"{file.path}:{number} names {named}, which is not there"
            for named in bare.findall(line) if file.top == "src" else ():
                if named not in names and not os.path.exists(os.path.join("/usr/include", named)):
                    yield f"{file.path}:{number} names {named}, which is not there"
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", file.text) if file.ext == ".md" else ():
            if not os.path.exists(os.path.join(folder, target)):
                yield f"{file.path} links to {target}, which is not there"


def most_functions_are_short(files, _):
    lengths = sorted(length for file in files if file.ext == ".c" and file.top == "src"
                     for _, _, length, _ in functions(file))
    if not lengths:
        return
    p95, median = lengths[int(len(lengths) * .95)], statistics.median(lengths)
    print(f"# {len(lengths)} functions: median {median:.0f}, p95 {p95}, max {lengths[-1]} lines")
    if p95 > FUNCTION_P95:
        yield f"one function in twenty is longer than {p95} lines, the limit is {FUNCTION_P95}"
    if median > FUNCTION_MEDIAN:
        yield f"half of the functions are longer than {median:.0f} lines, not {FUNCTION_MEDIAN}"


def files_are_not_too_long(files, ratchet):
    for file in files:
        if not file.is_c():
            continue
        limit = HEADER_MAX if file.ext == ".h" else FILE_MAX
        complaint = ratchet.judge(file.path, len(file.lines), limit)
        if complaint and file.ext == ".h" and file.path not in ratchet.sizes \
                and len(file.lines) <= FILE_MAX:
            print(f"# warning: {complaint}")
        elif complaint:
            yield complaint


def files_have_a_door_plate(files, _):
    for file in files:
        if not file.is_c() or file.top not in CODE:
            continue
        plate = next((line for line in file.lines[:PLATE_LINES] if "/*" in line), "")
        if file.parts[-1] not in plate:
            yield f"{file.path}: no comment that names the file in its first {PLATE_LINES} lines"


def files_name_their_licence(files, _):
    for file in files:
        script = file.top == "script" and file.lines and file.lines[0].startswith("#!")
        wanted = (file.is_c() and file.top in CODE) or file.ext in (".py", ".sh") or script
        if wanted and not any("SPDX-License-Identifier: MIT" in line
                              for line in file.lines[:LICENCE_LINES]):
            yield f"{file.path}: no SPDX line"


def sql_says_what_it_is(files, _):
    for file in files:
        first = file.lines[0] if file.lines else ""
        if file.ext == ".sql" and not (first.startswith("--") and file.parts[-1] in first):
            yield f"{file.path}: the first line is not a comment that names the file"
        for number, (line, below) in enumerate(zip(file.lines, file.lines[1:]), 1):
            if file.ext == ".sql" and re.match(r"-- (name|fragment):", line) and not below.startswith("-- "):
                yield f"{file.path}:{number} does not say below its name what it is"


def is_mutable(declaration):
    """Is the object of this declaration (up to its `=`, `;` or `{`) changeable?"""
    pointer = re.search(r"\(\*([^)]*)\)", declaration)
    name_part = pointer.group(1) if pointer else declaration.rsplit("*", 1)[-1]
    return not re.search(r"\bconst\b", name_part)


def declared_name(declaration):
    plain = re.sub(r"\[.*", "", re.sub(r"__attribute__\(\(.*?\)\)", "", declaration))
    words = re.findall(r"\w+", plain)
    return words[-1] if words else "?"


def is_function(declaration):
    plain = re.sub(r"__attribute__\(\(.*?\)\)", "", declaration)
    return "(" in plain and not plain[plain.index("("):].startswith("(*")


def statics_do_not_change(files, _):
    for file in files:
        if not file.is_c() or file.top not in CODE:
            continue
        for found in re.finditer(r"^[ \t]*static ([^=;{]*)[=;{]", file.text, re.M):
            declaration = found.group(1)
            if is_function(declaration) or not is_mutable(declaration):
                continue
            if SIGNAL_FLAG.search(declaration) or (file.path, declared_name(declaration)) in STATICS:
                continue
            line = file.text.count("\n", 0, found.start()) + 1
            yield f"{file.path}:{line} mutable static {declared_name(declaration)}"


def globals_are_not_there(files, _):
    plain = re.compile(r"^(?!static|extern|typedef|struct \w+;|enum \w+;|union \w+;|return|else)"
                       r"[A-Za-z_][\w \t*]*[ *]\w+(\[[^\]]*\])*\s*(=[^=]|;)")
    for file in files:
        if not file.is_c() or file.top not in CODE:
            continue
        for number, line in enumerate(file.lines, 1):
            if plain.match(line) and is_mutable(re.split(r"[=;]", line)[0]):
                yield f"{file.path}:{number} a global variable"


def whitespace_is_clean(files, _):
    for file in files:
        for number, line in enumerate(file.lines, 1):
            if line != line.rstrip():
                yield f"{file.path}:{number} ends in a blank"
            if "\t" in line and file.ext in (".c", ".h", ".sql", ".py"):
                yield f"{file.path}:{number} has a tab"
        if file.text and not file.text.endswith("\n"):
            yield f"{file.path}: the last line does not end"


def nothing_is_left_for_later(files, _):
    for file in files:
        for number, line in enumerate(file.lines, 1):
            found = FORBIDDEN.search(line)
            if found:
                yield f"{file.path}:{number} says {found.group(1)}"


def tests_do_not_sleep(files, _):
    """What a test waits for is said: wait_for() of patience.py, WAIT_FOR() of test.h."""
    pause = re.compile(r"\b(u?sleep|(clock_)?nanosleep|uv_sleep)\s*\(|\bpoll\(NULL\b|\bselect\(0, NULL\b")
    for file in files:
        if file.top == "tests" and (file.is_c() or file.ext == ".py") and file.path not in PAUSES:
            yield from (f"{file.path}:{number} sleeps" for number, line in enumerate(file.lines, 1) if pause.search(line))


def clang_format_agrees(files, _):
    if shutil.which("clang-format") is None:
        yield "clang-format is not installed (script/test installs it)"
        return
    names = [file.path for file in files if file.is_c() and file.top in CODE]
    if names:
        run = subprocess.run(["clang-format", "--dry-run", "-Werror", *names], check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        yield from sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", run.stdout, re.M)))


RULES = [
    rooms_include_only_earlier_rooms, functions_fit_on_a_screen, most_functions_are_short,
    statics_are_not_splinters, references_lead_somewhere,
    files_are_not_too_long, files_have_a_door_plate, files_name_their_licence, sql_says_what_it_is,
    statics_do_not_change, globals_are_not_there, whitespace_is_clean, nothing_is_left_for_later,
    tests_do_not_sleep, clang_format_agrees,
]


def main(arguments):
    rewrite = "--ratchet" in arguments
    roots = [a for a in arguments if not a.startswith("--")]
    root = os.path.abspath(roots[0] if roots else os.path.join(os.path.dirname(__file__), ".."))
    os.chdir(root)
    files, ratchet, failed = find_files(root), Ratchet(root), 0
    print(f"1..{len(RULES)}")
    for number, rule in enumerate(RULES, 1):
        complaints = list(rule(files, ratchet))
        for complaint in complaints:
            print(f"# {complaint}")
        failed += bool(complaints)
        print(f"{'not ' if complaints else ''}ok {number} - {rule.__name__}")
    if rewrite:
        ratchet.write()
    elif ratchet.stale():
        print("# tools/tidy.py --ratchet can write down what shrank: " + ", ".join(ratchet.stale()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
