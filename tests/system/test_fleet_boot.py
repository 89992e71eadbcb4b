# tests/system/test_fleet_boot.py: a server that boots before its database.
#
# SPDX-License-Identifier: MIT
"""Waiting for a database."""
import http.client
import json
import os
import re
import signal
import socket
import threading

from errand import check, main, same, test, wait_for
from fleet import Database
from ports import free_port

STARTING_UP = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"


class Manager:
    """What systemd would hear."""

    def __init__(self, nest):
        self.path = os.path.join(nest.root, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(60)
        nest.closing.append(self)

    def hear(self, word):
        """Everything up to the first message with that word."""
        heard = [self.socket.recv(4096).decode()]
        while word not in heard[-1]:
            heard.append(self.socket.recv(4096).decode())
        return heard

    def close(self):
        self.socket.close()


def database(nest):
    server = Database().__enter__()
    nest.closing.append(server)
    return server


def waiting(s):
    """The port of the door, once it waits."""
    wait_for(lambda: "waiting for the database" in s.stderr(), "a server that waits")
    return int(re.search(r"answers meanwhile on port (\d+)", s.stderr()).group(1))


def ask(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body, answer.headers


def stop(s):
    s.expected_to_die = True
    s.process.send_signal(signal.SIGTERM)
    same(s.wait(10), 0)


@test(server=False)
def a_server_that_boots_before_its_database_waits_says_so_and_serves_when_it_is_there(nest):
    postgres, manager = database(nest), Manager(nest)
    url = postgres.url("postgres")
    postgres.stop()
    s = nest.server(args=["--store", url], env={"NOTIFY_SOCKET": manager.path}, wait=False)
    port = waiting(s)
    status, body, _ = ask(port, "/healthz")
    same((status, body["status"], body["degraded"]), (200, "degraded", ["store"]))
    status, body, headers = ask(port, "/readyz")
    same((status, body["status"], headers["Retry-After"]), (503, "degraded", "1"))
    status, body, headers = ask(port, "/api/tasks")
    same((status, body["error"]["code"], headers["Retry-After"]), (503, "unavailable", "1"))
    heard = manager.hear("STATUS=waiting for the database: open the store: connect to PostgreSQL")
    check("EXTEND_TIMEOUT_USEC=" in heard[-1], heard)
    postgres.start()
    line = s.process.stdout.readline().decode()
    s.port = int(re.match(r"^errand: ready on http://127.0.0.1:(\d+)\n$", line).group(1))
    check(not any("READY=1" in said for said in manager.hear("READY=1")[:-1]), "ready once, at the end")
    s.create()
    same(s.get("/healthz")["status"], "ok")


@test(server=False)
def whoever_waits_ends_at_once_when_told_to_stop_also_while_it_connects(nest):
    postgres = database(nest)
    url = postgres.url("postgres", host="127.0.0.1", port=postgres.port)
    postgres.freeze()  # connections are taken and never answered
    s = nest.server(args=["--store", url], wait=False)
    wait_for(lambda: "errand" in open(f"/proc/{s.process.pid}/comm", encoding="ascii").read() and
             len(os.listdir(f"/proc/{s.process.pid}/fd")) > 5, "a server that connects")
    wait_for(lambda: connects_to(s.process.pid, postgres.port), "a connection")
    stop(s)
    postgres.thaw()
    postgres.stop()
    s = nest.server(args=["--store", url], wait=False)
    waiting(s)
    stop(s)


def connects_to(pid, port):
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as table:
        return any(line.split()[2].endswith(f":{port:04X}") for line in list(table)[1:])


def starting_up(listener):
    """A server that takes connections and is not ready yet."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            if connection.recv(4096)[4:8] == b"\x04\xd2\x16\x2f":  # may we speak TLS?
                connection.sendall(b"N")
                connection.recv(4096)
            connection.sendall(b"E" + (len(STARTING_UP) + 4).to_bytes(4, "big") + STARTING_UP)


@test(server=False)
def a_database_that_is_starting_up_is_waited_for(nest):
    listener = socket.create_server(("127.0.0.1", free_port()))
    threading.Thread(target=starting_up, args=(listener,), daemon=True).start()
    s = nest.server(args=["--store", f"postgres://postgres@127.0.0.1:{listener.getsockname()[1]}/x"], wait=False)
    waiting(s)
    check("the database system is starting up" in s.stderr(), s.stderr())
    stop(s)
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@test(server=False)
def what_a_person_must_mend_ends_the_start(nest):
    postgres = database(nest)
    postgres.sql("CREATE ROLE locked LOGIN PASSWORD 'sesame'")
    path = os.path.join(postgres.data, "pg_hba.conf")
    with open(path, encoding="ascii") as file:
        rules = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write("host all locked 127.0.0.1/32 scram-sha-256\nhost all barred 127.0.0.1/32 reject\n" + rules)
    postgres.sql("SELECT pg_reload_conf()")
    at = f"127.0.0.1:{postgres.port}"
    for url, words in ((f"postgres://locked:wrong@{at}/postgres", "28P01: password authentication failed"),
                       (f"postgres://locked@{at}/postgres", "no password supplied"),
                       (f"postgres://barred@{at}/postgres", "28000: pg_hba.conf rejects"),
                       (f"postgres://postgres@{at}/nosuch", '3D000: database "nosuch" does not exist')):
        said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), "--store", url)
        check(words in said and "waiting" not in said and "wrong" not in said, said)


@test(server=False)
def an_address_that_is_taken_ends_the_start_while_it_waits(nest):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = nest.refuses("--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--data", nest.folder(), "--store",
                            f"postgres://postgres@127.0.0.1:{free_port()}/x")
    check("address already in use" in said, said)


main()
