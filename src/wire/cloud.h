/* wire/cloud.h: names and encodings of the Cloud Tasks REST API (proto3 as JSON).
 *
 * Bytes in, values out. What the calls mean is decided in cloud/ and net/.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_CLOUD_H
#define ERRAND_WIRE_CLOUD_H

#include "wire/form.h"

#define CLOUD_QUEUE_ID_MAX 100
#define CLOUD_TASK_ID_MAX  500
#define CLOUD_PARENT_MAX   150                 /* project and location together */
#define CLOUD_HEADERS_MAX  ((size_t)80 * 1000) /* names and values of one task */
#define CLOUD_URL_MAX      2083
#define CLOUD_USER_AGENT   "Google-Cloud-Tasks"

/* ---- Names ----
 *
 * "projects/P/locations/L/queues/Q/tasks/T", or a beginning of it that ends after a value; what is
 * not there is absent. The parts are not looked into. */
struct cloud_name {
    struct str project, location, queue, task;
};
MUST_CHECK bool cloud_name_parse(struct str text, struct cloud_name *out);

bool cloud_project_ok(struct str id);  /* [A-Za-z0-9:.-]+ */
bool cloud_location_ok(struct str id); /* [A-Za-z0-9-]+ */
bool cloud_queue_ok(struct str id);    /* 1 to 100 of [A-Za-z0-9-] */
bool cloud_task_ok(struct str id);     /* 1 to 500 of [A-Za-z0-9_-] */

/* ---- Values ---- */

/* "3.5s", "600s": up to nine digits, of which those behind the millisecond are rounded up. What is
 * negative, or longer than a task may wait, is refused. */
MUST_CHECK bool cloud_duration_parse(struct str text, int64_t *out_ms, struct err *err);
void cloud_duration_write(struct buf *buf, int64_t ms); /* "600s", "0.100s" */
void cloud_time_write(struct buf *buf, int64_t ms);     /* without the milliseconds if they are 0 */

/* Base64 of either alphabet, with or without its padding. */
MUST_CHECK bool cloud_bytes_parse(struct str text, struct arena *arena, struct str *out,
                                  struct err *err);

/* Rows of a form whose value is a number that may come as a text (int32_t, double), a duration
 * (int64_t, milliseconds) or bytes (struct str). */
extern const struct form_hook cloud_i32, cloud_f64, cloud_duration, cloud_bytes;

/* ---- Messages ---- */

/* The same object with its members named in lowerCamelCase, whether they came so or in snake_case,
 * and without those that are null. What stands in `headers` is left alone. */
MUST_CHECK bool cloud_message(struct str json, struct arena *arena, struct str *out,
                              struct err *err);

/* The rows of a form that a field mask names: "rate_limits.max_burst_size,retryConfig". "*" names
 * all. Blanks around a path are passed over. */
MUST_CHECK bool cloud_mask_parse(struct str mask, const struct form *form, struct arena *arena,
                                 uint64_t *out, struct err *err);

/* The headers of a task as they are sent, as a JSON object: without those that are the server's to
 * say, with its own User-Agent. `object` is a JSON object of texts, or absent. */
MUST_CHECK bool cloud_headers_read(struct str object, struct arena *arena, struct str *out,
                                   struct err *err);

#endif
