#!/usr/bin/env python3
# tests/standin/smtp.py: a real SMTP server (aiosmtpd) that keeps what it is sent, or refuses it.
#
#     smtp.py [--starttls | --tls] [--user NAME --password WORD]
#
# It prints `smtp: ready on smtp://127.0.0.1:PORT control http://127.0.0.1:PORT ca FILE` and ends
# when its standard input does. With --starttls it offers encryption, with --tls it speaks nothing
# else (smtps://); FILE is the certificate to trust. With --user it wants to be logged in to.
#
# The book (control.py) has one entry for each mail taken: "from", "to", "tls", "user", "raw", and
# what Python's parser makes of it: "headers", "parts" ({type: text}), "defects", "longest" (the
# longest line). An entry of the script may have:
#
#     "at": "MAIL", "RCPT" or "DATA"   when it is served (default DATA); "to": TEXT: only to this
#     "reply": "451 4.7.1 later"       what is answered
#     "hold": true                     held there until released; the book says {"held": at}
#     "cut": true                      the connection ends instead
#
# SPDX-License-Identifier: MIT
"""Stand-in of a mail server."""
import argparse
import asyncio
import email
import email.policy
import logging
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import warnings

import control

try:
    from aiosmtpd.smtp import SMTP, AuthResult
except ImportError:
    # The first python3 on PATH may not be Debian's, which has the package.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

TAKEN = "250 2.0.0 taken"


def certificate(folder):
    """A certificate for localhost and its key, both PEM."""
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return cert, key


def parse(raw):
    """What another program understands of a mail."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    parts = [part for part in message.walk() if not part.is_multipart()]
    defects = [repr(d) for part in message.walk() for d in part.defects]
    defects += [repr(d) for value in message.values() for d in value.defects]
    return {"headers": {name: str(value) for name, value in message.items()},
            "parts": {part.get_content_type(): part.get_content().replace("\r\n", "\n")
                      for part in parts},
            "defects": defects,
            "longest": max(len(line) for line in raw.split(b"\r\n"))}


class Post:
    """What the server does with what it hears."""

    def __init__(self, book):
        self.book = book

    async def play(self, server, at, to):
        """The scripted reply at this point, or None."""
        entry = self.book.take(
            lambda e: e.get("at", "DATA") == at and e.get("to", "") in " ".join(to))
        if entry is None:
            return None
        if entry.get("hold"):
            self.book.write({"held": at})
            await asyncio.get_running_loop().run_in_executor(None, self.book.hold)
        if entry.get("cut"):
            server.transport.abort()
        return entry.get("reply")

    async def handle_MAIL(self, server, _session, envelope, address, options):
        reply = await self.play(server, "MAIL", [])
        if reply is None:
            envelope.mail_from = address
            envelope.mail_options += options
        return reply or TAKEN

    async def handle_RCPT(self, server, _session, envelope, address, _options):
        reply = await self.play(server, "RCPT", [address])
        if reply is None:
            envelope.rcpt_tos.append(address)
        return reply or TAKEN

    async def handle_DATA(self, server, session, envelope):
        reply = await self.play(server, "DATA", envelope.rcpt_tos)
        if reply is None:
            user = getattr(session.auth_data, "login", b"") or b""
            self.book.write({
                "from": envelope.mail_from, "to": envelope.rcpt_tos,
                "tls": server.transport.get_extra_info("ssl_object") is not None,
                "user": user.decode(), "raw": envelope.content.decode("latin-1"),
                **parse(envelope.content)})
        return reply or TAKEN


def authenticator(user, password):
    def check(_server, _session, _envelope, _mechanism, data):
        right = (data.login, data.password) == (user.encode(), password.encode())
        return AuthResult(success=right, handled=right, auth_data=data)
    return check


def options(arguments, context):
    chosen = {"hostname": "stand-in", "enable_SMTPUTF8": False}
    if arguments.starttls:
        chosen.update(tls_context=context, require_starttls=False)
    if arguments.user:
        chosen.update(auth_required=True, auth_require_tls=arguments.starttls,
                      authenticator=authenticator(arguments.user, arguments.password))
    return chosen


def listen(arguments, book, folder):
    """A server in a thread of its own; returns its port."""
    cert, key = certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    loop = asyncio.new_event_loop()
    chosen = options(arguments, context)
    server = loop.run_until_complete(loop.create_server(
        lambda: SMTP(Post(book), loop=loop, **chosen), "127.0.0.1", 0,
        ssl=context if arguments.tls else None))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return server.sockets[0].getsockname()[1], cert


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--starttls", action="store_true")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--user")
    parser.add_argument("--password", default="")
    arguments, book = parser.parse_args(), control.Book()
    logging.disable()  # clients that hang up, and logins in plain text, are part of the play
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        port, cert = listen(arguments, book, folder)
        web = control.serve(control.Handler, book)
        scheme = "smtps" if arguments.tls else "smtp"
        control.stay(f"smtp: ready on {scheme}://127.0.0.1:{port} "
                     f"control http://127.0.0.1:{web.server_port} ca {cert}")


if __name__ == "__main__":
    main()
