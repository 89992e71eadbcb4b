/* fleet/load.c: how busy a node is, as JSON and back, by one table of its fields. See load.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/load.h"

#include "wire/form.h"

/* ---- What one worker would take ---- */

struct told { /* struct wanted, as a form knows lists of texts */
    struct form_texts types, queues;
    bool any_queue;
};

static const struct form_row told_rows[] = {
    FORM_ROW("types", struct told, types, FORM_TEXTS, FORM_KEPT | FORM_ALWAYS,
             .max = LOAD_NAMES_MAX),
    FORM_ROW("queues", struct told, queues, FORM_TEXTS, FORM_KEPT | FORM_ALWAYS,
             .max = LOAD_NAMES_MAX),
    FORM_ROW("anyQueue", struct told, any_queue, FORM_BOOL, FORM_KEPT),
};
static const struct form told_form = FORM(told_rows);

static void put_wants(struct json_writer *w, const struct form_row *row, const void *from)
{
    const struct queue_load *load = from;
    json_put_array(w, row->name.ptr);
    for (size_t i = 0; i < load->wanted_count; i++) {
        const struct wanted *wanted = &load->wanted[i];
        bool many_types = wanted->types_count > LOAD_NAMES_MAX;
        bool many_queues = wanted->queues_count > LOAD_NAMES_MAX;
        const struct told told = {
            .types = {wanted->types, many_types ? 0 : wanted->types_count},
            .queues = {wanted->queues, many_queues ? 0 : wanted->queues_count},
            .any_queue = wanted->any_queue || many_queues};
        form_keep(w, &told_form, &told);
    }
    json_close_array(w);
}

static bool read_wants(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct queue_load *out = into;
    (void)row;
    out->wanted = arena_array(json->arena, struct wanted, LOAD_WANTED_MAX);
    out->wanted_count = 0;
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        struct told told = {0};
        struct str raw;
        if (out->wanted_count == LOAD_WANTED_MAX) {
            return json_refuse(json, err, "holds too many");
        }
        if (!json_raw(json, &raw, err) || !form_load(raw, &told_form, json->arena, &told, err)) {
            return false;
        }
        out->wanted[out->wanted_count++] = (struct wanted){.types = told.types.at,
                                                           .types_count = told.types.count,
                                                           .queues = told.queues.at,
                                                           .queues_count = told.queues.count,
                                                           .any_queue = told.any_queue};
    }
    return json_ok(json);
}

/* ---- What it has done since its start: sums, then the buckets of both histograms ---- */

static void put_numbers(struct buf *out, const uint64_t *numbers, size_t count)
{
    while (count > 0 && numbers[count - 1] == 0) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        buf_u64(out, numbers[i]);
        buf_c(out, i + 1 < count ? "," : "");
    }
}

static void put_series(struct json_writer *w, const struct form_row *row, const void *from)
{
    const struct series_sums *sums = &((const struct queue_load *)from)->series;
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    buf_printf(&text, "%lld,%lld,%lld,%lld,%lld;", (long long)sums->created,
               (long long)sums->started, (long long)sums->completed, (long long)sums->failed,
               (long long)sums->changed);
    put_numbers(&text, sums->wait.buckets, HISTOGRAM_BUCKETS);
    buf_char(&text, ';');
    put_numbers(&text, sums->run.buckets, HISTOGRAM_BUCKETS);
    json_put_str(w, row->name.ptr, buf_view(&text));
}

static bool take_buckets(struct str text, struct histogram *out)
{
    for (size_t i = 0; !str_absent(text) && text.len > 0; i++) {
        if (i == HISTOGRAM_BUCKETS || !str_u64(str_cut(&text, ','), &out->buckets[i])) {
            return false;
        }
        out->count += out->buckets[i];
    }
    return true;
}

static bool take_sums(struct str text, struct series_sums *out)
{
    struct str sums = str_cut(&text, ';'), wait = str_absent(text) ? text : str_cut(&text, ';');
    *out = (struct series_sums){.created = 0};
    int64_t *const counts[] = {&out->created, &out->started, &out->completed, &out->failed,
                               &out->changed};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        if (str_absent(sums) || !str_i64(str_cut(&sums, ','), counts[i])) {
            return false;
        }
    }
    return str_absent(sums) && take_buckets(wait, &out->wait) && take_buckets(text, &out->run);
}

static bool read_series(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct queue_load *load = into;
    struct str text;
    (void)row;
    return json_str(json, &text, err) &&
           (take_sums(text, &load->series) || json_refuse(json, err, "cannot be read"));
}

/* ---- A node's load ---- */

static const struct form_hook series_hook = {.read = read_series, .show = put_series};
static const struct form_hook wants_hook = {.read = read_wants, .show = put_wants};

#define RATE(name, member)                                                                         \
    FORM_ROW(name, struct queue_load, member, FORM_F64, FORM_KEPT, .max = INT64_MAX)
#define COUNT(name, member)                                                                        \
    FORM_ROW(name, struct queue_load, member, FORM_I64, FORM_KEPT, .min = INT64_MIN,               \
             .max = INT64_MAX)

static const struct form_row load_rows[] = {
    RATE("created", created_per_second),
    RATE("started", started_per_second),
    RATE("finished", finished_per_second),
    COUNT("waiting", waiting_claims),
    COUNT("hintsLayout", hints_layout),
    COUNT("line", line),
    FORM_ROW("series", struct queue_load, series, FORM_HOOK, FORM_KEPT, .hook = &series_hook),
    FORM_ROW("wants", struct queue_load, wanted, FORM_HOOK, FORM_KEPT, .hook = &wants_hook),
};
static const struct form load_form = FORM(load_rows);

void load_write(struct buf *out, const struct queue_load *load)
{
    struct json_writer w = JSON_WRITER(out);
    form_keep(&w, &load_form, load);
}

bool load_read(struct str text, struct arena *arena, struct queue_load *out, struct err *err)
{
    *out = (struct queue_load){0};
    return form_load(text, &load_form, arena, out, err);
}
