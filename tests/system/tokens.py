# tests/system/tokens.py: tokens and certificates for tests that need them.
#
# SPDX-License-Identifier: MIT
"""Who may speak to a server."""
import os
import subprocess

from errand import check, same

ROLES = ("read", "produce", "work", "admin")


def make_token(nest, data, role, *more):
    text = nest.run("token", "create", "--role", role, "--data", data, *more).stdout
    same(text.count("\n"), 1, "lines")
    check(len(text.strip()) >= 20 and " " not in text.strip(), "not a token")
    return text.strip()


def certificate(nest):
    cert, key = os.path.join(nest.root, "cert.pem"), os.path.join(nest.root, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert,
                    "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True, timeout=60)
    return cert, key
