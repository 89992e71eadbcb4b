/* net/team_in.h: wishes about teams out of JSON.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TEAM_IN_H
#define ERRAND_NET_TEAM_IN_H

#include "net/fields.h"
#include "team/lead.h"

/* The body of POST /api/teams; the tasks are checked. */
MUST_CHECK bool team_in_read(struct json *json, struct team *out, struct err *err);

/* The body of POST /api/teams/{id}/claim. */
struct team_claim_in {
    struct str agent;
    int64_t wait_ms, lease_ms;
};
MUST_CHECK bool team_claim_read(struct json *json, struct team_claim_in *out, struct err *err);

/* The body of POST /api/teams/{id}/messages. */
MUST_CHECK bool team_message_read(struct json *json, struct team_message *out, struct err *err);

#endif
