# script/lib.sh: what the scripts share. Sourced, not run; `root` is the top of the tree.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

root=$(cd "$(dirname "$0")/.." && pwd)

say() {
    echo "errand: $*" >&2
}

# wanted SECTION…: what is listed under these sections of script/packages: PACKAGE, or PACKAGE:COMMAND.
wanted() {
    for section; do
        sed -n "/^\[$section\]/,/^\[/p" "$root/script/packages" | grep '^[a-z0-9]'
    done
}

packages() { # SECTION…: the names alone
    wanted "$@" | sed 's/:.*//'
}

missing_packages() {
    for entry in $(wanted "$@"); do
        package=${entry%%:*}
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q ' installed$' && continue
        # Another package may have brought the command, and may not want this one beside it.
        [ "$entry" != "$package" ] && command -v "${entry#*:}" >/dev/null 2>&1 && continue
        echo "$package"
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# need SECTION…: installs what is missing. Asks the network only when something is.
need() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        say "this is no Debian: please see that these are installed:" $(packages "$@")
        return 0
    fi
    missing=$(missing_packages "$@")
    [ -z "$missing" ] && return 0
    say "installing" $missing
    as_root apt-get -qq update >&2 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
            -o Dpkg::Use-Pty=0 install $missing >&2
}

# need_unpacked: the commands of [unpacked], in a folder that is put into PATH.
need_unpacked() {
    unpacked=$root/build-unpacked
    PATH=$PATH:$unpacked/usr/bin:$unpacked/usr/sbin
    export PATH
    for entry in $(wanted unpacked); do
        command -v "${entry#*:}" >/dev/null 2>&1 && continue
        say "fetching ${entry#*:}"
        mkdir -p "$unpacked" && (
            cd "$unpacked" || exit 1
            apt-get -qq download "${entry%%:*}" >&2 ||
                { as_root apt-get -qq update >&2 && apt-get -qq download "${entry%%:*}" >&2; } || exit 1
            dpkg -x "${entry%%:*}"_*.deb . && rm -f "${entry%%:*}"_*.deb
        ) || return 1
    done
}

# need_npm: the clients of others that tests drive, as tests/npm/package-lock.json has them.
need_npm() {
    npm=$root/tests/npm
    cmp -s "$npm/package-lock.json" "$npm/node_modules/.lock" && return 0
    say "installing what the tests need of npm"
    (cd "$npm" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >&2) &&
        cp "$npm/package-lock.json" "$npm/node_modules/.lock"
}

# configure DIR NAME: a build folder as meson/NAME.ini says; made anew when that has changed, or when the tree was moved or
# copied: a build folder names its sources by their whole path, and would build those of the other tree.
configure() {
    if [ -f "$root/$1/build.ninja" ] && cmp -s "$root/meson/$2.ini" "$root/$1/.native.ini" &&
        [ "$(cat "$root/$1/.root" 2>/dev/null)" = "$root" ]; then
        return 0
    fi
    rm -rf "${root:?}/$1"
    setup=$(meson setup "$root/$1" "$root" --native-file "$root/meson/$2.ini" 2>&1) || {
        echo "$setup" >&2
        return 1
    }
    cp "$root/meson/$2.ini" "$root/$1/.native.ini"
    echo "$root" >"$root/$1/.root"
}

# build DIR [TARGET…]: says nothing unless it fails.
build() {
    dir=$1
    shift
    if ! ninja -C "$root/$dir" "$@" >"$root/$dir/.build.log" 2>&1; then
        grep -v '^\[[0-9]*/[0-9]*\] ' "$root/$dir/.build.log" >&2
        return 1
    fi
}
