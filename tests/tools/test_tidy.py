# tests/tools/test_tidy.py: the rules of the house find what they are for, and spare what is right (tools/tidy.py).
#
# SPDX-License-Identifier: MIT
"""test_tidy.py: speaks TAP."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))

import tidy  # noqa: E402

ONCE = "static void add(int *n)\n{\n    *n += 1;\n}\n\n"
LONG = "static void add(int *n)\n{\n" + "    *n += 1;\n" * (tidy.SPLINTER_LINES + 1) + "}\n\n"
NAMED = "static bool is_odd(int n)\n{\n    return n % 2 == 1;\n}\n\n"
CALL = "void f(int *n)\n{\n    add(n);\n}\n"
TWICE = "void f(int *n)\n{\n    add(n);\n    add(n);\n}\n"
GIVEN = "void f(int *n)\n{\n    each(n, add);\n}\n"
PUBLIC = ONCE.replace("static ", "")

CASES = {  # claim: (rule, {file: text}, ratchet, the complaint must have this; None: there is none)
    "a small static that is called once is a splinter":
        (tidy.statics_are_not_splinters, {"src/base/a.c": ONCE + CALL}, "", "src/base/a.c:2 add()"),
    "one that is called twice is not":
        (tidy.statics_are_not_splinters, {"src/base/a.c": ONCE + TWICE}, "", None),
    "nor one whose address is taken":
        (tidy.statics_are_not_splinters, {"src/base/a.c": ONCE + GIVEN}, "", None),
    "nor one that others may call":
        (tidy.statics_are_not_splinters, {"src/base/a.c": PUBLIC + CALL}, "", None),
    "nor one that has something to say":
        (tidy.statics_are_not_splinters, {"src/base/a.c": LONG + CALL}, "", None),
    "nor a name for an expression":
        (tidy.statics_are_not_splinters, {"src/base/a.c": NAMED + "bool f(int n)\n{\n    return is_odd(n);\n}\n"}, "", None),
    "a comment that names it is no call":
        (tidy.statics_are_not_splinters, {"src/base/a.c": "/* add() adds. */\n" + ONCE + CALL}, "", "add()"),
    "what was there when the rule came is forgiven":
        (tidy.statics_are_not_splinters, {"src/base/a.c": ONCE + CALL}, "1 src/base/\n", None),
    "but not one more":
        (tidy.statics_are_not_splinters, {"src/base/a.c": ONCE + CALL, "src/base/b.c": ONCE + CALL}, "1 src/base/\n", "and was 1"),
    "a document outside the repository is no reference":
        (tidy.references_lead_somewhere, {"src/base/a.c": "/* See SP" + "EC 2. */\n"}, "", "src/base/a.c:1"),
    "nor is its rule":
        (tidy.references_lead_somewhere, {"docs/a.md": "as DES" + "IGN rule 4 says\n"}, "", "docs/a.md:1"),
    "a file that is not there is none":
        (tidy.references_lead_somewhere, {"src/base/a.c": "/*\n * See queue/gone.c. */\n"}, "", "names queue/gone.c"),
    "nor one of this room":
        (tidy.references_lead_somewhere, {"src/base/a.c": "/* gone.h has it. */\n"}, "", "names gone.h"),
    "nor a document":
        (tidy.references_lead_somewhere, {"a.md": "see `docs/gone.md`\n"}, "", "names docs/gone.md"),
    "a link must lead somewhere":
        (tidy.references_lead_somewhere, {"docs/a.md": "[it](design/gone.md#part)\n"}, "", "links to design/gone.md"),
    "what is there may be named":
        (tidy.references_lead_somewhere,
         {"src/base/a.c": "/* b.h, base/b.h, docs/d.md and <sys/gone.h> */\n", "src/base/b.h": "", "docs/d.md": "[a](../src/base/a.c)\n"},
         "", None),
    "code is no comment":
        (tidy.references_lead_somewhere, {"src/base/a.c": "const char *name = \"queue/gone.c\";\n"}, "", None),
    "history keeps the names of its time":
        (tidy.references_lead_somewhere, {"docs/changes/1.md": "moved to queue/gone.c\n"}, "", None),
}


def complaints(rule, tree, ratchet):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**tree, "tools/tidy.ratchet": ratchet}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as handle:
                handle.write(text)
        os.chdir(root)
        found = list(rule(tidy.find_files(root), tidy.Ratchet(root)))
        os.chdir(here)
    return found


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (claim, (rule, tree, ratchet, wanted)) in enumerate(CASES.items(), 1):
        found = complaints(rule, tree, ratchet)
        good = not found if wanted is None else len(found) == 1 and wanted in found[0]
        failed += not good
        print("ok" if good else f"# {found}\nnot ok", f"{number} - {claim}")
    return 1 if failed else 0


sys.exit(main())
