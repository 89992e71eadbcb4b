# tests/docs/reader.py: somebody who follows a page, block by block, in an empty folder.
#
# `errand` is in the PATH and its headers and libraries where compilers look, as after an installation. The server's address, which
# pages call 127.0.0.1:8001, and folders like /var/lib/errand are each reader's own: other tests run beside it.
#
# SPDX-License-Identifier: MIT
"""Runs what markdown.py has read."""
import json
import os
import re
import signal
import subprocess
import sys

import markdown
from errand import SANITIZER, binary, wait_for
from fleet import shared_postgres
from markdown import Trouble
from ports import free_port
from standins import Llm

PATIENCE = 120  # seconds for a block
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(binary())
NPM = os.path.join(ROOT, "tests", "npm", "node_modules")
PLACES = ("/var/lib/", "/var/backups/", "/etc/errand/", "/run/errand/", "/tmp/")
# How the grammar of a language is looked at without running anything.
GRAMMARS = {"python": [sys.executable, "-m", "py_compile"], "ruby": ["ruby", "-c"], "php": ["php", "-l"], "go": ["gofmt", "-e"],
            "js": ["node", "--check"]}
ENDINGS = {"python": ".py", "ruby": ".rb", "php": ".php", "go": ".go", "js": ".mjs", "c": ".c", "ini": ".conf", "json": ".json"}


