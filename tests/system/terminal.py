# tests/system/terminal.py: a command on a terminal, and what a person would see there.
#
#     with Terminal(["watch"], port=s.port) as terminal:
#         terminal.until(lambda text: "RUNNING 1" in text)
#
# Knows the few control sequences that errand writes. A letter beyond the last column, which a real terminal would wrap, is
# a failure: what is drawn over would leave its tail behind.
#
# SPDX-License-Identifier: MIT
"""A small terminal."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from errand import DEADLINE, binary, check

SEQUENCE = re.compile(r"\x1b\[(\??\d*)([A-Za-z])")


class Terminal:
    """Runs `errand ARGUMENTS` on a terminal of that size."""

    def __init__(self, arguments, port, columns=80, rows=24):
        self.columns, self.row, self.column, self.wrapped = columns, 0, 0, False
        self.lines = [[] for _ in range(rows)]
        self.pending, self.is_open = "", True
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen([binary(), *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                                        env=dict(os.environ, ERRAND_URL=f"http://127.0.0.1:{port}"))
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        os.close(self.ours)

    @property
    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip()

    def until(self, wanted, what="that on the screen"):
        """Reads on until wanted(text) holds; returns the text."""
        end = time.monotonic() + DEADLINE
        while not wanted(self.text):
            check(time.monotonic() < end and self.is_open, f"{what} did not come; the screen has:\n{self.text}")
            self.read()
        check(not self.wrapped, f"a line is wider than the terminal:\n{self.text}")
        return self.text

    def end(self):
        """Reads until the command has ended; returns its status."""
        self.until(lambda _: not self.is_open, "the end")
        return self.process.wait()

    def read(self):
        if not select.select([self.ours], [], [], 0.1)[0]:
            return
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            data = b""
        self.is_open = bool(data)
        self.write(data.decode(errors="replace"))

    def write(self, data):
        data, at = self.pending + data, 0
        self.pending = ""
        while at < len(data):
            found = SEQUENCE.match(data, at)
            if found:
                self.obey(found.group(1), found.group(2))
                at = found.end()
            elif data[at] == "\x1b":
                self.pending = data[at:]  # the rest of it is on its way
                return
            else:
                self.put(data[at])
                at += 1

    def obey(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "H":
            self.row = self.column = 0
        elif letter in "KJ":
            del self.lines[self.row][self.column:]
            for row in range(self.row + 1, len(self.lines) if letter == "J" else 0):
                self.lines[row] = []

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n" and self.row + 1 < len(self.lines):
            self.row += 1
        elif character == "\n":
            self.lines = self.lines[1:] + [[]]
        else:
            self.wrapped = self.wrapped or self.column >= self.columns
            line = self.lines[self.row]
            line += [" "] * (self.column + 1 - len(line))
            line[self.column] = character
            self.column += 1
