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

from patience import wait_for
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

    def __init__(self, nest, password=None, cluster=False, tls=None, slots=(0, 16383)):
        self.port, self.password, self.process, self.more, self.tls_port = None, password, None, [], None
        if tls:  # a folder of certificates: it speaks TLS beside its plain port
            self.tls_port = free_port()
            self.more = ["--tls-port", str(self.tls_port), "--tls-cert-file", f"{tls}/server.pem", "--tls-key-file",
                         f"{tls}/server.key", "--tls-ca-cert-file", f"{tls}/ca.pem", "--tls-auth-clients", "yes"]
        if cluster:  # of one node, which holds all slots, unless others are named
            self.bus = free_port()
            self.more = ["--cluster-enabled", "yes", "--cluster-config-file", os.path.join(nest.root, f"nodes{self.bus}.conf"),
                         "--cluster-port", str(self.bus), "--cluster-node-timeout", "1000"]
        self.start()
        if cluster and slots:
            self.ask("CLUSTER", "ADDSLOTSRANGE", *slots)
        nest.closing.append(self)

    @property
    def url(self):
        login = f":{self.password}@" if self.password else ""
        return f"rediss://{login}127.0.0.1:{self.tls_port}" if self.tls_port else f"redis://{login}127.0.0.1:{self.port}"

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


class Cluster:
    """Three primaries with a third of the slots each, and a replica of each."""

    def __init__(self, nest):
        self.primaries = [Redis(nest, cluster=True, slots=slots) for slots in ((0, 5460), (5461, 10922), (10923, 16383))]
        self.replicas = [Redis(nest, cluster=True, slots=None) for _ in self.primaries]
        first, *rest = self.primaries + self.replicas
        for server in rest:
            server.ask("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus)
        wait_for(lambda: all(s.ask("CLUSTER", "INFO").count("cluster_known_nodes:6") for s in [first, *rest]), "six to meet")
        for primary, replica in zip(self.primaries, self.replicas):
            replica.ask("CLUSTER", "REPLICATE", primary.ask("CLUSTER", "MYID"))
        wait_for(lambda: all("state=online" in s.ask("INFO", "replication") for s in self.primaries), "the replicas")
        wait_for(lambda: all("cluster_state:ok" in s.ask("CLUSTER", "INFO") for s in [first, *rest]), "a cluster")

    def owner(self, key):
        """The number of the primary that has a key, at first."""
        return min(self.primaries[0].ask("CLUSTER", "KEYSLOT", key) // 5461, 2)

    def await_promotion(self, at):
        wait_for(lambda: self.replicas[at].ask("ROLE")[0] == "master", "a replica to be promoted")


def certificates(nest):
    """A folder with an authority (ca), another (other), and keys with certificates of the first: `server` for this
    machine, `client` for whoever calls."""
    folder = os.path.join(nest.root, "certificates")
    os.mkdir(folder)

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for name in ("ca", "other"):
        openssl(*key, "-x509", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-days", "2")
    for name, of in (("server", "IP:127.0.0.1"), ("client", "DNS:client")):
        openssl(*key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        with open(os.path.join(folder, f"{name}.ext"), "w", encoding="ascii") as handle:
            handle.write(f"subjectAltName={of}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", f"{name}.pem",
                "-days", "2", "-extfile", f"{name}.ext")
    return folder


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
