# tests/system/proxy.py: a bad network between a node and what it talks to.
#
#     proxy = Proxy(nest, redis.port)          # give the node proxy.port instead
#     proxy.cut()                              # connections break, new ones are refused
#     proxy.swallow(up=False, down=True)       # what the server answers never arrives
#     proxy.delay(0.2)                         # each way
#     proxy.lose_answer(b"COMMIT;")            # the next answer to such bytes is lost with its connection
#     proxy.lose_question(b"COMMIT;")          # the next such bytes never arrive, and nothing more on that connection
#     proxy.heal()
#
# "Up" is from the node to the server, "down" the answers. A thread per direction and connection: few connections, little
# traffic, and what a thread does reads from top to bottom.
#
# SPDX-License-Identifier: MIT
"""A TCP proxy that can cut, delay and swallow."""
import socket
import threading

CHUNK = 65536
GRACE = 5  # seconds for threads to notice that all is over


class Link:
    """One connection through the proxy: two sockets."""

    def __init__(self, proxy, node, server):
        self.proxy, self.node, self.server, self.doomed, self.stuck = proxy, node, server, False, False
        for ends in ((node, server, "up"), (server, node, "down")):
            threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, target, way):
        try:
            while data := source.recv(CHUNK):
                self.carry(data, target, way)
        except OSError:
            pass
        self.break_off()

    def carry(self, data, target, way):
        """One piece of one direction, treated as the proxy is told at this moment."""
        proxy = self.proxy
        if way == "up" and proxy.dooms(data):
            self.doomed, self.stuck = not proxy.loses_question, proxy.loses_question
        if self.stuck:
            proxy.lost.set()
            return
        if way == "down" and self.doomed:
            proxy.lost.set()
            raise ConnectionAbortedError
        if proxy.wait_s[way]:
            proxy.hurry.wait(proxy.wait_s[way])
        if not proxy.swallows[way]:
            target.sendall(data)

    def break_off(self):
        for end in (self.node, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        self.proxy.forget(self)


class Proxy:
    """Listens on a port of its own and passes everything to `target`, unless told otherwise."""

    def __init__(self, nest, target):
        self.target, self.guard, self.links = target, threading.Lock(), set()
        self.is_cut, self.closed, self.doom, self.loses_question = False, False, None, False
        self.lost, self.hurry = threading.Event(), threading.Event()
        self.heal()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        nest.closing.append(self)

    def accept(self):
        while not self.closed:
            try:
                node = self.listener.accept()[0]
                self.connect(node)
            except OSError:
                continue

    def connect(self, node):
        """Refused connections are accepted and closed at once: the port stays ours."""
        if self.is_cut or self.closed:
            node.close()
            return
        try:
            server = socket.create_connection(("127.0.0.1", self.target), GRACE)
        except OSError:
            node.close()
            return
        server.settimeout(None)
        for end in (node, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.guard:
            link = Link(self, node, server)
            self.links.add(link)
        if self.is_cut:  # meanwhile
            link.break_off()

    def forget(self, link):
        with self.guard:
            self.links.discard(link)

    def dooms(self, data):
        with self.guard:
            if self.doom is None or self.doom not in data:
                return False
            self.doom = None
            return True

    # -- trouble --

    def break_all(self):
        with self.guard:
            links = list(self.links)
        for link in links:
            link.break_off()

    def cut(self):
        self.is_cut = True
        self.break_all()

    def delay(self, seconds, up=True, down=True):
        self.hurry = threading.Event()  # set when it ends: what is on its way arrives at once
        self.wait_s = {"up": seconds if up else 0, "down": seconds if down else 0}

    def swallow(self, up=True, down=True):
        self.swallows = {"up": up, "down": down}

    def lose_answer(self, pattern, question=False):
        """The next answer to bytes that hold `pattern` is not passed on, and its connection breaks."""
        self.lost.clear()
        with self.guard:
            self.doom, self.loses_question = pattern, question

    def lose_question(self, pattern):
        """The next bytes that hold `pattern` are not passed on, and their connection stays open and silent."""
        self.lose_answer(pattern, question=True)

    def heal(self):
        """As new. What was swallowed has left gaps, so those connections are broken."""
        gaps = any(getattr(self, "swallows", {}).values())
        self.hurry.set()
        self.is_cut, self.doom = False, None
        self.wait_s, self.swallows = {"up": 0, "down": 0}, {"up": False, "down": False}
        if gaps:
            self.break_all()

    def close(self):
        self.closed = True
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.break_all()
