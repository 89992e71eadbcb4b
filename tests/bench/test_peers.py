#!/usr/bin/env python3
# tests/bench/test_peers.py: bench/peers can be run, though no test does: it needs the network and a quiet machine.
#
# SPDX-License-Identifier: MIT
"""The scripts of bench/peers parse, and name what they install exactly."""
import ast
import json
import os
import re
import subprocess

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "peers")


def text(name):
    with open(os.path.join(PEERS, name), encoding="utf-8") as file:
        return file.read()


def the_scripts_parse():
    ast.parse(text("run"))
    for name in ("client.mjs", "adapters.mjs"):
        subprocess.run(["node", "--check", os.path.join(PEERS, name)], check=True)


def every_adapter_that_is_raced_is_there():
    raced = set(re.findall(r'on_(?:postgres|server)\(\s*"(\w+)"', text("run")))
    listed = re.search(r"export const adapters = \{ (.*) \};", text("adapters.mjs")).group(1)
    assert raced == set(listed.split(", ")), (raced, listed)


def clients_are_locked_and_no_registry_is_named():
    wanted, lock = json.loads(text("package.json"))["dependencies"], json.loads(text("package-lock.json"))["packages"]
    for name, version in wanted.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), (name, version)
        assert lock[f"node_modules/{name}"]["version"] == version, name
    assert all("resolved" not in package for package in lock.values())


def main():
    claims = (the_scripts_parse, every_adapter_that_is_raced_is_there, clients_are_locked_and_no_registry_is_named)
    print(f"1..{len(claims)}")
    for number, claim in enumerate(claims, 1):
        try:
            claim()
            print(f"ok {number} - {claim.__name__}")
        except (AssertionError, KeyError, OSError, SyntaxError, subprocess.CalledProcessError) as error:
            print(f"# {error}\nnot ok {number} - {claim.__name__}")


main()
