# tests/standin/control.py: what the stand-ins share: a script to follow, a book of what came, and
# an HTTP port through which a test writes the one and reads the other.
#
#     POST   /control/script   [entry, …]   appended; what an entry says is the stand-in's business
#     DELETE /control                       an empty script, an empty book
#     GET    /control/book                  [what came, in order]
#     GET    /control/book?count=N          the same, once there are at least N
#     POST   /control/release               whatever is held goes on
#
# An entry with "times": n serves n times (default 1; 0: for ever). The first that fits is taken.
#
# SPDX-License-Identifier: MIT
"""Script, book and control port of a stand-in."""
import http.server
import json
import sys
import threading
import urllib.parse

PATIENCE = 60  # seconds until a wait that nobody ends gives up


class Book:
    """The script of a stand-in and the record of what came. Any thread."""

    def __init__(self):
        self.changed = threading.Condition()
        self.script, self.came, self.releases = [], [], 0

    def add_script(self, entries):
        with self.changed:
            self.script += entries

    def clear(self):
        with self.changed:
            self.script, self.came = [], []
            self.releases += 1
            self.changed.notify_all()

    def write(self, entry):
        with self.changed:
            self.came.append(entry)
            self.changed.notify_all()

    def read(self, count=0):
        with self.changed:
            self.changed.wait_for(lambda: len(self.came) >= count, PATIENCE)
            return list(self.came)

    def take(self, fits):
        """The first entry of the script that fits, or None."""
        with self.changed:
            for at, entry in enumerate(self.script):
                if fits(entry):
                    left = entry.get("times", 1)
                    if left == 1:
                        del self.script[at]
                    elif left > 1:
                        self.script[at] = {**entry, "times": left - 1}
                    return entry
        return None

    def release(self):
        with self.changed:
            self.releases += 1
            self.changed.notify_all()

    def hold(self):
        """Until the next release."""
        with self.changed:
            before = self.releases
            self.changed.wait_for(lambda: self.releases != before, PATIENCE)


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves /control; a stand-in that speaks HTTP itself adds its own paths."""

    protocol_version = "HTTP/1.1"
    book = None

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", media="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def control(self):
        """True if it was a call to the control port, which is then answered."""
        url = urllib.parse.urlsplit(self.path)
        if not url.path.startswith("/control"):
            return False
        call, answer = (self.command, url.path), {}
        if call == ("POST", "/control/script"):
            self.book.add_script(json.loads(self.body()))
        elif call == ("POST", "/control/release"):
            self.book.release()
        elif call == ("DELETE", "/control"):
            self.book.clear()
        elif call == ("GET", "/control/book"):
            query = dict(urllib.parse.parse_qsl(url.query))
            answer = self.book.read(int(query.get("count", 0)))
        else:
            self.answer(404)
            return True
        self.answer(200, json.dumps(answer).encode())
        return True

    def do_GET(self):
        if not self.control():
            self.answer(404)

    do_POST = do_DELETE = do_GET


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is part of the play


def serve(handler, book):
    """An HTTP server on a free loopback port, in threads of its own."""
    server = Server(("127.0.0.1", 0), type("Bound", (handler,), {"book": book}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def stay(line):
    """Says that the stand-in is ready and stays until standard input ends: whoever started it left."""
    print(line, flush=True)
    sys.stdin.buffer.read()
