# tests/system/test_package.py: what is installed: by meson, and by the Debian packages that script/package makes.
#
# SPDX-License-Identifier: MIT
import atexit
import functools
import glob
import os
import re
import shutil
import subprocess
import tempfile

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


@functools.cache
def built():
    """The packages of this tree; made once, for all tests here."""
    out = tempfile.mkdtemp(prefix="errand-packages-")
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    return run(os.path.join(ROOT, "script", "package"), out).split()


def as_root(*command):
    """As script/test does when it installs packages."""
    return command if os.geteuid() == 0 else ("sudo", "-n", *command)


def copy_of_tree(nest):
    """What git has of it, changes included."""
    tree = os.path.join(nest.root, "a tree")
    os.makedirs(tree)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and os.path.lexists(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(tree, name), follow_symlinks=False)
    return tree


@test(server=False)
def packages_are_whole_and_lintian_has_no_error(nest):
    packages = built()
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


@test(server=False)
def the_unit_names_what_is_installed_wherever_that_is(nest):
    build = os.path.join(nest.root, "build")
    for prefix, binary, settings in (("/usr/local", "/usr/local/bin", "/usr/local/etc"), ("/usr", "/usr/bin", "/etc")):
        run("meson", "setup", build, ROOT, "--wipe" if os.path.exists(build) else "--buildtype=plain", "--prefix", prefix)
        with open(os.path.join(build, "packaging/errand.service"), encoding="utf-8") as file:
            text = file.read()
        check(f"\nExecStart={binary}/errand serve --config {settings}/errand/errand.conf " in text, text)
        check(f"\nEnvironmentFile=-{settings}/errand/environment\n" in text, text)


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


@test(server=False)
def packages_install_start_upgrade_and_purge_in_a_bare_root(_):
    said = run(*as_root(os.path.join(ROOT, "tools", "try_packages"), *built()))
    for line in ("installed, started as its own user, did a task", "upgraded: settings and tasks are there", "purged: nothing is left",
                 "the image's commands run as nobody"):
        check(line in said, f"it did not say {line!r} but\n{said}")


# What script/build does, but for the size of what is built.
PART = """#!/bin/sh
. "$(dirname "$0")/lib.sh"
configure build release && build build src/base/libbase.a
"""


@test(server=False)
def a_tree_that_was_moved_or_copied_builds(nest):
    tree = copy_of_tree(nest)
    with open(os.path.join(tree, "script", "part"), "w", encoding="utf-8") as file:
        file.write(PART)
    run("sh", os.path.join(tree, "script", "part"))
    copied, moved = os.path.join(nest.root, "copied"), os.path.join(nest.root, "moved")
    shutil.copytree(tree, copied, symlinks=True)
    os.rename(tree, moved)
    for each in copied, moved:
        with open(os.path.join(each, "src", "base", "str.c"), "a", encoding="utf-8") as file:
            file.write("/* changed */\n")
        run("sh", os.path.join(each, "script", "part"))
        check(os.path.exists(os.path.join(each, "build", "src", "base", "libbase.a")))
    check(not os.path.exists(tree), "something was written where the tree had been")


@test(server=False)
def the_image_is_built_from_what_docker_is_given(nest):
    tree = copy_of_tree(nest)
    with open(os.path.join(tree, ".dockerignore"), encoding="utf-8") as file:
        for pattern in file.read().split():
            for path in glob.glob(os.path.join(tree, pattern)):
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    with open(os.path.join(tree, "Dockerfile"), encoding="utf-8") as file:
        stages = file.read().split("\nFROM ")
    for source in re.findall(r"(?m)^COPY ([^-]\S*) ", "".join(stages)):
        check(os.path.exists(os.path.join(tree, source)), f"COPY {source}: it is not there")
    check("script/build" in stages[1], "the first stage builds otherwise than this test thinks")
    run("meson", "setup", os.path.join(tree, "build"), tree, "--native-file", os.path.join(tree, "meson", "release.ini"))
    check("errand:" in run("ninja", "-C", os.path.join(tree, "build"), "-t", "targets", "all"))
    # What the build leaves is what the next stage takes.
    taken = re.search(r"COPY --from=build (\S+) ", stages[2]).group(1)
    same(os.path.basename(os.path.dirname(taken)), "build")


main()
