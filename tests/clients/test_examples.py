# tests/clients/test_examples.py: the examples in other languages do what they say.
#
# SPDX-License-Identifier: MIT
"""Each example creates, claims with a heartbeat, completes, fails, and notices a lost lease."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
sys.path[:0] = [os.path.join(HERE, "..", "system")]

from errand import START, check, has, main, same, test, wait_for  # noqa: E402


def built_go(nest):
    program = os.path.join(nest.root, "worker")
    subprocess.run(["go", "build", "-o", program, os.path.join(EXAMPLES, "go", "worker.go")], check=True, env={
        **os.environ, "GOCACHE": os.path.join(nest.root, "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
    return [program]


LANGUAGES = {
    "shell": lambda nest: ["sh", os.path.join(EXAMPLES, "shell", "worker.sh")],
    "ruby": lambda nest: ["ruby", os.path.join(EXAMPLES, "ruby", "worker.rb")],
    "php": lambda nest: ["php", os.path.join(EXAMPLES, "php", "worker.php")],
    "go": built_go,
}


def begin(s, command, *work, lease_ms=60000):
    return subprocess.Popen([*command, "upper", '{"text":"ü"}', *work], stdout=subprocess.PIPE, text=True, env={
        **os.environ, "ERRAND_URL": f"http://127.0.0.1:{s.port}", "LEASE_MS": str(lease_ms)})


def lines(program):
    said = program.communicate(timeout=60)[0]
    same(program.returncode, 0, f"the status behind {said!r}")
    found = re.findall(r"^(\w+) ([0-9a-f-]{36})(?: (\w+))?$", said, re.M)
    return [(word, state) for word, _, state in found], found[0][1]


def example(s, language):
    command = LANGUAGES[language](s.nest)
    said, task = lines(begin(s, command, "cat"))
    same(said, [("created", ""), ("claimed", ""), ("ended", "COMPLETED")])
    has(s.show(task), state="COMPLETED", result={"text": "ü"})
    said, task = lines(begin(s, command, "false"))
    same(said[-1], ("ended", "RETRYING"))
    has(s.show(task)["error"], code="exit")
    s.cancel({"id": task})

    # The work lasts until a file is there; meanwhile its lease is renewed, then it ends without the worker's knowing.
    gate = os.path.join(s.nest.root, "gate-" + language)
    until_gate = f"cat >/dev/null; until [ -e {gate} ]; do read -r _ </dev/null; done; echo 1"
    program = begin(s, command, "sh", "-c", until_gate, lease_ms=1500)
    task = wait_for(lambda: s.list(taskType="upper", state="RUNNING"), "its start")[0]
    first = s.show(task)["leaseExpiresAt"]
    s.advance(10)
    wait_for(lambda: s.show(task)["leaseExpiresAt"] > first, "a renewal")
    s.advance(1600)
    check(s.state(task) != "RUNNING", "the lease is over")
    same(lines(program)[0][-1], ("lost", ""))
    check("result" not in s.show(task), "nothing was changed")


@test(clock=START, args=("--workers", "0"))
def the_example_in_shell(s):
    example(s, "shell")


@test(clock=START, args=("--workers", "0"))
def the_example_in_ruby(s):
    example(s, "ruby")


@test(clock=START, args=("--workers", "0"))
def the_example_in_php(s):
    example(s, "php")


@test(clock=START, args=("--workers", "0"))
def the_example_in_go(s):
    example(s, "go")


main()
