# tests/system/postgres.py: a PostgreSQL of the test's own, and optionally a pooler in front of it.
#
#     with Postgres() as server: ... server.url() ...
#
# As a program it runs another one beside such a server, which is how tests in C get theirs:
#
#     postgres.py PROGRAM [ARGS]      with ERRAND_POSTGRES and ERRAND_PGBOUNCER set
#
# The cluster lies in a temporary folder, keeps nothing beyond a crash of the machine (fsync is off), listens on a free port
# of this machine and on a socket in its folder, and dies with the test, however that ends. PostgreSQL refuses to
# run as root; then it runs as the user `postgres`.
#
# SPDX-License-Identifier: MIT
"""Starts PostgreSQL and PgBouncer for tests."""
import ctypes
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse

from patience import wait_for
from ports import free_port

DEADLINE = 60  # seconds for a server to come up
PR_SET_PDEATHSIG = 1


def die_with(number):
    """For preexec_fn: the child gets this signal when we are gone."""
    return lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def find_tool(name):
    """Debian keeps the server's tools out of the path, one folder for each version."""
    found = shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), None)
    if not found:
        sys.exit(f"postgres.py: {name} is missing: install the package postgresql")
    return found


def wait_until_up(is_up, process, what):
    def looked():
        if process.poll() is not None:
            raise RuntimeError(f"{what} ended at once")
        return is_up()
    wait_for(looked, what, DEADLINE, every=.02)


class Postgres:
    """One cluster with one superuser, `postgres`, who needs no password."""

    def __init__(self, **settings):
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="errand-pg-", dir="/tmp")
        self.data = os.path.join(self.folder, "data")
        self.settings = settings
        self.port = 0
        self.process = self.pooler = None
        self.pooler_port = 0
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.folder, 0o755)

    def __enter__(self):
        try:
            self.create()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop_pooler()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def popen(self, command, **more):
        who = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        return subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, env={"LC_ALL": "C", "TZ": "UTC",
                                "PATH": os.environ.get("PATH", "")}, **who, **more)

    def log(self):
        return open(os.path.join(self.folder, "log"), "ab")

    def create(self):
        with self.log() as log:
            made = self.popen([find_tool("initdb"), "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                               "--no-locale", "--no-sync", "--no-instructions"], stdout=log, stderr=log)
        if made.wait() != 0:
            raise RuntimeError("initdb failed: " + self.tail())

    def start(self):
        self.port = self.port or free_port()
        settings = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB", "max_connections": "100",
                    "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder,
                    "logging_collector": "off", "autovacuum_naptime": "5s", **self.settings}
        command = [find_tool("postgres"), "-D", self.data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self.log() as log:
            self.process = self.popen(command, stdout=log, stderr=log, preexec_fn=die_with(signal.SIGQUIT))
        wait_until_up(self.is_up, self.process, "PostgreSQL")

    def is_up(self):
        """Its own tool knows best: a socket that answers may still be starting up."""
        return subprocess.run([find_tool("pg_isready"), "-q", "-h", self.folder, "-p", str(self.port)],
                              check=False).returncode == 0

    def stop(self, how=signal.SIGINT):
        """SIGINT: at once, but cleanly. SIGQUIT: as if the power failed."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(DEADLINE)
        self.process = None

    def tail(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()[-2000:]

    def url(self, database="postgres", schema=None, host=None, port=None):
        """Over the socket in its folder unless a host is named. A schema must be made by whoever uses it."""
        options = {"host": host or self.folder, "port": port or self.port}
        if schema:
            options["options"] = f"-csearch_path={schema}"
        query = urllib.parse.urlencode(options, quote_via=urllib.parse.quote)
        return f"postgres://postgres@/{database}?{query}"

    def sql(self, text, database="postgres"):
        """Runs a script and returns what it answers, one line a row, columns apart by |."""
        run = subprocess.run([find_tool("psql"), "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", text],
                             check=True, capture_output=True, text=True)
        return run.stdout.strip()

    # ---- A standby ----

    def make_standby(self, standby, port=None):
        """`standby`, a cluster that was not created, becomes a copy of this one that follows it, by streaming from `port`."""
        with self.log() as log:
            made = self.popen([find_tool("pg_basebackup"), "-D", standby.data, "-R", "-c", "fast", "-X", "stream", "--no-sync",
                               "-d", f"host=127.0.0.1 port={port or self.port} user=postgres"], stdout=log, stderr=log)
        if made.wait() != 0:
            raise RuntimeError("pg_basebackup failed: " + self.tail())
        standby.start()

    def promote(self):
        """A standby becomes a server of its own, with what it has."""
        self.sql("SELECT pg_promote(true, 60)")

    # ---- A pooler in transaction mode ----

    def start_pooler(self):
        """PgBouncer, on a port of its own. One that runs is killed, and another takes its port."""
        self.stop_pooler()
        tool = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
        if not tool:
            sys.exit("postgres.py: pgbouncer is missing: install the package pgbouncer")
        self.pooler_port = self.pooler_port or free_port()
        users, config = os.path.join(self.folder, "users"), os.path.join(self.folder, "pgbouncer.ini")
        with open(users, "w", encoding="utf-8") as out:
            out.write('"postgres" ""\n')
        with open(config, "w", encoding="utf-8") as out:
            out.write(f"[databases]\n* = host={self.folder} port={self.port} user=postgres\n"
                      f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.pooler_port}\nunix_socket_dir =\n"
                      f"auth_type = any\nauth_file = {users}\npool_mode = transaction\nmax_client_conn = 200\n"
                      "default_pool_size = 5\nlogfile = /dev/null\n")
        with self.log() as log:
            self.pooler = self.popen([tool, "-q", config], stdout=log, stderr=log, preexec_fn=die_with(signal.SIGKILL))
        wait_until_up(lambda: socket.socket().connect_ex(("127.0.0.1", self.pooler_port)) == 0, self.pooler, "PgBouncer")

    def stop_pooler(self):
        if self.pooler and self.pooler.poll() is None:
            self.pooler.kill()
            self.pooler.wait()
        self.pooler = None

    def pooler_url(self, database="postgres"):
        return self.url(database, host="127.0.0.1", port=self.pooler_port)


def main(command):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Postgres() as server:
        server.start_pooler()
        environment = dict(os.environ, ERRAND_POSTGRES=server.url(), ERRAND_PGBOUNCER=server.pooler_url())
        return subprocess.run(command, env=environment, preexec_fn=die_with(signal.SIGKILL), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
