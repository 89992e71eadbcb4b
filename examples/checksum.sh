#!/bin/sh
# examples/checksum.sh: a command as a handler. Payload: a JSON string, the path of a file.
#
# Standard input is the payload, standard output the result, descriptor 3 takes progress and log
# lines, standard error is kept for the error. Exit status 100 means: do not try again.
#
# SPDX-License-Identifier: MIT
set -eu

path=$(tr -d '"')
if [ ! -e "$path" ]; then
    echo "there is no file $path" >&2
    exit 100
fi
echo "log attempt $ERRAND_ATTEMPT reads $path" >&3
sum=$(sha256sum < "$path")
echo "progress 100 read to its end" >&3
printf '{"file":"%s","sha256":"%s"}\n' "$path" "${sum%% *}"
