# tests/system/test_cells.py: two fleets behind one router, as examples/cells/ has them.
#
# SPDX-License-Identifier: MIT
"""Independent cells behind nginx."""
import json
import os
import shutil
import subprocess

from errand import check, main, same, test, wait_for
from fleet import WAIT_MS, Fleet
from ports import free_port
from redis import Redis, die_with_parent

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "cells")
MAIL, REPORTS = "mail.errand.internal", "reports.errand.internal"
MAIN = """daemon off; pid {folder}/pid; error_log {folder}/error.log warn; worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/cells.conf;
}}
"""


def nginx():
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")
    check(found, "nginx is missing: script/packages names it")
    return found


class Router:
    """nginx with the example's configuration, at the addresses of this test."""

    def __init__(self, nest, addresses):
        self.port, folder = free_port(), os.path.join(nest.root, "nginx")
        os.mkdir(folder)
        with open(os.path.join(EXAMPLES, "cells.conf"), encoding="utf-8") as file:
            text = file.read()
        for was, now in {"listen 8080": f"listen 127.0.0.1:{self.port}", **addresses}.items():
            check(was in text, f"the example has no {was}")
            text = text.replace(was, now)
        for name, content in (("cells.conf", text), ("nginx.conf", MAIN.format(folder=folder))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        command = [nginx(), "-p", folder, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]
        subprocess.run([*command, "-t"], check=True, capture_output=True)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        nest.closing.append(self)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def call(self, method, path, body=None, host="errand.internal", cell=None, expect=200):
        headers = ["-H", f"Host: {host}", *(["-H", f"X-Errand-Cell: {cell}"] if cell else [])]
        data = ["-H", "Content-Type: application/json", "-d", json.dumps(body)] if body is not None else []
        ran = subprocess.run(["curl", "-sS", "-X", method, "-w", "\n%{http_code}", *headers, *data,
                              f"http://127.0.0.1:{self.port}{path}"], capture_output=True, text=True, check=True, timeout=90)
        text, _, status = ran.stdout.rpartition("\n")
        same(int(status), expect, f"{method} {path}: {text}")
        return json.loads(text) if text.strip() else None


def cell(nest, redis, name, nodes):
    """A fleet with a database and a prefix of its own, on a Redis that cells share."""
    env = {"ERRAND_REDIS_PREFIX": f"errand-{name}:", "ERRAND_HTTP_HOSTS": f"{name}.errand.internal, errand.internal"}
    return Fleet(nest, nodes=nodes, brokers=[redis], env=env)


@test(server=False)
def cells_behind_one_router_share_nothing_and_fail_alone(nest):
    redis = Redis(nest)
    mail, reports = cell(nest, redis, "mail", 2), cell(nest, redis, "reports", 1)
    mail.wait_together()
    reports.wait_together()
    router = Router(nest, {"10.0.1.11:8001": f"127.0.0.1:{mail.node(0).port}", "10.0.1.12:8001": f"127.0.0.1:{mail.node(1).port}",
                           "10.0.2.11:8001": f"127.0.0.1:{reports.node(0).port}"})
    wait_for(lambda: subprocess.run(["curl", "-s", f"http://127.0.0.1:{router.port}/"], capture_output=True, check=False).returncode == 0,
             "the router")

    # By host, and by header; the same idempotency key and document in both.
    order = {"taskType": "letter", "idempotencyKey": "k", "documentId": "d"}
    letter = router.call("POST", "/api/tasks", order, host=MAIL, expect=201)
    report = router.call("POST", "/api/tasks", order, cell="reports", expect=201)
    check(letter["id"] != report["id"], "two cells, two tasks")
    same([task["id"] for task in router.call("GET", "/api/tasks", host=MAIL)], [letter["id"]])
    router.call("GET", f"/api/tasks/{letter['id']}", host=REPORTS, expect=404)
    for wrong in ({"host": "errand.internal"}, {"cell": "nosuch"}):
        same(router.call("GET", "/api/tasks", expect=404, **wrong)["error"]["code"], "not_found")

    # A claim that waits at the router gets what is created through it; both cells' documents are held at once.
    claims = [router.call("POST", "/api/claim", {"workerId": "w", "waitMs": WAIT_MS}, host=host)["tasks"] for host in (MAIL, REPORTS)]
    same([[task["id"] for task in claim] for claim in claims], [[letter["id"]], [report["id"]]])
    for host, (task,) in zip((MAIL, REPORTS), claims):
        router.call("POST", f"/api/tasks/{task['id']}/complete", {"lease": task["lease"]}, host=host)

    # A node of a cell dies: the other serves. Its database goes: the other cell does not notice.
    mail.kill(0)
    for _ in range(4):
        router.call("GET", "/api/stats", host=MAIL)
    mail.postgres.sql(f"ALTER DATABASE {mail.database} ALLOW_CONNECTIONS false")
    mail.postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{mail.database}'")
    router.call("POST", "/api/tasks", {"taskType": "t"}, host=MAIL, expect=503)
    again = router.call("POST", "/api/tasks", {"taskType": "t"}, host=REPORTS, expect=201)
    same(router.call("GET", f"/api/tasks/{again['id']}", host=REPORTS)["state"], "QUEUED")
    same({key.split(":")[0] for key in redis.ask("KEYS", "errand*")}, {"errand-mail", "errand-reports"})


main()
