#!/bin/sh
# examples/team/poet.sh: one of three agents. Writes about what the editor tells it.
# SPDX-License-Identifier: MIT
set -eu
AGENT=poet
. "$(dirname "$0")/agent.sh"

SUBJECT=$(hear editor)
while claim; do
    say critic "a verse on $SUBJECT is done"
    complete "$AGENT did $REF on $SUBJECT"
done
