/* tests/client/test_otlp.c: spans as a collector reads them, and a line of them that is bounded.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "client/otlp.h"
#include "test.h"

static const struct otlp_options nowhere = {.endpoint = {"http://127.0.0.1:1", 18},
                                            .service = {"s", 1}};

TEST(a_request_of_spans_is_what_the_protocol_says)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(64 * KIB);
    struct list spans;
    struct otlp_span span = {.trace = "0af7651916cd43dd8448eb211c80319c",
                             .id = "00000000000000ab",
                             .parent = "b7ad6b7169203331",
                             .state = STR("a=b"),
                             .name = STR("ty\"pe"),
                             .start_ms = 1800000000123,
                             .end_ms = 1800000000124,
                             .status = OTLP_ERROR,
                             .message = STR("no"),
                             .attributes = {{"k", STR("v"), 0}, {"n", STR_NONE, 7}},
                             .attributes_count = 2};
    list_init(&spans);
    list_append(&spans, &span.link);
    otlp_write(&out, &nowhere, &spans);
    CHECK_STR(
        buf_view(&out),
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
        "\"stringValue\":\"s\"}},{\"key\":\"service.version\",\"value\":{\"stringValue\":"
        "\"" ERRAND_VERSION "\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"errand\",\"version\":"
        "\"" ERRAND_VERSION "\"},\"spans\":[{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
        "\"spanId\":\"00000000000000ab\",\"parentSpanId\":\"b7ad6b7169203331\",\"traceState\":"
        "\"a=b\",\"flags\":769,\"name\":\"ty\\\"pe\",\"kind\":5,\"startTimeUnixNano\":"
        "\"1800000000123000000\",\"endTimeUnixNano\":\"1800000000124000000\",\"attributes\":[{"
        "\"key\":\"k\",\"value\":{\"stringValue\":\"v\"}},{\"key\":\"n\",\"value\":{\"intValue\":"
        "\"7\"}}],\"status\":{\"code\":2,\"message\":\"no\"}}]}]}]}");
}

TEST(what_does_not_fit_into_the_line_is_dropped_and_counted)
{
    struct otlp *otlp;
    struct err err = ERR_INIT;
    const struct otlp_span span = {.trace = "1", .id = "1", .name = STR("t")};
    CHECK_OK(otlp_start(&nowhere, &otlp, &err));
    for (size_t i = 0; i < OTLP_WAITING_MAX + 5; i++) {
        otlp_give(otlp, &span);
    }
    struct otlp_figures figures = otlp_figures(otlp);
    CHECK_EQ(figures.dropped, 5);
    CHECK_EQ(figures.waiting, OTLP_WAITING_MAX);

    otlp_stop(otlp, SECOND_MS); /* nobody listens there: what waits cannot be sent */
    figures = otlp_figures(otlp);
    CHECK_EQ(figures.dropped, OTLP_WAITING_MAX + 5);
    CHECK_EQ(figures.sent, 0);
    CHECK_EQ(figures.waiting, 0);
    otlp_free(otlp);
}

TEST(a_setting_that_cannot_be_is_named)
{
    static const struct {
        const char *endpoint, *headers, *says;
    } rows[] = {
        {"http://h:4318", "a=b,c=d", NULL},
        {"https://h/prefix/v1/traces", "a=b=c,", NULL},
        {"h:4318", "", "[otel] endpoint must be http://HOST:PORT or https://HOST:PORT"},
        {"ftp://h", "", "[otel] endpoint must be http://HOST:PORT or https://HOST:PORT"},
        {"http://h", "a", "[otel] headers must be NAME=VALUE, separated by commas"},
        {"http://h", "a b=c", "[otel] headers must be NAME=VALUE, separated by commas"},
        {"http://h", "a=b\r\nc=d", "[otel] headers must be NAME=VALUE, separated by commas"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT;
        struct otlp_options options = {.endpoint = str_of(rows[i].endpoint),
                                       .headers = str_of(rows[i].headers)};
        CHECK_EQ(otlp_check(&options, &err), rows[i].says == NULL);
        CHECK_STR(str_of(err.text), rows[i].says == NULL ? "" : rows[i].says);
    }
}
