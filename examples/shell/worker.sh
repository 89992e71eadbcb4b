#!/bin/sh
# worker.sh TYPE PAYLOAD COMMAND…: creates a task, claims one of its type and runs the command for it.
#
# A whole client in curl and sed: create with an idempotency key, claim with a lease, a heartbeat while the command runs,
# complete or fail, and what to do when the lease is lost. The command gets the payload on standard input and writes the
# result, which must be JSON, to standard output. ERRAND_URL and ERRAND_TOKEN name the server.
#
# SPDX-License-Identifier: MIT
set -eu
url=${ERRAND_URL:-http://127.0.0.1:8001}
type=$1 payload=$2
shift 2
lease_ms=${LEASE_MS:-60000}
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

# ask METHOD PATH BODY: the status on standard output, the answer's body in $files/answer. A server that is away is asked
# again: creates and ends may be repeated, the key and the lease see to that.
ask() {
    curl -s -X "$1" "$url$2" -H 'Content-Type: application/json' ${ERRAND_TOKEN:+-H "Authorization: Bearer $ERRAND_TOKEN"} \
        --retry 5 --retry-all-errors --retry-delay 1 -d "$3" -o "$files/answer" -w '%{http_code}'
}

# field NAME: a text of the answer. Ids and leases hold nothing that would have to be unescaped.
field() {
    sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" "$files/answer" | head -n 1
}

status=$(ask POST /api/tasks "{\"taskType\":\"$type\",\"payload\":$payload,\"idempotencyKey\":\"worker.sh-$$-$(date +%s)\"}")
[ "$status" = 201 ] || { cat "$files/answer" >&2; exit 1; }
echo "created $(sed -n 's/^{"id":"\([^"]*\)".*/\1/p' "$files/answer")"

ask POST /api/claim "{\"workerId\":\"worker.sh:$$\",\"taskTypes\":[\"$type\"],\"waitMs\":10000,\"leaseMs\":$lease_ms}" >/dev/null
id=$(sed -n 's/^{"tasks":\[{"id":"\([^"]*\)".*/\1/p' "$files/answer")
lease=$(field lease)
[ -n "$id" ] || { echo "nothing to do"; exit 0; }
echo "claimed $id"

printf '%s' "$payload" | "$@" >"$files/result" &
work=$!

# The beater ends when the work does, or when the lease is somebody else's: then the work is for nothing, and is ended.
while kill -0 "$work" 2>/dev/null; do
    if [ "$(ask POST "/api/tasks/$id/heartbeat" "{\"lease\":\"$lease\"}")" = 409 ]; then
        kill "$work" 2>/dev/null || true
        wait "$work" 2>/dev/null || true
        echo "lost $id"
        exit 0
    fi
    grep -q '"cancelRequested":true' "$files/answer" && kill "$work" 2>/dev/null || true
    timeout "$(awk "BEGIN{print $lease_ms / 3000}")" tail --pid="$work" -f /dev/null || true # a third of the lease, or the end
done

if wait "$work"; then
    status=$(ask POST "/api/tasks/$id/complete" "{\"lease\":\"$lease\",\"result\":$(cat "$files/result")}")
else
    status=$(ask POST "/api/tasks/$id/fail" "{\"lease\":\"$lease\",\"error\":{\"code\":\"exit\",\"message\":\"the command failed\"}}")
fi
case $status in
200) echo "ended $id $(field state)" ;;
409) echo "lost $id" ;;
*) cat "$files/answer" >&2 && exit 1 ;;
esac
