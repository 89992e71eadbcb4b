/* net/on_series.c: the figures of the last minutes, step by step. Counted in queue/series.h.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/on.h"

#define MINUTES_DEFAULT 60

struct series_in {
    int64_t minutes;
};
static const struct form_row series_rows[] = {
    FORM_ROW("minutes", struct series_in, minutes, FORM_I64, FORM_SET | FORM_DEFAULT,
             .min = SERIES_MINUTES_MIN, .max = SERIES_MINUTES_MAX, .standard = MINUTES_DEFAULT,
             .about = "How far back; steps are as long as needed for at most 300 of them."),
};
const struct form series_form = FORM(series_rows);

#define COUNT(name, member)                                                                        \
    {                                                                                              \
        name, offsetof(struct series_point, member), false                                         \
    }
#define QUANTILE(name, member)                                                                     \
    {                                                                                              \
        name, offsetof(struct series_point, member), true                                          \
    }
static const struct {
    const char *name;
    size_t at;
    bool is_quantile;
} lists[] = {
    COUNT("created", created),
    COUNT("started", started),
    COUNT("completed", completed),
    COUNT("failed", failed),
    COUNT("queued", queued),
    COUNT("running", running),
    QUANTILE("waitP95Ms", wait_p95_ms),
    QUANTILE("runP95Ms", run_p95_ms),
};

static void add_value(struct json_writer *w, const struct series_point *point, size_t list)
{
    const char *at = (const char *)point + lists[list].at;
    double quantile = lists[list].is_quantile ? *(const double *)at : 0;
    if (!point->known || quantile < 0) {
        json_add_null(w);
    } else if (lists[list].is_quantile) {
        json_add_f64(w, quantile);
    } else {
        json_add_i64(w, *(const int64_t *)at);
    }
}

static void answer(struct call *call)
{
    const struct series_view *view = &((struct command *)call->own)->series.view;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_i64(&w, "stepMs", view->step_ms);
    json_put_time(&w, "from", view->from_ms);
    for (size_t list = 0; list < ARRAY_LEN(lists); list++) {
        json_put_array(&w, lists[list].name);
        for (size_t i = 0; i < view->count; i++) {
            add_value(&w, &view->points[i], list);
        }
        json_close_array(&w);
    }
    json_close_object(&w);
    call_answer(call, 200);
}

bool on_series_show(struct call *call, struct err *err)
{
    struct series_in in = {.minutes = MINUTES_DEFAULT};
    if (!call_asked(call, &series_form, &in, err)) {
        return false;
    }
    struct command *command = call_command(call, COMMAND_SERIES);
    command->series.minutes = in.minutes;
    call->own = command;
    call->done = answer;
    return true;
}
