/* store/pack.h: fields of a task as one short run of bytes.
 *
 * SQLite keeps in one column what nobody asks it about: writing and reading a row costs by the
 * column, and most tasks have next to nothing to say in most of theirs. The engine keeps the tasks
 * that it will need again in the same form (queue/hot.h).
 *
 * A run is, for each field that is not blank, its number and its value: whole numbers and lengths
 * by sevens of bits, signs folded in; doubles the same way, their bytes turned round; tokens and
 * ids as they are; a flag is its number alone. Whoever reads takes the last of several.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_PACK_H
#define ERRAND_STORE_PACK_H

#include "base/buf.h"
#include "task/task.h"

/* Every column of task/task.def. The numbers are part of the file's format: none is ever given to
 * another field, and a new field takes the next one. Those from PACK_APART on have a column of
 * their own in SQLite's tables. */
enum packed {
    PACKED_expires_ms = 1,
    PACKED_backoff_base_ms = 2,
    PACKED_backoff_max_ms = 3,
    PACKED_backoff_factor = 4,
    PACKED_backoff_jitter = 5,
    PACKED_payload_raw = 6,
    PACKED_container = 7,
    PACKED_continues = 8,
    PACKED_runs_anyway = 9,
    PACKED_document = 10,
    PACKED_key = 11,
    PACKED_external_id = 12,
    PACKED_tags = 13,
    PACKED_parent = 14,
    PACKED_team = 15,
    PACKED_schedule = 16,
    PACKED_batch = 17,
    PACKED_metadata = 18,
    PACKED_max_retries = 19,
    PACKED_timeout_ms = 20,
    PACKED_scheduled_ms = 21,
    PACKED_queued_ms = 22,
    PACKED_updated_ms = 23,
    PACKED_unmet = 24,
    PACKED_retries = 25,
    PACKED_started_ms = 26,
    PACKED_cancel_requested = 27,
    PACKED_token = 28,
    PACKED_outcome = 29,
    PACKED_worker = 30,
    PACKED_lease_ms = 31,
    PACKED_lease_until_ms = 32,
    PACKED_attempt_ended_ms = 33,
    PACKED_log_bytes = 34,
    PACKED_cancel_reason = 35,
    PACKED_progress = 36,
    PACKED_progress_message = 37,
    PACKED_cost_estimated = 38,
    PACKED_cost_actual = 39,
    PACKED_cost_tokens = 40,
    PACKED_error_code = 41,
    PACKED_error_message = 42,
    PACKED_error_detail = 43,
    PACKED_cancelled_ms = 44,
    PACKED_origin = 45,
    PACKED_dispatch = 46,
    PACK_APART = 200,
    PACKED_id = 201,
    PACKED_type = 202,
    PACKED_queue = 203,
    PACKED_created_ms = 204,
    PACKED_payload = 205,
    PACKED_state = 206,
    PACKED_priority = 207,
    PACKED_attempt = 208,
    PACKED_finished_ms = 209,
    PACKED_result = 210,
};

/* Each adds a run to `out`; false: it does not fit there. */
MUST_CHECK bool pack_order(struct buf *out, const struct task *task); /* what is written once */
/* Where a live task stands, `now`, and those fields of its order that a start reads. As long before
 * a start as after it, where the worker's name is not long. */
MUST_CHECK bool pack_standing(struct buf *out, const struct task *order, const struct task *now);
MUST_CHECK bool pack_end(struct buf *out, const struct task *task);  /* where an ended one stands */
MUST_CHECK bool pack_rest(struct buf *out, const struct task *task); /* all below PACK_APART */
MUST_CHECK bool pack_live(struct buf *out, const struct task *task); /* all of one not ended */
MUST_CHECK bool pack_whole(struct buf *out, const struct task *task); /* all there is of it */

/* Fills in the fields of a run, whose texts are borrowed from it; others stay as they are. False:
 * these bytes are no run. */
MUST_CHECK bool unpack(struct str run, struct task *task);
void unpack_begin(struct task *task); /* nothing is known of it yet */

#endif
