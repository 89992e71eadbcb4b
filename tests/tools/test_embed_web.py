# tests/tools/test_embed_web.py: names hold hashes of everything they lead to, and what cannot be served is an error (tools/embed_web.py).
#
# SPDX-License-Identifier: MIT
"""test_embed_web.py: speaks TAP."""
import os
import re
import subprocess
import sys
import tempfile

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/embed_web.py")
PAGE = '<link href="style.css">\n<!-- modules -->\n<script src="app.js"></script>'
SITE = {"index.html": PAGE, "style.css": "p{}", "app.js": "import { a } from './lib/a.js';", "lib/a.js": "export const a = 1;"}


def embed(site):
    """The names in the header, or what was said instead."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "lib"))
        for name, text in site.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as handle:
                handle.write(text)
        target = os.path.join(folder, "out.h")
        done = subprocess.run([sys.executable, TOOL, target, *(os.path.join(folder, name) for name in site)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr
        with open(target, encoding="ascii") as handle:
            text = handle.read()
    return {name.split(".")[0]: name for name in re.findall(r'STR_INIT\("([^"]+)"\)', text)}


def a_name_holds_a_hash():
    return all(re.fullmatch(r"\w+\.[0-9a-f]{12}\.(js|css|html)", name) for name in embed(SITE).values())


def what_imports_a_changed_module_changes_its_name():
    before, after = embed(SITE), embed({**SITE, "lib/a.js": "export const a = 2;"})
    return all(before[name] != after[name] for name in ("a", "app", "index")) and before["style"] == after["style"]


def the_same_files_have_the_same_names():
    return embed(SITE) == embed(SITE)


def a_module_that_is_not_there_is_an_error():
    return "names b.js, which is not there" in embed({**SITE, "lib/a.js": "import './b.js';"})


def modules_in_a_circle_are_an_error():
    return "in a circle" in embed({**SITE, "lib/a.js": "import { b } from '../app.js';"})


def two_files_of_one_name_are_an_error():
    return "has the same name" in embed({**SITE, "a.js": ""})


TESTS = (a_name_holds_a_hash, what_imports_a_changed_module_changes_its_name, the_same_files_have_the_same_names,
         a_module_that_is_not_there_is_an_error, modules_in_a_circle_are_an_error, two_files_of_one_name_are_an_error)
print(f"1..{len(TESTS)}")
for number, claim in enumerate(TESTS, 1):
    print(f"{'ok' if claim() else 'not ok'} {number} - {claim.__name__}")
