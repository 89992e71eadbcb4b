#!/usr/bin/env python3
# tools/embed_web.py: puts the dashboard into a C header: each file of web/ plain and packed, under a name
# that holds a hash of its bytes.
#
# A module names the modules it imports and a page names what it loads; those names are replaced first, so that a
# file's hash covers everything it leads to and a browser may keep it for ever. Files are flat there: two of the
# same name, and modules that import each other in a circle, are refused.
#
# SPDX-License-Identifier: MIT
"""embed_web.py OUTPUT FILE…: one of the files is index.html, the page itself."""
import gzip
import hashlib
import os
import re
import sys

PER_LINE = 24
HASH_DIGITS = 12
PAGE = "index.html"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8"}
IMPORT = re.compile(r"((?:from|import)\s*')(\./|(?:\.\./)+)([\w/-]+\.js)(')")
LINK = re.compile(r'((?:href|src)=")([\w/-]+\.(?:js|css|svg))(")')
MODULES = "<!-- modules -->"


class Site:
    """The files by their names, and the names they are served under."""

    def __init__(self, paths):
        self.paths = {}
        self.served, self.bytes = {}, {}
        for path in paths:
            name = os.path.basename(path)
            if name in self.paths:
                raise SystemExit(f"{path}: {self.paths[name]} has the same name")
            self.paths[name] = path

    def place(self, name, on_the_way=()):
        """The name it is served under; what it leads to is placed first."""
        if name in on_the_way:
            raise SystemExit("modules import each other in a circle: " + " ".join(on_the_way))
        if name not in self.paths:
            raise SystemExit(f"{on_the_way[-1]} names {name}, which is not there")
        if name not in self.served:
            with open(self.paths[name], encoding="utf-8") as handle:
                text = handle.read()
            way = (*on_the_way, name)
            text = IMPORT.sub(lambda m: m[1] + "./" + self.place(os.path.basename(m[3]), way) + m[4], text)
            text = LINK.sub(lambda m: m[1] + "/assets/" + self.place(os.path.basename(m[2]), way) + m[3], text)
            if MODULES in text:  # fetched side by side instead of one after the other
                text = text.replace(MODULES, "".join(
                    f'<link rel="modulepreload" href="/assets/{self.place(other, way)}">\n'
                    for other in sorted(self.paths) if other.endswith(".js")).rstrip())
            self.bytes[name] = text.encode()
            stem, ext = os.path.splitext(name)
            self.served[name] = f"{stem}.{self.hash(name)}{ext}"
        return self.served[name]

    def hash(self, name):
        return hashlib.sha256(self.bytes[name]).hexdigest()[:HASH_DIGITS]


def array(out, name, data):
    out.write(f"static const unsigned char {name}[] = {{\n")
    for at in range(0, len(data), PER_LINE):
        out.write(",".join(map(str, data[at:at + PER_LINE])) + ",\n")
    out.write("};\n")


def main(target, *paths):
    site = Site(paths)
    site.place(PAGE)
    names = [PAGE] + sorted(name for name in site.paths if name != PAGE and site.place(name))
    with open(target, "w", encoding="ascii") as out:
        for at, name in enumerate(names):
            array(out, f"asset_{at}", site.bytes[name])
            array(out, f"asset_{at}_packed", gzip.compress(site.bytes[name], 9, mtime=0))
        out.write("static const struct asset assets[] = { /* the first is the page */\n")
        for at, name in enumerate(names):
            out.write(f'    {{STR_INIT("{site.served[name]}"), "{TYPES[os.path.splitext(name)[1]]}", "{site.hash(name)}",\n'
                      f"     ASSET_BYTES(asset_{at}), ASSET_BYTES(asset_{at}_packed)}},\n")
        out.write("};\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
