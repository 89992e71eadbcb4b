/* work/push_answer.c: what an answer to a push means for its task. See push_answer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/push_answer.h"

#include "wire/json.h"
#include "wire/time.h"
#include "work/push.h"
#include "work/text.h"

enum { REQUEST_TIMEOUT = 408, CONFLICT = 409, TOO_MANY_REQUESTS = 429, UNAVAILABLE = 503 };

/* A date is compared with the answer's own Date, if it has one: only the difference is meant, and
 * our clocks may differ. */
static int64_t wait_until_date(const struct push_answer *answer, int64_t now_ms)
{
    struct err ignored = ERR_INIT;
    int64_t until_ms, date_ms;
    if (!time_parse_http(answer->retry_after, &until_ms, &ignored)) {
        return 0;
    }
    bool dated = !str_absent(answer->date) && time_parse_http(answer->date, &date_ms, &ignored);
    return MAX(until_ms - (dated ? date_ms : now_ms), 0);
}

static int64_t retry_after_ms(const struct push_answer *answer, int64_t now_ms)
{
    uint64_t seconds;
    if (str_absent(answer->retry_after)) {
        return 0;
    }
    if (!str_u64(answer->retry_after, &seconds)) {
        return MIN(wait_until_date(answer, now_ms), PUSH_RETRY_AFTER_MAX_MS);
    }
    return (int64_t)MIN(seconds, (uint64_t)(PUSH_RETRY_AFTER_MAX_MS / SECOND_MS)) * SECOND_MS;
}

static struct str detail(const struct push_answer *answer, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(JOB_DETAIL_MAX);
    struct json_writer writer = JSON_WRITER(&json);
    json_open_object(&writer);
    json_put_i64(&writer, "status", answer->status);
    if (answer->body.len > 0) {
        json_put_str(&writer, "body", text_clean(arena, answer->body, PUSH_BODY_SHOWN));
    }
    json_close_object(&writer);
    return json.full ? STR_NONE : arena_str(arena, buf_view(&json));
}

static struct job_end judge_status(const struct push_answer *answer, int64_t now_ms,
                                   struct arena *arena)
{
    int status = answer->status;
    struct job_end end = {
        .retry = status < 400 || status > 499 || status == REQUEST_TIMEOUT || status == CONFLICT ||
                 status == TOO_MANY_REQUESTS,
        .error = {.code = arena_printf(arena, "http_%d", answer->status),
                  .message = arena_printf(arena, "the endpoint answered %d", answer->status),
                  .detail = detail(answer, arena)}};
    if (answer->status == TOO_MANY_REQUESTS || answer->status == UNAVAILABLE) {
        end.retry_after_ms = retry_after_ms(answer, now_ms);
    }
    return end;
}

struct job_end push_cloud_judge(const struct push_answer *answer, int64_t now_ms,
                                struct arena *arena)
{
    bool good = answer->status >= 200 && answer->status <= 299;
    if (answer->refused != NULL || (answer->broken != NULL && answer->status == 0)) {
        return push_judge(answer, now_ms, arena);
    }
    if (!good) { /* what is 4xx is tried again, too */
        struct job_end end = judge_status(answer, now_ms, arena);
        end.retry = true;
        return end;
    }
    /* Nobody reads more of an answer than its status. */
    return (struct job_end){.completed = true,
                            .result = arena_printf(arena, "{\"status\":%d}", answer->status)};
}

struct job_end push_judge(const struct push_answer *answer, int64_t now_ms, struct arena *arena)
{
    bool good = answer->status >= 200 && answer->status <= 299;
    if (answer->refused != NULL) {
        struct job_end end = JOB_FAIL("address_refused", str_of(answer->refused));
        end.retry = false;
        return end;
    }
    if (good && answer->body_cut) {
        return JOB_FAIL("result_too_large", STR("the endpoint's answer is over 1 MiB"));
    }
    if (answer->broken != NULL && (good || answer->status == 0)) {
        return JOB_FAIL("unreachable", str_of(answer->broken));
    }
    if (!good) {
        return judge_status(answer, now_ms, arena);
    }
    return (struct job_end){.completed = true, .result = text_to_json(arena, answer->body)};
}
