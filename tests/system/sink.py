# tests/system/sink.py: an HTTP server that keeps what it is sent: a phone's topic, a webhook.
#
#     sink = Sink(nest)                    # gone with the test
#     sink.answers = [(503, {"Retry-After": "7"})]   # then 200 again
#     sink.wait(1)[0]["headers"]["Title"]
#
# SPDX-License-Identifier: MIT
"""Where deliveries to MOBILE end in tests."""
import http.server
import threading

from errand import wait_for


class Handler(http.server.BaseHTTPRequestHandler):
    """Notes every POST and answers as it was told."""

    def do_POST(self):
        sink = self.server.sink
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sink.came.append({"path": self.path, "headers": dict(self.headers), "body": body.decode()})
        status, headers = sink.answers.pop(0) if sink.answers else (200, {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Sink:
    """One such server on a free port of this machine."""

    def __init__(self, nest):
        self.came, self.answers = [], []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.sink = self
        self.url = f"http://127.0.0.1:{self.server.server_port}/topic"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        nest.closing.append(self)

    def wait(self, count):
        wait_for(lambda: len(self.came) >= count, f"{count} posts")
        return self.came

    def close(self):
        self.server.shutdown()
        self.server.server_close()
