#!/bin/sh
# examples/team/editor.sh: one of three agents. Chooses a subject, tells the others, and joins what they wrote.
# SPDX-License-Identifier: MIT
set -eu
AGENT=editor
. "$(dirname "$0")/agent.sh"

claim || exit 0 # "subject": the only task that is ready, and the others ask for it too
if [ "$REF" = subject ]; then
    say poet "lighthouses"
    say critic "be kind"
    complete "lighthouses"
fi
while claim; do
    complete "$AGENT did $REF"
done
