# tests/system/test_fleet_cluster.py: a Redis that speaks TLS; a Redis of several servers, one of which fails.
#
# SPDX-License-Identifier: MIT
"""Other shapes of Redis."""
from errand import check, main, same, test
from fleet import WAIT_MS, Fleet
from redis import Cluster, certificates

HOME = "errand:{dispatch3}:probe"  # beside the hints

# ---- TLS ----


def tls_settings(folder, authority="ca"):
    return {"ERRAND_REDIS_CACERT": f"{folder}/{authority}.pem", "ERRAND_REDIS_CERT": f"{folder}/client.pem",
            "ERRAND_REDIS_KEY": f"{folder}/client.key"}


@test(server=False)
def a_fleet_reaches_a_redis_that_speaks_tls_and_asks_who_calls(nest):
    folder = certificates(nest)
    fleet = Fleet(nest, nodes=2, tls=folder, env=tls_settings(folder)).wait_together()
    fleet.pass_a_task(maker=0, worker=1, ender=0, documentId="d")
    said = nest.run("doctor", "--data", fleet.nodes[0].data, "--store", fleet.store_url(), expect=None,
                    env={"ERRAND_BROKER": fleet.redis.url, "ERRAND_URL": "http://127.0.0.1:1", **tls_settings(folder)}).stdout
    check(f"{fleet.redis.url} answers" in said and "documents are held as in the store" in said, said)
    fleet.redis.stop()
    fleet.wait_broker(0, "degraded")
    fleet.redis.start()
    fleet.wait_together()


@test(server=False)
def a_redis_whose_certificate_is_not_trusted_is_away_and_the_log_says_why(nest):
    folder = certificates(nest)
    fleet = Fleet(nest, nodes=1, tls=folder, env=tls_settings(folder, "other"))
    fleet.wait_broker(0, "degraded")
    check("TLS: self-signed certificate in certificate chain" in fleet.node(0).stderr(), fleet.node(0).stderr())
    fleet.node(0).create()
    fleet.node(0).complete(fleet.node(0).claim_one("w", waitMs=20000))  # the store serves


@test(server=False)
def files_that_cannot_be_used_end_the_start_by_name(nest):
    folder = certificates(nest)
    fleet = Fleet(nest, nodes=0, redis=0)
    for more, words in (({"ERRAND_REDIS_CACERT": "nosuch.pem"}, "nosuch.pem: No such file"),
                        ({"ERRAND_REDIS_CERT": f"{folder}/client.pem"}, "cert and key belong together"),
                        ({"ERRAND_REDIS_CERT": f"{folder}/client.pem", "ERRAND_REDIS_KEY": f"{folder}/ca.key"}, "key values mismatch")):
        said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), "--store", fleet.store_url(), "--broker",
                            "rediss://:secret@127.0.0.1:1", env=more)
        check(words in said and "secret" not in said, said)
    said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), "--store", fleet.store_url(), "--broker", "tls://h:1")
    check("rediss://HOST:PORT" in said, said)
    same(len(fleet.nodes), 0)


# ---- A cluster ----


def drain(fleet, count, worker):
    """Claims until `count` different tasks were had, and completes them."""
    seen = set()
    while len(seen) < count:
        found = fleet.node(worker).claim("w", max=20, waitMs=WAIT_MS)
        check(found, f"only {len(seen)} of {count} tasks can be had")
        for task in found:
            check(task["id"] not in seen, "a task was given out twice")
            seen.add(task["id"])
            fleet.node(worker).complete(task)
    return seen


def many(fleet, count):
    tasks = [{"taskType": "t", **({"documentId": f"d{i % 7}"} if i % 2 else {})} for i in range(count)]
    return {task["id"] for task in fleet.node(0).post("/api/tasks", tasks, 201)}


@test(server=False)
def keys_of_a_cluster_are_asked_of_their_server_and_a_failover_loses_nothing(nest):
    cluster = Cluster(nest)
    home = cluster.owner(HOME)
    # The nodes know the address of one that lives on, or of the one that dies.
    fleet = Fleet(nest, nodes=1, brokers=[cluster.primaries[home]])
    fleet.brokers = [cluster.primaries[(home + 1) % 3]]
    fleet.add()
    fleet.wait_together()
    for document in ("a", "b", "c", "d", "e"):
        fleet.pass_a_task(maker=0, worker=1, ender=0, documentId=document)
    fleet.node(0).create(documentId="held")
    claimed = fleet.node(1).claim_one("w", waitMs=WAIT_MS)
    key = "errand:doclock:{held}"
    same(cluster.primaries[cluster.owner(key)].ask("GET", key), claimed["lease"])
    fleet.node(1).complete(claimed)

    waiting = many(fleet, 60)
    cluster.primaries[home].stop()
    waiting |= many(fleet, 20)  # meanwhile the store serves
    cluster.await_promotion(home)
    same(drain(fleet, len(waiting), worker=1), waiting)
    fleet.wait_together()
    tasks = many(fleet, 40)
    same(drain(fleet, 40, worker=1), tasks)
    check(cluster.replicas[home].ask("EXISTS", "errand:{dispatch3}:filled") == 1, "the promoted server has the hints")
    fleet.doctor()


main()
