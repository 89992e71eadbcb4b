#!/bin/sh
# examples/team/run.sh: begins a team of five tasks, lets three agents work on it, and prints what came of it.
#
#     errand serve --data /tmp/errand &
#     examples/team/run.sh
#
# SPDX-License-Identifier: MIT
set -eu
HERE=$(dirname "$0")
ERRAND=${ERRAND:-errand}
TEAM=$("$ERRAND" team start "A small book of verse" --tasks "@$HERE/split.json")
export TEAM ERRAND_URL="${ERRAND_URL:-http://127.0.0.1:8001}"

for AGENT in editor poet critic; do
    "$HERE/$AGENT.sh" &
done
"$ERRAND" team watch "$TEAM"
wait
