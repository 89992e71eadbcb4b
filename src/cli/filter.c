/* cli/filter.c: which tasks a command means. See filter.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/filter.h"

#include "wire/json.h"
#include "wire/uri.h"

/* The names of the API's list. */
static const struct {
    const char *name;
    size_t at;
} fields[] = {
    {"state", offsetof(struct filter_options, state)},
    {"taskType", offsetof(struct filter_options, type)},
    {"queue", offsetof(struct filter_options, queue)},
    {"documentId", offsetof(struct filter_options, document)},
    {"priority", offsetof(struct filter_options, priority)},
    {"tag", offsetof(struct filter_options, tag)},
    {"createdAfter", offsetof(struct filter_options, after)},
    {"createdBefore", offsetof(struct filter_options, before)},
};

static struct str field(const struct filter_options *filter, size_t i)
{
    return *(const struct str *)((const char *)filter + fields[i].at);
}

bool filter_empty(const struct filter_options *filter)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_absent(field(filter, i))) {
            return false;
        }
    }
    return true;
}

void filter_query(const struct filter_options *filter, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_absent(field(filter, i))) {
            buf_printf(out, "&%s=", fields[i].name);
            uri_encode(out, field(filter, i));
        }
    }
}

void filter_json(const struct filter_options *filter, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_absent(field(filter, i))) {
            json_put_str(&w, fields[i].name, field(filter, i));
        }
    }
    json_close_object(&w);
}
