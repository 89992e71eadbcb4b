#!/bin/sh
# tools/liberrand.sh: liberrand.a, as one object that shows nothing but errand_*.
#
# An archive of the plain objects would let our inner names (buf_add, str_cmp, …) meet those of
# the program it is linked into.
#
# liberrand.sh OUTPUT WORKDIR ARCHIVE… -- COMPILER…
#
# SPDX-License-Identifier: MIT
set -e
out=$1 dir=$2 archives=
shift 2
while [ "$1" != -- ]; do
    archives="$archives $1"
    shift
done
shift
mkdir -p "$dir"
# The names of our archives have no blanks.
# shellcheck disable=SC2086
"$@" -r -nostdlib -o "$dir/errand.o" -Wl,--whole-archive $archives
objcopy --wildcard --keep-global-symbol='errand_*' "$dir/errand.o"
rm -f "$out"
ar rcs "$out" "$dir/errand.o"
