# tests/system/test_fleet_postgres.py: PostgreSQL fails, or the way to it, or its schema is newer; the promises hold.
#
# SPDX-License-Identifier: MIT
"""Faults of PostgreSQL (G1, rule 5)."""
import signal
import subprocess
import threading

from errand import DEADLINE, check, has, main, same, test, wait_for
from fleet import Fleet
from history import Load


@test(server=False)
def postgres_may_be_away_and_everything_says_so(nest):
    fleet = Fleet(nest).wait_together()
    task = fleet.node(0).create(idempotencyKey="before")
    claimed = fleet.node(1).claim_one("w")
    fleet.postgres.stop()
    try:
        for node in fleet.nodes:
            answer = node.call("POST", "/api/tasks", {"taskType": "t"}, 503)
            check(int(answer.headers["retry-after"]) > 0, f"when to try again: {answer.headers}")
            node.call("POST", "/api/claim", {"workerId": "w"}, 503)
            node.complete(claimed, expect=503)
            node.call("GET", "/readyz", expect=503)
            alone = node.call("GET", "/metrics", expect=200).body.decode()
            check("errand_store_up 0" in alone and "errand_leader " in alone and "errand_tasks{" not in alone, alone)
            node.call("GET", "/healthz", expect=200)
    finally:
        fleet.postgres.start()
    for node in fleet.nodes:
        wait_for(lambda n=node: n.call("GET", "/readyz").status == 200, "a ready node")
    same(fleet.node(2).complete(claimed)["state"], "COMPLETED")
    has(fleet.node(0).show(task), state="COMPLETED", attempt=1)
    fleet.pass_a_task()
    fleet.doctor()


@test(server=False)
def postgres_may_restart_and_crash_under_load(nest):
    fleet = Fleet(nest).wait_together()
    load = Load(fleet, count=600)
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGQUIT):
        load.under_way("create", 5)
        fleet.postgres.restart(how)
    load.judge()


@test(server=False)
def postgres_may_freeze_under_load(nest):
    fleet = Fleet(nest).wait_together()
    load = Load(fleet, count=400)
    for _ in range(2):
        load.under_way("create", 5)
        fleet.postgres.freeze()
        try:
            load.without_answer()
        finally:
            fleet.postgres.thaw()
    load.judge()


@test(server=False)
def a_lost_answer_to_a_commit_is_asked_for(nest):
    fleet = Fleet(nest, nodes=2, proxied=True).wait_together()
    wire, statuses = fleet.wires[0]["postgres"], []
    for i in range(12):
        wire.lose_answer(b"COMMIT;")
        answer = fleet.node(0).call("POST", "/api/tasks", {"taskType": "t", "idempotencyKey": f"k{i}"})
        statuses.append(answer.status)
        check(answer.status in (201, 503), f"create: {answer!r}")
        again = fleet.node(1).create("t", idempotencyKey=f"k{i}", expect=(200, 201))
        if answer.status == 201:
            same(again["id"], answer.json["id"])
        check(wire.lost.wait(DEADLINE), "no commit was lost")  # this create's, or another's that came before it
    wire.heal()
    same(statuses.count(201), len(statuses), "creates whose outcome was found out")
    same(len(fleet.all_tasks(1)), 12)


@test(server=False)
def a_commit_lost_in_a_crash_is_not_taken_for_that_of_another(nest):
    """PostgreSQL gives out the numbers of transactions again that a crash has swept away."""
    fleet = Fleet(nest, nodes=1, redis=0, proxied=True).wait_together()
    fleet.sql("CREATE TABLE noise (n integer)")
    wire, answers = fleet.wires[0]["postgres"], []
    while True:
        wire.lose_question(b"COMMIT;")
        made = threading.Thread(target=lambda: answers.append(fleet.node(0).call("POST", "/api/tasks", {"taskType": "t"})))
        made.start()
        check(wire.lost.wait(10), "no commit was lost")
        wire.cut()
        if made.is_alive():  # it was the engine's, and not one of the fleet's own thread
            break
        wire.heal()
    fleet.postgres.restart(signal.SIGQUIT)
    fleet.sql("DO $$ BEGIN FOR i IN 1..200 LOOP INSERT INTO noise VALUES (i); COMMIT; END LOOP; END $$")
    wire.heal()
    made.join()
    check(answers[-1].status in (201, 503), f"create: {answers[-1]!r}")
    wait_for(lambda: fleet.node(0).call("GET", "/readyz").status == 200, "a ready node")
    same(len(fleet.all_tasks(0)), [each.status for each in answers].count(201), "tasks that are there")


@test(server=False)
def a_node_may_lose_postgres_alone(nest):
    fleet = Fleet(nest, proxied=True).wait_together()
    load = Load(fleet, count=1000)
    for trouble in ("cut", "swallow"):
        load.under_way("create", 5)
        getattr(fleet.wires[1]["postgres"], trouble)()
        load.without_answer(node=1)
        fleet.wires[1]["postgres"].heal()
    load.judge()


