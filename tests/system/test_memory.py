# tests/system/test_memory.py: an allocation that finds no memory, at every place that asks for some.
#
# A first life notes where memory is asked for: in the server, SQLite, libuv, libc. Then the first
# allocation of each place fails in a life of its own. The server may answer with an error and go on, or
# end: by its own decision, never by a null pointer, and never having lied.
#
# SPDX-License-Identifier: MIT
import os
import random
import shutil
import signal

from errand import check, has, main, same, test, together
from shim import Shim

PLACES = int(os.environ.get("ERRAND_MEMORY_PLACES", 12))  # so many of them; 100000 walks all
SEED = int(os.environ.get("ERRAND_SEED", 1))
ENDS = (1, -signal.SIGABRT)  # the store failed, or it cannot start; mem_*() found nothing


def tell(s, kept):
    """A few calls; what is acknowledged is written down. False: one was not answered well."""
    def call(method, path, body, good, note=None):
        answer = s.raw(method, path, body)
        if answer.status == good and note:
            note(answer.json)
        check(answer.status in (good, 500, 503), f"{method} {path}: {answer!r}")
        return answer.json if answer.status == good else None

    made = call("POST", "/api/tasks", {"taskType": "a", "payload": "x" * 5000, "documentId": "d"}, 201,
                lambda task: kept.update({task["id"]: ("QUEUED", "RUNNING", "COMPLETED")}))
    call("GET", "/api/tasks", None, 200)
    claim = call("POST", "/api/claim", {"workerId": "w", "leaseMs": 3600000}, 200)
    for task in (claim or {"tasks": []})["tasks"]:
        call("POST", f"/api/tasks/{task['id']}/complete", {"lease": task["lease"], "result": [1]}, 200,
             lambda done: kept.update({done["id"]: ("COMPLETED",)}))
    if made:
        call("GET", f"/api/tasks/{made['id']}", None, 200)
    call("GET", "/healthz", None, 200)


def life(nest, ready, fail_at=0, sites=None):
    """One life in which an allocation fails; how it ended (None: it was told to stop)."""
    shim = Shim(nest)
    shutil.copytree(ready, shim.data)
    shim.set(alloc_fail_at=fail_at)
    env = {**shim.env(memory=True), **({"ERRAND_SHIM_SITES": sites} if sites else {})}
    s = nest.server(data=shim.data, env=env, wait="maybe")
    kept = {}
    try:
        if s.port:
            tell(s, kept)
    except (OSError, ConnectionError, ValueError):
        pass
    s.expected_to_die = True
    if s.process.poll() is None and s.port:
        s.process.send_signal(signal.SIGTERM)
    status = s.wait()
    said = s.stderr()
    check(status in (0, *ENDS), f"allocation {fail_at}: it ended with {status}: {said[-2000:]}")
    if status == -signal.SIGABRT:
        # Before main() it is the loader that gives up, without a word.
        check("out of memory" in said or not said + str(s.port or ""), f"allocation {fail_at}: aborted, not saying why: {said[-2000:]}")
    plain = {k: v for k, v in s.env.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    if fail_at:
        s.restart(env=plain)
        for ident, states in kept.items():
            check(s.show(ident)["state"] in states, f"allocation {fail_at}: {s.show(ident)}")
        s.doctor()
        s.kill()
    s.examine()
    nest.servers.remove(s)
    shutil.rmtree(shim.data)
    return status


@test(server=False)
def without_memory_it_ends_or_says_so_and_loses_nothing(nest):
    ready = nest.server()
    has(ready.create(), state="QUEUED")
    ready.terminate()
    sites = nest.file("sites", b"")
    same(life(nest, ready.data, sites=sites), 0)
    with open(sites, encoding="utf-8") as handle:
        places = [int(line) for line in handle]
    check(len(places) > 50, f"only {len(places)} places ask for memory")
    random.Random(SEED).shuffle(places)
    rest, ends = iter(places[:PLACES]), []

    def work():
        for n in rest:
            ends.append((n, life(nest, ready.data, n)))
    together(work, work)
    counts = {end: [e for _, e in ends].count(end) for end in {e for _, e in ends}}
    print(f"# {len(ends)} of {len(places)} places; seed {SEED}; exit statuses {counts}")


main()
