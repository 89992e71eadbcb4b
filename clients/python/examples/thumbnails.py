#!/usr/bin/env python3
# thumbnails.py: push a few tasks, be their worker, show what came of them.
#
# SPDX-License-Identifier: MIT
"""thumbnails.py [NAME…]: needs a server (script/server), ERRAND_URL names another one."""
import sys
import threading

from errand import Client, Permanent, Worker, order

client = Client()
worker = Worker(client, concurrency=2, claim_wait=1)


@worker.task("thumbnail")
def thumbnail(job):
    name = job.payload["image"]
    if not name.endswith(".png"):
        raise Permanent(f"{name} is no picture", code="not_a_picture")
    for percent in (25, 50, 75):
        job.progress(percent, f"reading {name}")
    return {"file": name.replace(".png", "-64.png")}


def main(names):
    working = threading.Thread(target=worker.run)
    working.start()
    try:
        # Tasks of one document never overlap: two pictures of one album are made one after the other.
        tasks = client.push_many(order("thumbnail", {"image": name}, document="album") for name in names)
        for task in tasks:
            ended = client.wait(task["id"])
            print(ended["payload"]["image"], ended["state"], ended.get("result") or ended["error"]["message"])
    finally:
        worker.stop()
        working.join()


main(sys.argv[1:] or ["cat.png", "dog.png", "notes.txt"])
