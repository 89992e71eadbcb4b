#!/bin/sh
# tools/liberrand.sh: liberrand.a, as one object that shows nothing but errand_*.
#
# An archive of the plain objects would let our inner names (buf_add, str_cmp, …) meet those of
# the program it is linked into.
#
# liberrand.sh OUTPUT WORKDIR ARCHIVE…
#
# SPDX-License-Identifier: MIT
set -e
out=$1 dir=$2
shift 2
mkdir -p "$dir"
ld -r -o "$dir/errand.o" --whole-archive "$@"
objcopy --wildcard --keep-global-symbol='errand_*' "$dir/errand.o"
rm -f "$out"
ar rcs "$out" "$dir/errand.o"
