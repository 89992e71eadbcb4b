# tests/system/test_package.py: what is installed: by meson, and by the Debian packages that script/package makes.
#
# SPDX-License-Identifier: MIT
import glob
import os
import subprocess

from errand import check, main, same, test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = ("usr/bin/errand", "usr/lib/systemd/system/errand.service", "usr/share/bash-completion/completions/errand",
         "usr/share/zsh/vendor-completions/_errand", "usr/share/fish/vendor_completions.d/errand.fish",
         "usr/share/man/man1/errand.1.gz", "etc/errand/errand.conf")
DEVELOPER = ("usr/include/errand/client.h", "usr/include/errand/handler.h", "usr/lib/*/liberrand.so", "usr/lib/*/liberrand.a",
             "usr/lib/*/pkgconfig/errand.pc", "usr/share/man/man3/liberrand.3.gz")
PROGRAM = r"""
#include <errand/client.h>
#include <errand/handler.h>
int errand_register(errand_registry *registry) { (void)registry; return 0; }
int main(void) { errand_client *client = 0; (void)client; return 0; }
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, **options)
    check(done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def unpack(nest, package):
    folder = nest.folder()
    run("dpkg-deb", "-x", package, folder)
    return folder


@test(server=False)
def packages_are_whole_and_lintian_has_no_error(nest):
    out = nest.folder()
    packages = run(os.path.join(ROOT, "script", "package"), out).split()
    same(len(packages), 3)
    named = {os.path.basename(p).split("_")[0]: p for p in packages}
    server = unpack(nest, named["errand"])
    for name in FILES:
        check(os.path.exists(os.path.join(server, name)), f"{name} is not in errand")
    binary = os.path.join(server, "usr/bin/errand")
    check(run(binary, "--version").startswith("errand "))
    unit = os.path.join(nest.root, "errand.service")
    with open(os.path.join(server, "usr/lib/systemd/system/errand.service"), encoding="utf-8") as file:
        text = file.read().replace("/usr/bin/errand", binary)
    with open(unit, "w", encoding="utf-8") as file:
        file.write(text)
    run("systemd-analyze", "verify", "--man=no", unit)
    library, developer = unpack(nest, named["liberrand0"]), unpack(nest, named["liberrand-dev"])
    for name in DEVELOPER:
        check(glob.glob(os.path.join(developer, name)), f"{name} is not in liberrand-dev")
    builds_with(nest, developer, library)
    completes(nest, server)


def builds_with(nest, developer, library):
    """A program is built by pkg-config alone, and finds the library of the other package."""
    config = glob.glob(os.path.join(developer, "usr/lib/*/pkgconfig"))[0]
    env = dict(os.environ, PKG_CONFIG_PATH=config, PKG_CONFIG_SYSROOT_DIR=developer, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1",
               PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
    flags = run("pkg-config", "--cflags", "--libs", "errand", env=env).split()
    there = os.path.dirname(glob.glob(os.path.join(library, "usr/lib/*/liberrand.so.0"))[0])
    program = nest.file("program.c", PROGRAM)
    run("cc", program, "-o", program[:-2], "-L", there, *flags)
    run(program[:-2], env=dict(os.environ, LD_LIBRARY_PATH=there))


def completes(nest, server):
    """The shells take what was installed, and offer commands, options and values."""
    path = os.path.join(server, "usr/bin") + ":" + os.environ["PATH"]
    env = dict(os.environ, PATH=path, HOME=nest.root, ERRAND_URL="http://127.0.0.1:1")
    bash = os.path.join(server, FILES[2])
    asked = f"source {bash}; COMP_WORDS=(errand queues pa); COMP_CWORD=2; _errand; echo ${{COMPREPLY[@]}}"
    same(run("bash", "-c", asked, env=env).split(), ["pause"])
    fish = os.path.join(server, FILES[4])
    same(run("fish", "--no-config", "-c", f"source {fish}; complete -C 'errand ls --state CAN'", env=env).split(), ["CANCELLED"])
    zsh = os.path.join(server, FILES[3])
    asked = f"compadd() {{ print -l -- $found }}; words=(errand push --pri); CURRENT=3; source {zsh}"
    same(run("zsh", "-f", "-c", asked, env=env).split(), ["--priority"])


main()