@test(server=False)
def a_pooler_in_transaction_mode_may_crash_under_load_and_postgres_behind_it(nest):
    """Twelve connections of three nodes share five; what the pooler lets stand must not pass for the old server."""
    fleet = Fleet(nest, pooled=True).wait_together()
    load = Load(fleet, count=500)
    load.under_way("create", 5)
    fleet.postgres.start_pooler()
    load.under_way("create", 5)
    fleet.postgres.restart(signal.SIGQUIT)
    load.under_way("create", 5)
    fleet.postgres.stop_pooler()
    load.without_answer()
    fleet.postgres.start_pooler()
    load.judge()


# ---- Versions side by side ----


def migrate(fleet, script):
    """Under load a script that locks several tables may lose a deadlock; then it is run again."""
    for attempt in range(10):
        try:
            return fleet.sql(script)
        except subprocess.CalledProcessError as error:
            check("deadlock" in error.stderr and attempt < 9, error.stderr)


@test(server=False)
def nodes_go_on_beside_a_newer_schema(nest):
    fleet = Fleet(nest, nodes=2).wait_together()
    load = Load(fleet, count=300)
    load.under_way("create", 3)
    version = int(fleet.sql("SELECT version FROM meta"))
    migrate(fleet, "BEGIN; ALTER TABLE task ADD COLUMN from_the_future integer NOT NULL DEFAULT 0; "
            "ALTER TABLE body ADD COLUMN from_the_future text; ALTER TABLE done ADD COLUMN from_the_future text; "
            "CREATE TABLE future (id uuid PRIMARY KEY); CREATE INDEX future_task ON task (from_the_future); "
            f"UPDATE meta SET version = {version + 1}; COMMIT")
    load.under_way("create", 3)
    fleet.add()
    fleet.wait_together()
    pass_through = fleet.node(2).create(queue="later")
    claimed = fleet.node(0).claim_one("w", queues=["later"])
    same(claimed["id"], pass_through["id"])
    fleet.node(1).complete(claimed)
    load.judge()


@test(server=False)
def a_node_that_the_schema_no_longer_admits_ends_itself(nest):
    """A newer errand has migrated under it: it writes nothing more, says why, and what it had acknowledged is there."""
    fleet = Fleet(nest, nodes=2, redis=0).wait_together()
    made = {fleet.node(i % 2).create()["id"] for i in range(10)}
    held = fleet.node(0).claim_one("w", leaseMs=60000)
    version = int(fleet.sql("SELECT version FROM meta"))
    for node in fleet.nodes:
        node.expected_to_die = True
    fleet.sql(f"UPDATE meta SET version = {version + 1}, oldest_reader = {version + 1}")
    try:  # the other one is idle, and must find out by itself
        fleet.node(0).complete(held, expect=503)
    except OSError:
        pass  # it may be gone already
    for node in fleet.nodes:
        same(node.wait(), 1)
        check(f"needs an errand that knows version {version + 1}" in node.stderr(), node.stderr())
    said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), "--store", fleet.store_url())
    check("newer errand" in said, said)
    fleet.sql(f"UPDATE meta SET version = {version}, oldest_reader = {version}")  # as if the newer one were started now
    later = fleet.add()
    same(set(fleet.all_tasks(later)), made)
    has(fleet.node(later).complete(held), state="COMPLETED", attempt=1)


TRIPS = """CREATE SEQUENCE trips;
CREATE FUNCTION trip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('trips') <= TG_ARGV[0]::bigint THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;
    RETURN NEW;
END $$;"""  # a sequence goes on counting when its transaction is rolled back


def trip(fleet, times):
    fleet.sql(f"DROP TRIGGER IF EXISTS trip ON writer; ALTER SEQUENCE trips RESTART; "
              f"CREATE TRIGGER trip BEFORE INSERT ON writer FOR EACH ROW EXECUTE FUNCTION trip({times})")


@test(server=False)
def a_deadlock_while_a_store_is_opened_is_tried_again(nest):
    fleet = Fleet(nest, nodes=0)
    migrate = ("migrate", "--data", nest.folder(), "--store", fleet.store_url())
    nest.run(*migrate)
    fleet.sql(TRIPS)
    trip(fleet, 4)
    check("up to date" in nest.run(*migrate).stdout, "it was not opened")
    same(fleet.sql("SELECT last_value FROM trips"), "6")  # four were refused, then it is opened to look and to tidy up
    trip(fleet, 1000)
    said = nest.run(*migrate, expect=1).stderr
    check("40P01" in said, said)
    check(int(fleet.sql("SELECT last_value FROM trips")) <= 20, "it was tried again and again")
    trip(fleet, 3)
    fleet.add()
    fleet.wait_leader()


main()
