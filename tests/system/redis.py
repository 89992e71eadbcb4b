# tests/system/redis.py: a real Redis of the test's own, on a free port of this machine.
#
#     redis = Redis(s.nest)                    # gone with the test
#     s = s.nest.server("--broker", redis.url)
#     redis.ask("GET", "errand:leader")        # None, a text, a number or a list
#     redis.freeze(); redis.thaw()             # SIGSTOP and SIGCONT
#     redis.flush(); redis.stop(); redis.start()
#
# It keeps nothing on disk. A port is taken by the server itself, so a lost race for one is tried again.
#
# SPDX-License-Identifier: MIT
"""A Redis for system tests."""
import ctypes
import os
import signal
import socket
import subprocess

from ports import free_port

ATTEMPTS = 20
PATIENCE = 30  # seconds for one answer
PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class RedisError(Exception):
    """What Redis refused."""


class Redis:
    """One redis-server. It ends with stop(), with its test, or with this process."""

    def __init__(self, nest, password=None, cluster=False):
        self.port, self.password, self.process, self.more = None, password, None, []
        if cluster:  # of one node, which holds all slots
            self.more = ["--cluster-enabled", "yes", "--cluster-config-file", nest.file("nodes.conf", ""),
                         "--cluster-port", str(free_port())]
        self.start()
        if cluster:
            self.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        nest.closing.append(self)

    @property
    def url(self):
        login = f":{self.password}@" if self.password else ""
        return f"redis://{login}127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        """On the port that it had, if it had one."""
        fixed = self.port is not None
        for _ in range(ATTEMPTS):
            self.port = self.port if fixed else free_port()
            if self.try_start():
                return
        raise AssertionError("redis-server did not start")

    def try_start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--daemonize", "no", "--logfile", "", "--requirepass", self.password or "", *self.more],
            cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        ready = any(b"Ready to accept connections" in line for line in self.process.stdout)
        self.process.stdout.close()
        if not ready:
            self.process.wait()
        return ready

    def stop(self):
        """Ends it at once, whatever it is doing."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    close = stop

    def freeze(self):
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self):
        os.kill(self.pid, signal.SIGCONT)

    def flush(self):
        self.ask("FLUSHALL")

    def ask(self, *words):
        """One command on a connection of its own."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            with connection.makefile("rwb") as stream:
                if self.password:
                    exchange(stream, ("AUTH", self.password))
                return exchange(stream, words)


# ---- RESP2 ----


def exchange(stream, words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    stream.write(b"*%d\r\n" % len(parts))
    for part in parts:
        stream.write(b"$%d\r\n%s\r\n" % (len(part), part))
    stream.flush()
    return read(stream)


def read(stream):
    line = stream.readline()
    kind, rest = line[:1], line[1:-2].decode()
    if kind == b"-":
        raise RedisError(rest)
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == "-1" else stream.read(int(rest) + 2)[:-2].decode()
    if kind == b"*":
        return None if rest == "-1" else [read(stream) for _ in range(int(rest))]
    if kind != b"+":
        raise RedisError("it closed the connection")
    return rest
