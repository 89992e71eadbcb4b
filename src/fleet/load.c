/* fleet/load.c: how busy a node is, as JSON and back. See load.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/load.h"

#include "wire/json.h"

static void put_names(struct json_writer *w, const char *key, const struct str *names, size_t count)
{
    json_put_array(w, key);
    for (size_t i = 0; i < count && count <= LOAD_NAMES_MAX; i++) {
        json_add_str(w, names[i]);
    }
    json_close_array(w);
}

void load_write(struct buf *out, const struct queue_load *load)
{
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    json_put_f64(&w, "created", load->created_per_second);
    json_put_f64(&w, "started", load->started_per_second);
    json_put_f64(&w, "finished", load->finished_per_second);
    json_put_i64(&w, "waiting", load->waiting_claims);
    json_put_i64(&w, "hintsLayout", load->hints_layout);
    json_put_i64(&w, "line", load->line);
    json_put_array(&w, "wants");
    for (size_t i = 0; i < load->wanted_count; i++) {
        const struct wanted *wanted = &load->wanted[i];
        json_open_object(&w);
        put_names(&w, "types", wanted->types, wanted->types_count);
        put_names(&w, "queues", wanted->queues, wanted->queues_count);
        json_put_bool(&w, "anyQueue", wanted->any_queue || wanted->queues_count > LOAD_NAMES_MAX);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
}

/* ---- Reading ---- */

static bool read_names(struct json *json, struct str **out, size_t *count, struct err *err)
{
    *out = arena_array(json->arena, struct str, LOAD_NAMES_MAX);
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (*count == LOAD_NAMES_MAX || !json_str(json, &(*out)[*count], err)) {
            return json_refuse(json, err, "holds too many names, or something else");
        }
        ++*count;
    }
    return json_ok(json);
}

static bool read_wanted(struct json *json, struct wanted *out, struct err *err)
{
    struct str key;
    *out = (struct wanted){0};
    if (!json_enter_object(json, err)) {
        return false;
    }
    while (json_member(json, &key, err)) {
        bool ok = str_is(key, "types")    ? read_names(json, &out->types, &out->types_count, err)
                  : str_is(key, "queues") ? read_names(json, &out->queues, &out->queues_count, err)
                  : str_is(key, "anyQueue") ? json_bool(json, &out->any_queue, err)
                                            : json_skip(json, err);
        if (!ok) {
            return false;
        }
    }
    return json_ok(json);
}

static bool read_wants(struct json *json, struct queue_load *out, struct err *err)
{
    out->wanted = arena_array(json->arena, struct wanted, LOAD_WANTED_MAX);
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (out->wanted_count == LOAD_WANTED_MAX) {
            return json_refuse(json, err, "holds too many");
        }
        if (!read_wanted(json, &out->wanted[out->wanted_count++], err)) {
            return false;
        }
    }
    return json_ok(json);
}

bool load_read(struct str text, struct arena *arena, struct queue_load *out, struct err *err)
{
    struct json json;
    struct str key;
    *out = (struct queue_load){0};
    json_start(&json, text, arena);
    if (!json_enter_object(&json, err)) {
        return false;
    }
    while (json_member(&json, &key, err)) {
        bool ok = str_is(key, "created")       ? json_f64(&json, &out->created_per_second, err)
                  : str_is(key, "started")     ? json_f64(&json, &out->started_per_second, err)
                  : str_is(key, "finished")    ? json_f64(&json, &out->finished_per_second, err)
                  : str_is(key, "waiting")     ? json_i64(&json, &out->waiting_claims, err)
                  : str_is(key, "hintsLayout") ? json_i64(&json, &out->hints_layout, err)
                  : str_is(key, "line")        ? json_i64(&json, &out->line, err)
                  : str_is(key, "wants") && out->wanted == NULL ? read_wants(&json, out, err)
                                                                : json_skip(&json, err);
        if (!ok) {
            return false;
        }
    }
    return json_end(&json, err);
}
