# tests/system/ports.py: ports for servers that stop and come back on the same one.
#
# Not from the range that the kernel gives to connections: while a server is down, a client that tries again and again would
# sooner or later be given the very port, meet itself there, and keep the server out.
#
# SPDX-License-Identifier: MIT
"""Free ports of this machine."""
import random
import socket

FIRST, LAST = 15000, 32000
DICE = random.SystemRandom()


def free_port():
    while True:
        port = DICE.randrange(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
