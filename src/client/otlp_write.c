/* client/otlp_write.c: a request of spans in the JSON of OTLP. See otlp.h.
 *
 * As the protocol has it: ids are hex, whole numbers of 64 bits are strings, enums are numbers.
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "client/otlp.h"
#include "wire/json.h"

#define KIND_CONSUMER      5
#define FLAGS_SAMPLED      0x001
#define FLAGS_REMOTE_KNOWN 0x100 /* it is said whether the parent lives elsewhere … */
#define FLAGS_REMOTE       0x200 /* … and it does */

static void put_attribute(struct json_writer *w, const char *key, struct str text, int64_t number)
{
    char digits[24];
    json_open_object(w);
    json_put_c(w, "key", key);
    json_key(w, "value");
    json_open_object(w);
    if (str_absent(text)) {
        snprintf(digits, sizeof digits, "%" PRId64, number);
        json_put_c(w, "intValue", digits);
    } else {
        json_put_str(w, "stringValue", text);
    }
    json_close_object(w);
    json_close_object(w);
}

static void put_nanoseconds(struct json_writer *w, const char *key, int64_t ms)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRId64 "000000", MAX(ms, 0));
    json_put_c(w, key, ms > 0 ? digits : "0");
}

static void put_span(struct json_writer *w, const struct otlp_span *span)
{
    bool child = span->parent[0] != '\0';
    json_open_object(w);
    json_put_c(w, "traceId", span->trace);
    json_put_c(w, "spanId", span->id);
    if (child) {
        json_put_c(w, "parentSpanId", span->parent);
    }
    if (!str_absent(span->state)) {
        json_put_str(w, "traceState", span->state);
    }
    json_put_i64(w, "flags", FLAGS_SAMPLED | FLAGS_REMOTE_KNOWN | (child ? FLAGS_REMOTE : 0));
    json_put_str(w, "name", span->name);
    json_put_i64(w, "kind", KIND_CONSUMER);
    put_nanoseconds(w, "startTimeUnixNano", span->start_ms);
    put_nanoseconds(w, "endTimeUnixNano", MAX(span->end_ms, span->start_ms));
    json_put_array(w, "attributes");
    for (size_t i = 0; i < span->attributes_count; i++) {
        const struct otlp_attribute *attribute = &span->attributes[i];
        put_attribute(w, attribute->key, attribute->text, attribute->number);
    }
    json_close_array(w);
    json_key(w, "status");
    json_open_object(w);
    if (span->status != OTLP_UNSET) {
        json_put_i64(w, "code", span->status);
    }
    if (span->status == OTLP_ERROR && !str_absent(span->message)) {
        json_put_str(w, "message", span->message);
    }
    json_close_object(w);
    json_close_object(w);
}

static void put_resource(struct json_writer *w, const struct otlp_options *options)
{
    json_key(w, "resource");
    json_open_object(w);
    json_put_array(w, "attributes");
    put_attribute(w, "service.name", options->service, 0);
    put_attribute(w, "service.version", STR(ERRAND_VERSION), 0);
    if (!str_absent(options->instance)) {
        put_attribute(w, "service.instance.id", options->instance, 0);
    }
    json_close_array(w);
    json_close_object(w);
}

void otlp_write(struct buf *out, const struct otlp_options *options, const struct list *spans)
{
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    json_put_array(&w, "resourceSpans");
    json_open_object(&w);
    put_resource(&w, options);
    json_put_array(&w, "scopeSpans");
    json_open_object(&w);
    json_key(&w, "scope");
    json_open_object(&w);
    json_put_c(&w, "name", "errand");
    json_put_c(&w, "version", ERRAND_VERSION);
    json_close_object(&w);
    json_put_array(&w, "spans");
    LIST_EACH(spans, it)
    {
        put_span(&w, HOLDER(it, struct otlp_span, link));
    }
    json_close_array(&w);
    json_close_object(&w);
    json_close_array(&w);
    json_close_object(&w);
    json_close_array(&w);
    json_close_object(&w);
}
