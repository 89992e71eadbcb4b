# tests/system/standins.py: the servers of others, played by the programs of tests/standin.
#
#     llm = Llm(s.nest)                        # gone with the test
#     llm.answer({"text": "Hello"}, {"status": 429, "headers": {"Retry-After": "1"}})
#     s = s.nest.server(env={"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small"})
#     llm.requests(1)[0]["body"]["messages"]   # waits until one has come
#
#     smtp = Smtp(s.nest)                      # or "--starttls", "--user", "ann", …
#     smtp.refuse("451 4.7.1 later", at="RCPT")
#     smtp.mails(1)[0]["headers"]["Subject"]
#
# What entries may say stands at the beginning of each program.
#
# SPDX-License-Identifier: MIT
"""Stand-ins of a language model and of a mail server."""
import json
import os
import subprocess
import sys
import urllib.request

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "standin")
PATIENCE = 90  # seconds for one answer of the control port, which itself waits for what comes


class Standin:
    """One program of tests/standin. It ends with stop(), with its test, or with this process."""

    program = None

    def __init__(self, nest, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(FOLDER, self.program), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        words = line.split()
        if "ready" not in words:
            raise AssertionError(f"{self.program} is not ready but says {line!r}")
        names = dict(zip(words[2::2], words[3::2]))
        self.url, self.ca = names["on"], names.get("ca")
        self.control_url = names.get("control", self.url.removesuffix("/v1"))
        nest.closing.append(self)

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.control_url + "/control" + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def script(self, *entries):
        """What is done with the next that come: the first entry that fits."""
        self.call("POST", "/script", list(entries))

    def book(self, count=0):
        """All that came so far, once there are at least `count`."""
        came = self.call("GET", f"/book?count={count}")
        if len(came) < count:
            raise AssertionError(f"{self.program} has seen {len(came)}, not {count}")
        return came

    def release(self):
        self.call("POST", "/release", {})

    def clear(self):
        """An empty script, an empty book; what is held goes on."""
        self.call("DELETE", "")

    def stop(self):
        """Ends it: from now on nobody is there."""
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(PATIENCE)
            self.process.stdout.close()

    close = stop


class Llm(Standin):
    """A language model: set [llm] base_url to its `url`."""

    program = "llm.py"

    def answer(self, *entries):
        self.script(*entries)

    def requests(self, count=0):
        """Each with "path", "headers" and "body"."""
        return self.book(count)


class Smtp(Standin):
    """A mail server: set [smtp] url to its `url`; `ca` is the certificate to trust."""

    program = "smtp.py"

    def refuse(self, reply, at="DATA", to="", times=1):
        self.script({"reply": reply, "at": at, "to": to, "times": times})

    def mails(self, count=0):
        """Each with "from", "to", "headers", "parts", "defects", "tls", "user", "raw"."""
        return [entry for entry in self.book(count) if "held" not in entry]
