/* tests/fuzz/fuzz_body.c: bodies and queries of the API, whatever they hold.
 *
 * The first byte chooses who reads the rest. What is refused says why; an order that is taken can
 * be shown again as valid JSON.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "net/filter_in.h"
#include "net/task_in.h"
#include "net/task_out.h"
#include "net/work_in.h"

#define PAYLOAD_MAX (64 * KIB)

static void check_shown(const struct task *task)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(16 * MIB);
    struct json_writer w = JSON_WRITER(&buf);
    task_write(&w, task);
    FUZZ_CLAIM(json_valid(buf_view(&buf), NULL));
}

static bool read_orders(struct json *json, struct err *err)
{
    struct create_in in;
    if (!create_read(json, PAYLOAD_MAX, &in, err)) {
        return false;
    }
    FUZZ_CLAIM(in.count <= CREATE_MAX && (in.many || in.count == 1));
    for (size_t i = 0; i < in.count; i++) {
        check_shown(&in.orders[i].task);
    }
    return true;
}

static bool read_claim(struct json *json, struct err *err)
{
    struct claim_in in;
    return claim_read(json, &in, err);
}

static bool read_heartbeat(struct json *json, struct err *err)
{
    struct command_heartbeat beat = {0};
    return heartbeat_read(json, &beat, err);
}

static bool read_failure(struct json *json, struct err *err)
{
    struct finish finish = {.outcome = OUTCOME_FAILED};
    return finish_read(json, &finish, err);
}

static bool read_endings(struct json *json, struct err *err)
{
    struct command_finish finish;
    return finishes_read(json, &finish, err);
}

static bool read_bulk(struct json *json, struct err *err)
{
    return bulk_read(json, &(struct bulk_in){.takes_reason = true}, err);
}

static bool read_body(char which, struct json *json, struct err *err)
{
    switch (which) {
    case 'a':
        return read_endings(json, err);
    case 'b':
        return read_bulk(json, err);
    case 'c':
        return read_claim(json, err);
    case 'f':
        return read_failure(json, err);
    case 'h':
        return read_heartbeat(json, err);
    default:
        return read_orders(json, err);
    }
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json;
    struct task_filter filter = {0};
    struct str rest = text.len == 0 ? STR("") : str_from(text, 1);
    char which = text.len == 0 ? 'o' : text.ptr[0];
    json_start(&json, rest, &arena);
    bool ok = which == 'q' ? form_query(rest, &list_form, &arena, &filter, &err)
                           : read_body(which, &json, &err);
    FUZZ_CLAIM(ok == (err.kind == ERR_NONE));
    FUZZ_CLAIM(ok || err.text[0] != '\0');
}
