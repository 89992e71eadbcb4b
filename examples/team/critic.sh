#!/bin/sh
# examples/team/critic.sh: one of three agents. Waits for a word of both others, then helps.
# SPDX-License-Identifier: MIT
set -eu
AGENT=critic
. "$(dirname "$0")/agent.sh"

ADVICE=$(hear editor)
say editor "I will $ADVICE"
while claim; do
    complete "$AGENT did $REF and was told to $ADVICE"
done
