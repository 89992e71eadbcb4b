#!/usr/bin/env python3
# bench/dashboards.py: so many open dashboards, as far as the server can tell, until it is ended.
#
# Each has one stream and asks every two seconds for what the overview shows. It runs in a process of its own, for a
# browser would be on another machine.
#
# SPDX-License-Identifier: MIT
"""bench/dashboards.py HOST PORT COUNT: prints a line when all of them are open."""
import asyncio
import sys

STREAM = "/api/events?types=state,queue,leader&paceMs=1000"
SHOWN = ("/api/stats", "/api/queues", "/api/nodes", "/api/workers", "/api/series?minutes=60",
         "/api/tasks?state=FAILED,TIMEOUT&limit=10", "/api/documents?limit=200")
EVERY_S = 2


def request(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


async def follow(host, port):
    """The stream; what comes is read and thrown away."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(request(STREAM))
    await reader.readuntil(b"\r\n\r\n")

    async def read():
        while await reader.read(65536) and writer is not None:  # whoever forgets the writer closes
            pass
        sys.exit("the stream has ended")

    return asyncio.create_task(read())


async def look(reader, writer, path):
    writer.write(request(path))
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        sys.exit(f"{path}: {head[:40]!r}")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))


async def refresh(host, port, phase_s):
    reader, writer = await asyncio.open_connection(host, port)
    await asyncio.sleep(phase_s)
    while True:
        for path in SHOWN:
            await look(reader, writer, path)
        await asyncio.sleep(EVERY_S)


async def main():
    host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    work = [await follow(host, port) for _ in range(count)]
    work += [asyncio.create_task(refresh(host, port, EVERY_S * i / count)) for i in range(count)]
    print("open", flush=True)
    await asyncio.gather(*work)


asyncio.run(main())