class Reader:
    """Follows one page. What was started ends with close()."""

    def __init__(self, nest):
        self.nest, self.folder = nest, os.path.join(nest.root, "page")
        self.ports = {"8001": free_port(), "7419": free_port(), "9000": free_port()}
        self.server, self.background, self.count = None, [], 0
        self.database = "postgres://errand@db.internal/errand"
        os.makedirs(self.folder)
        for place in PLACES:
            os.makedirs(self.folder + place)
        self.settle()
        self.state = nest.file("state", "")
        self.where = nest.file("where", self.folder)

    def settle(self):
        """What an installation leaves on a machine."""
        bin_folder = os.path.join(self.nest.root, "bin")
        os.makedirs(bin_folder)
        os.symlink(binary(), os.path.join(bin_folder, "errand"))
        with open(binary(), "rb") as file:
            sanitized = b"__asan_init" in file.read()
        compiler = self.nest.file("bin/cc", '#!/bin/sh\nexec /usr/bin/cc %s "$@"\n' % ("-fsanitize=address,undefined" if sanitized else ""))
        os.chmod(compiler, 0o755)
        # A person sees that an answer is an error; curl does not mind.
        os.chmod(self.nest.file("bin/curl", '#!/bin/sh\nexec /usr/bin/curl --fail-with-body "$@"\n'), 0o755)
        modules = os.path.join(self.folder, "node_modules")
        os.makedirs(modules)
        for name in os.listdir(NPM):
            os.symlink(os.path.join(NPM, name), os.path.join(modules, name))
        os.symlink(os.path.join(ROOT, "clients", "node"), os.path.join(modules, "errand"))
        for name in ("examples", "include"):  # of a clone
            os.symlink(os.path.join(ROOT, name), os.path.join(self.folder, name))
        library = os.path.join(BUILD, "src", "remote")
        keep = {k: v for k, v in os.environ.items() if k in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LANG", "NODE_EXTRA_CA_CERTS")}
        self.env = {**keep, "PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": self.folder, "LANG": "C.UTF-8",
                    "ERRAND_LISTEN": f"127.0.0.1:{self.ports['8001']}", "ERRAND_URL": f"http://127.0.0.1:{self.ports['8001']}",
                    "PYTHONPATH": os.path.join(ROOT, "clients", "python", "src"), "PYTHONDONTWRITEBYTECODE": "1",
                    "CPATH": os.path.join(ROOT, "include"), "LIBRARY_PATH": library, "LD_LIBRARY_PATH": library}

    # -- as it is here --

    def own(self, text):
        """The page's addresses and folders as this reader's."""
        for port, mine in self.ports.items():
            text = re.sub(rf"\b(localhost|127\.0\.0\.1):{port}\b", f"127.0.0.1:{mine}", text)
            text = re.sub(rf"\blisten\({port}\)", f"listen({mine})", text)
        text = text.replace("postgres://errand@db.internal/errand", self.database)
        text = text.replace("port: 8001", f"port: {self.ports['8001']}")
        return re.sub(rf"(?<![\w.])(?={'|'.join(PLACES)})", self.folder, text)

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.own(text))
        os.chmod(path, 0o755 if text.startswith("#!") else 0o644)
        return path

    # -- running --

    def script(self, text):
        """Variables and the folder live from block to block, as in a terminal."""
        return f'set -a; . {self.state}; cd "$(cat {self.where})"\n{text}\n'

    def run(self, place, text, status=0):
        """Runs a piece of shell to its end; returns all that it said."""
        after = f"status=$?; export -p >{self.state}; pwd >{self.where}; exit $status\n"
        try:
            done = subprocess.run(["sh", "-c", self.script(text) + after], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env=self.env, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"{place}: {text.strip()}\ndoes not end:\n{late.stdout}") from None
        said = done.stdout.decode(errors="replace")
        if done.returncode != status or SANITIZER.search(said):
            raise Trouble(f"{place}: {text.strip()}\nended with {done.returncode}, not {status}:\n{said[-3000:]}")
        return said

    def begin(self, place, text):
        """Starts it and lets it go on. A server is ready when this returns, and is the page's from now on."""
        serves = "errand serve" in text
        if serves and self.server is not None:
            self.stop(self.server)
        self.count += 1
        log = open(os.path.join(self.nest.root, f"log{self.count}"), "w+b")
        process = subprocess.Popen(["sh", "-c", self.script(text)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env,
                                   start_new_session=True)
        process.log, process.place, process.gently = log, place, "errand " in text
        self.background.append(process)
        if serves:
            self.server = process
            wait_for(lambda: "ready on" in said_by(process) or process.poll() is not None, f"{place}: a server that is ready")
            if process.poll() is not None:
                raise Trouble(f"{place}: {text}\nended with {process.returncode}:\n{said_by(process)}")
        return process

    def stop(self, process):
        self.background.remove(process)
        if self.server is process:
            self.server = None
        if lives(process.pid):
            # Workers of the packages wait for a claim that is under way: how they drain is tested elsewhere.
            os.killpg(process.pid, signal.SIGTERM if process.gently else signal.SIGKILL)
        process.wait(PATIENCE)
        wait_for(lambda: not lives(process.pid), f"{process.place}: its end")  # the shell's, and of what it started
        said = said_by(process)
        process.log.close()
        if SANITIZER.search(said):
            raise Trouble(f"{process.place}: a sanitizer reports:\n{said}")

    def close(self):
        for process in reversed(self.background[:]):
            self.stop(process)

    # -- a page --

    def follow(self, items):
        try:
            for item in items:
                if isinstance(item, markdown.Step):
                    self.step(item)
                elif item.reason() is None:
                    self.block(item)
        except BaseException:
            for process in self.background:
                print("\n".join(f"# {process.place}: {line}" for line in said_by(process).splitlines()[-10:]))
            raise

    def step(self, step):
        if step.verb == "server":
            self.begin(step.place, self.own(f"exec errand serve {step.rest}"))
        elif step.verb == "sh":
            self.run(step.place, self.own(step.rest))
        elif step.verb == "llm":
            llm = Llm(self.nest)
            llm.answer(*json.loads(f"[{step.rest}]"))
            self.env.update({"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small"})
        elif step.verb == "postgres":
            name = f"page{os.getpid()}_{len(self.nest.closing)}"
            shared_postgres().sql(f"CREATE DATABASE {name}")
            self.database = shared_postgres().url(name)
        else:
            for process in [p for p in self.background if p is not self.server or step.verb == "stop"]:
                self.stop(process)

    def block(self, block):
        run = getattr(self, "on_" + block.language, None)
        if "syntax" in block.marks:
            self.look_at(block)
        elif "file" in block.marks:
            self.file(block.marks["file"], block.text)
            if block.language in ("ini", "json"):
                run(block)
        elif run is None:
            raise Trouble(f"{block.place}: nobody knows how to run {block.language or 'a block without a language'}: mark it")
        else:
            run(block)

    def whole(self, block):
        self.count += 1
        return self.file(f".block{self.count}{ENDINGS[block.language]}", block.text)

    def look_at(self, block):
        """Its grammar alone."""
        if block.language not in GRAMMARS:
            raise Trouble(f"{block.place}: nobody here knows the grammar of {block.language}: use \"not\"")
        done = subprocess.run([*GRAMMARS[block.language], self.whole(block)], capture_output=True, text=True, env=self.env, check=False)
        if done.returncode != 0:
            raise Trouble(f"{block.place}: {done.stdout}{done.stderr}")

    def on_sh(self, block):
        if "background" in block.marks:
            self.begin(block.place, self.own(block.text))
        else:
            self.run(block.place, "set -e\n" + self.own(block.text) + "set +e\n", int(block.marks.get("fails", 0)))

    def on_console(self, block):
        """Commands behind `$ `, each with what it is shown to say."""
        every = [(self.own(command), [self.own(line) for line in shown]) for command, shown in commands(block)]
        for command, shown in every:
            if "background" in block.marks and command == every[-1][0]:
                process = self.begin(block.place, command)
                wait_for(lambda: markdown.fits(["…", *shown, "…"], said_by(process)), f"{block.place}: {command}: {shown}")
                continue
            said = self.run(block.place, command, int(block.marks.get("fails", 0)))
            if shown and (other := markdown.differs(shown, self.own(said))):
                raise Trouble(f"{block.place}: {command}\nsays {other}\n{said}\nand the page shows\n" + "\n".join(shown))

    def on_ini(self, block):
        self.run(block.place, f"errand token ls --config {self.whole(block)} --data {self.folder}/none --store sqlite:{self.folder}/none.db")

    def on_json(self, block):
        for text in block.lines if "lines" in block.marks else [block.text]:
            bare = re.sub(r",?\s*…(?=\s*[\]}])", "", text)
            try:
                json.JSONDecoder().raw_decode(bare)
            except ValueError as trouble:
                raise Trouble(f"{block.place}: {trouble}: {text}") from None

    def on_text(self, block):
        if "tools" not in block.marks:
            raise Trouble(f"{block.place}: a text is shown, or has calls of tools: mark it")
        agent = Agent(self.env)
        try:
            for line in block.lines:
                agent.call(block.place, line)
        finally:
            agent.close()

    def on_python(self, block):
        self.program(block, f"{sys.executable} {self.whole(block)}")

    def on_js(self, block):
        self.program(block, f"node {self.whole(block)}")

    def on_ruby(self, block):
        self.program(block, f"ruby {self.whole(block)}")

    def on_c(self, block):
        """A few statements, or a whole program."""
        if "int main" not in block.text:
            head = "#include <errand/client.h>\nint main(void)\n{\n"
            block.lines = (head + block.text + "errand_client_free(client);\nreturn 0;\n}\n").splitlines()
        path = self.whole(block)
        self.run(block.place, f"cc -Wall -Werror -o {path[:-2]} {path} -lerrand")
        self.program(block, path[:-2])

    def program(self, block, command):
        if "background" in block.marks:
            self.begin(block.place, "exec " + command)
        else:
            self.run(block.place, command, int(block.marks.get("fails", 0)))


class Agent:
    """Speaks to `errand mcp`. Where a page leaves out an id or a lease ("…"), it is that of the call before."""

    def __init__(self, env):
        self.process = subprocess.Popen(["errand", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.known = {}

    def call(self, place, line):
        tool, arguments = re.match(r"^(\w+)\s+(\{.*\})(?:\s+→.*)?$", line).groups()
        asked = {key: self.known.get(key, value) if value == "…" else value for key, value in json.loads(arguments).items()}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": asked}}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        result = answer.get("result", {})
        if not result or result.get("isError"):
            raise Trouble(f"{place}: {line}\nis answered {answer}")
        said = result["structuredContent"]
        inner = said.get("task") or {}
        if tool == "team_say":
            return  # its id is that of a message
        found = {"id": inner.get("taskId") or inner.get("id") or said.get("id"), "lease": inner.get("lease") or said.get("lease"), "teamId": said.get("teamId")}
        self.known.update({key: value for key, value in found.items() if value})

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def said_by(process):
    process.log.flush()
    with open(process.log.name, encoding="utf-8", errors="replace") as file:
        return file.read()


def commands(block):
    """The commands of a console: (command, lines that follow it). `> ` goes on with a command."""
    found = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise Trouble(f"{block.place}: a console begins with a command: $ …")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            found[-1][1].append(line)
    return found
