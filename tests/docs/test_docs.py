# tests/docs/test_docs.py: what README and the pages of docs/ show is what happens.
#
# Each page is followed from its beginning by a reader with an empty folder (reader.py). A page that has become untrue is a bug.
#
#     tests/docs/test_docs.py docs_guide     one page
#
# SPDX-License-Identifier: MIT
"""The pages are followed."""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "system")]

import markdown  # noqa: E402
from errand import check, main, same, test  # noqa: E402
from reader import ROOT, Reader  # noqa: E402

PAGES = ["README.md", *sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs", "*.md"))),
         "clients/python/README.md", "clients/node/README.md", "examples/README.md"]


def text_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def blocks(page):
    return [item for item in markdown.read(page, text_of(page)) if isinstance(item, markdown.Block)]


def follow(nest, page, text):
    reader = Reader(nest)
    try:
        reader.follow(markdown.read(page, text))
    finally:
        reader.close()


# ---- The reader itself ----


def complains(nest, text, about):
    try:
        follow(nest, "page.md", text)
    except AssertionError as trouble:
        check(about in str(trouble), f"it says {trouble}, not {about}")
        return
    raise AssertionError(f"nobody complained about {text}")


@test(server=False)
def a_page_that_is_not_true_is_found(nest):
    for at, (text, about) in enumerate((
            ("```sh\nfalse\n```", "page.md:1: "),
            ("\n```console\n$ echo one\ntwo\n```", "page.md:2: echo one"),
            ("```console\n$ errand --version\nerrand 1.2.3 of yesterday\n```", "and the page shows"),
            ("```ini\n[push]\nper_hots = 1\n```", "per_hots is not a setting"),
            ("```json\n{\"a\":}\n```", "page.md:1: "),
            ("```python\nimport nowhere\n```", "nowhere"),
            ("```c\nint main(void) { return 1 }\n```", "error:"),
            ("<!-- run: syntax no gem -->\n```ruby\ndef x(\n```", "page.md:2"),
            ("```sql\nselect\n```", "nobody knows how to run sql"),
            ("<!-- run: not -->\n```sh\nreboot\n```", "not a mark"),
            ("text\n\n    errand push x\n", "without a fence"),
            ("<!-- run: wait 5 -->\n```sh\ntrue\n```", "not a mark"))):
        room = type(nest)()
        try:
            complains(room, text, about)
        finally:
            room.close()
        check(at >= 0)


@test(server=False)
def what_differs_from_run_to_run_does_not_count(_):
    fits = markdown.fits
    check(fits(["task 019a8c1e-6d2f-7000-9b1f-3f0f6c1d2e4a: done in 12ms"], "task 019b0000-0000-7000-8000-000000000000:  done in 3.5 s\n"))
    check(fits(["a … z", "…", "end"], "a b c z\n1\n2\nend\n"))
    check(not fits(["a"], "a\nb"))
    check(not fits(["COMPLETED"], "FAILED"))
    check(not fits(["one", "…"], "two\none"))


# ---- The pages ----


@test(server=False)
def nothing_is_left_out_silently(_):
    run = 0
    for page in PAGES:
        for block in blocks(page):
            reason = block.reason() or (("syntax", block.marks["syntax"]) if "syntax" in block.marks else None)
            run += reason is None
            if reason is not None and reason[0] != "shown":
                print(f"# {block.place} {block.language} {'is not run' if reason[0] == 'not' else 'is only parsed'}: {reason[1]}")
    print(f"# {run} of {sum(len(blocks(page)) for page in PAGES)} blocks are run or read")
    check(run > 0)


def links(page):
    """Where a page leads to: (path from the top of the tree, heading or "")."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?ms)^```.*?^```$", "", text_of(page))):
        path, _, heading = target.partition("#")
        if "://" not in target:
            yield os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, heading


def headings(page):
    """As the pages' reader names them in links."""
    found = re.findall(r"(?m)^#+ (.*)$", text_of(page))
    return [re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in found]


@test(server=False)
def links_lead_somewhere(_):
    for page in PAGES:
        for path, heading in links(page):
            check(os.path.exists(os.path.join(ROOT, path)), f"{page} leads to {path}, which is not there")
            check(not heading or heading in headings(path), f"{page} leads to {path}#{heading}, which has no such heading")


@test(server=False)
def each_page_is_in_the_index_and_says_what_is_next(_):
    pages = [page for page in PAGES if page.startswith("docs/")]
    known = {path for path, _ in links("docs/README.md")}
    same(sorted(set(pages) - known - {"docs/README.md"}), [], "what the index leaves out")
    for page in pages:
        last = text_of(page).rstrip().splitlines()[-1]
        check(re.fullmatch(r"Next: (\[[^\]]+\]\([^)]+\)(, |\.))+", last), f"{page} ends with {last!r}, not with \"Next: [title](page.md).\"")


def make(page):
    def claim(nest):
        follow(nest, page, text_of(page))
    claim.__name__ = re.sub(r"[/-]", "_", page.removesuffix(".md"))
    return claim


for each in PAGES:
    if "```" in text_of(each):
        test(server=False)(make(each))

main()
