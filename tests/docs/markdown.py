# tests/docs/markdown.py: the code blocks of a page, and what the page says about running them.
#
# How a block is run follows from its language. What a reader would not be told stands in a comment above it, which pages do not
# show:
#
#     <!-- run: server --workers 0 -->     from here on this server is up (another one ends)
#     <!-- run: sh COMMAND -->             something that was done before, or is looked at afterwards
#     <!-- run: llm {"text":"yes"} -->     a stand-in of a language model for the next server, and its answers (tests/standin/llm.py)
#     <!-- run: postgres -->               an empty database, which the page calls postgres://errand@db.internal/errand
#     <!-- run: end -->                    ends what is in the background, but not the server
#     <!-- run: stop -->                   ends the server, too
#
# and about the next block alone:
#
#     <!-- run: file NAME -->              it is that file
#     <!-- run: background -->             it goes on while the page does; a server is waited for until it is ready
#     <!-- run: fails N -->                its exit status
#     <!-- run: lines -->                  each line is a JSON value of its own
#     <!-- run: tools -->                  each line is a call of an agent: TOOL ARGUMENTS → what comes of it
#     <!-- run: syntax REASON -->          only its grammar is looked at, and why
#     <!-- run: shown REASON -->           it is no command but something to look at, and what
#     <!-- run: not REASON -->             it cannot be run here, and why
#
# SPDX-License-Identifier: MIT
"""Blocks of Markdown and the marks above them."""
import re

STEPS = ("server", "sh", "llm", "postgres", "end", "stop")
MARKS = ("file", "background", "fails", "lines", "tools", "syntax", "shown", "not")
REASONED = ("syntax", "shown", "not")
MARK = re.compile(r"^<!-- run: (\w+)(?: (.*?))? -->$")
FENCE = re.compile(r"^```(\w*)$")


class Trouble(AssertionError):
    """Something that a page says is not so; begins with the page and its line."""


class Block:
    """One fenced block."""

    def __init__(self, page, line, language, marks):
        self.page, self.line, self.language, self.marks, self.lines = page, line, language, dict(marks), []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    def reason(self):
        """Why it is not run: (mark, reason), or None."""
        return next(((mark, self.marks[mark]) for mark in ("not", "shown") if mark in self.marks), None)


class Step:
    """A mark that stands for itself."""

    def __init__(self, page, line, verb, rest):
        self.page, self.line, self.verb, self.rest = page, line, verb, rest

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def read(page, text):
    """The steps and blocks of a page, in order."""
    items, marks, block, before = [], [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line == "```":
                items.append(block)
                block = None
            else:
                block.lines.append(line)
        elif found := FENCE.match(line):
            block, marks = Block(page, number, found.group(1), marks), []
        elif found := MARK.match(line):
            verb, rest = found.groups()
            if verb in STEPS:
                items.append(Step(page, number, verb, rest or ""))
            elif verb not in MARKS or (verb in REASONED and not rest):
                raise Trouble(f"{page}:{number}: not a mark: {line}")
            else:
                marks.append((verb, rest or ""))
        elif line.startswith("    ") and not before.strip():
            raise Trouble(f"{page}:{number}: a block without a fence: put ```sh, console, ini, json or text around it")
        elif line.startswith("```") or "<!-- run" in line or (marks and line.strip()):
            raise Trouble(f"{page}:{number}: a fence or a mark that nobody understands: {line}")
        before = line
    if block is not None or marks:
        raise Trouble(f"{page}: ends inside a block, or with a mark that belongs to none")
    return items


# ---- What a page shows beside what came ----

SAME = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}(-[0-9a-f]{1,4}(-[0-9a-f]{1,12})?)?\b"), "ID"),
    (re.compile(r"\berrand_[A-Za-z0-9_-]{20,}"), "TOKEN"),
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?"), "TIME"),
    (re.compile(r"\b\d\d:\d\d(:\d\d(\.\d+)?)?\b"), "TIME"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} [A-Z][a-z]+( \d{4})?"), "DAY"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|µs|s|min|m|h|d)\b"), "SOME-TIME"),
    (re.compile(r"[ \t]+"), " "),
)


def plain(line):
    """Without what differs from run to run: ids, times, tokens, the width of columns."""
    for pattern, word in SAME:
        line = pattern.sub(word, line)
    return line.strip()


def fits(shown, came):
    """Is `came` what a page shows?"""
    return differs(shown, came) is None


def differs(shown, came):
    """The first line that is not as the page shows it, or None. `…` stands for anything within a line, alone for any lines."""
    lines = [plain(line) for line in came.splitlines() if line.strip()]
    wanted = [plain(line) for line in shown if line.strip()]
    at = 0
    while wanted:
        if wanted[0] == "…":
            wanted.pop(0)
            if not wanted:
                return None
            while at < len(lines) and not line_fits(wanted[0], lines[at]):
                at += 1
        if at == len(lines) or not line_fits(wanted[0], lines[at]):
            return f"{lines[at] if at < len(lines) else 'nothing'!r} where {wanted[0]!r} is shown"
        wanted.pop(0)
        at += 1
    return None if at == len(lines) else f"{lines[at]!r} besides"


def line_fits(wanted, line):
    return re.fullmatch(".*".join(map(re.escape, wanted.split("…"))), line) is not None
