# examples/team/agent.sh: what an agent in plain sh needs to work in a team. Read by the three beside it.
#
# Everything is HTTP: curl speaks it, sed finds the fields. ERRAND_URL is the server, TEAM the team's id, and each
# agent sets AGENT, its name.
#
# SPDX-License-Identifier: MIT
: "${ERRAND_URL:=http://127.0.0.1:8001}" "${TEAM:?the id of the team}"

# ask METHOD PATH [JSON]: the answer.
ask() {
    if [ $# -gt 2 ]; then
        curl -sS -X "$1" "$ERRAND_URL$2" -H 'Content-Type: application/json' --data-binary "$3"
    else
        curl -sS -X "$1" "$ERRAND_URL$2"
    fi
}

# field NAME: the first text of that name in the JSON on standard input.
field() {
    sed -n "s/^[^\"]*\"\(.*\)/\"\1/; s/\"$1\":\"/\n/; s/^[^\n]*\n\([^\"]*\)\".*/\1/p"
}

# claim: takes a task, waiting for one. Fails when the team has ended. Sets TASK, LEASE, REF, CLAIMED.
claim() {
    while :; do
        CLAIMED=$(ask POST "/api/teams/$TEAM/claim" "{\"agent\":\"$AGENT\",\"waitMs\":20000}")
        case $CLAIMED in
        *'"task":{'*) break ;;
        *'"status":'* | *'"error":'*) return 1 ;;
        esac
    done
    TASK=$(echo "$CLAIMED" | field id)
    LEASE=$(echo "$CLAIMED" | field lease)
    REF=$(echo "$CLAIMED" | field ref)
}

# complete TEXT: the task is done, and this came of it.
complete() {
    ask POST "/api/tasks/$TASK/complete" "{\"lease\":\"$LEASE\",\"result\":\"$1\"}" > /dev/null
}

# say NAME TEXT: into one mailbox.
say() {
    ask POST "/api/teams/$TEAM/messages" "{\"from\":\"$AGENT\",\"to\":\"$1\",\"body\":\"$2\"}" > /dev/null
}

# hear NAME: waits for a word of NAME's that is for this agent, and prints it. AFTER is where it has read to.
AFTER=
hear() {
    while :; do
        LETTERS=$(ask GET "/api/teams/$TEAM/messages?agent=$AGENT&waitMs=20000${AFTER:+&after=$AFTER}")
        LETTER=$(echo "$LETTERS" | tr '{' '\n' | grep "\"from\":\"$1\",\"to\":\"$AGENT\"" | head -n 1)
        [ -z "$LETTER" ] || break
        NEXT=$(echo "$LETTERS" | tr '{' '\n' | tail -n 1 | field id)
        AFTER=${NEXT:-$AFTER}
    done
    AFTER=$(echo "$LETTER" | field id)
    echo "$LETTER" | field body
}
