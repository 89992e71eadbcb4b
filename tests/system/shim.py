# tests/system/shim.py: servers under shim.c: the control file that says what their disk and their clock do.
#
#     shim = Shim(nest); server = nest.server(data=shim.data, env=shim.env())
#     shim.set(wall_offset_ms=3600000)
#
# SPDX-License-Identifier: MIT
"""A disk and a clock that misbehave on request."""
import fcntl
import mmap
import os
import re
import shutil
import struct
import subprocess

from errand import binary, check

FIELDS = ("wall_offset_ms", "disk_full", "fail_at", "fail_errno", "fail_calls", "kill_at",
          "kill_how", "calls", "hold", "held", "alloc_fail_at", "allocs")


def runtimes():
    """Sanitizer runtimes that must be preloaded before anything else."""
    linked = subprocess.run(["ldd", binary()], capture_output=True, text=True, check=False).stdout
    check("libtsan" not in linked, "the thread sanitizer does not like company")
    found = re.findall(r"=> (\S*lib(?:asan|ubsan)\.so\S*)", linked)
    with open(binary(), "rb") as handle:
        check(found or b"__asan_init" not in handle.read(), "this sanitizer's runtime is inside the binary (use gcc's)")
    return found


class Shim:
    """The control file, and servers that obey it."""

    def __init__(self, nest):
        self.nest, self.data = nest, nest.folder()
        self.shadow = self.data + ".synced"
        check(os.environ.get("ERRAND_SHIM_SO"), "ERRAND_SHIM_SO does not name the shim")
        self.path = nest.file(os.path.basename(self.data) + ".control", b"\0" * 8 * len(FIELDS))
        with open(self.path, "r+b") as handle:
            self.memory = mmap.mmap(handle.fileno(), 0)
        self.gate = None

    def hold(self):
        """From here on the disk does not answer."""
        self.gate = open(self.path, "rb")  # the lock lasts as long as it is open
        fcntl.flock(self.gate, fcntl.LOCK_EX)
        self.set(hold=1)

    def let_go(self):
        self.set(hold=0)
        self.gate.close()

    def set(self, **values):
        for name, value in values.items():
            struct.pack_into("q", self.memory, 8 * FIELDS.index(name), value)

    def get(self, name):
        return struct.unpack_from("q", self.memory, 8 * FIELDS.index(name))[0]

    def env(self, memory=False):
        """memory: allocations pass through the shim, before a sanitizer's."""
        order = [os.environ["ERRAND_SHIM_SO"]]
        order = order + runtimes() if memory else runtimes() + order
        # A start that is given up for want of memory ends the process with what it had: that is no leak.
        options = os.environ.get("ASAN_OPTIONS", "").split(":") + ["verify_asan_link_order=0", "detect_leaks=0"]
        return {"LD_PRELOAD": ":".join(order),
                **({"ASAN_OPTIONS": ":".join(filter(None, options))} if memory else {}), "ERRAND_SHIM": self.path,
                "ERRAND_SHIM_DATA": os.path.realpath(self.data),
                **({"ERRAND_SHIM_SHADOW": self.shadow} if os.path.exists(self.shadow) else {})}

    def seed_shadow(self):
        """From here on the disk forgets, at a cut, what was not synced."""
        os.mkdir(self.shadow)
        for name in os.listdir(self.data):
            shutil.copy(os.path.join(self.data, name), self.shadow)

    def forget_unsynced(self):
        """What the disk has after the cut. The shared memory of SQLite is never on it."""
        if not os.path.exists(self.shadow):
            return
        for name in os.listdir(self.data):
            os.unlink(os.path.join(self.data, name))
        for name in os.listdir(self.shadow):
            if not name.startswith(".") and not name.endswith("-shm"):
                shutil.copy(os.path.join(self.shadow, name), self.data)

    def server(self, **options):
        return self.nest.server(data=self.data, env=self.env(), **options)
