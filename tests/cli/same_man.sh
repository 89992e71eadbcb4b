#!/bin/sh
# same_man.sh ERRAND PAGE: the manual page in docs/ is the one that the tables write.
# SPDX-License-Identifier: MIT
"$1" help --man | diff -u "$2" - || {
    echo "write it anew: errand help --man > docs/man/errand.1" >&2
    exit 1
}
