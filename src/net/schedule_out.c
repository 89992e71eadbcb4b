/* net/schedule_out.c: schedules and executions as JSON. See schedule_out.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/schedule_out.h"

#include "english/english.h"
#include "english/summary.h"
#include "net/fault.h"
#include "net/task_out.h"

#define SUMMARY_MAX (4 * KIB)

/* What is shown beside the fields. What is too long for a list is left out, and said to be. */
struct omitted {
    bool payload, messages, content;
    struct str summary;
    struct str warnings[SCHEDULE_WARNINGS];
    size_t warnings_count;
};

static void show_warnings(struct json_writer *w, const struct form_row *row, const void *from)
{
    const struct omitted *omitted = from;
    if (omitted->warnings_count == 0) {
        return;
    }
    json_put_array(w, row->name.ptr);
    for (size_t i = 0; i < omitted->warnings_count; i++) {
        json_add_str(w, omitted->warnings[i]);
    }
    json_close_array(w);
}

static const struct form_hook warnings_hook = {.show = show_warnings};

#define ROW(label, member, sentence)                                                               \
    FORM_ROW(label, struct omitted, member, FORM_YES, FORM_SHOWN, .about = sentence)

static const struct form_row schedule_rows[] = {
    FORM_ROW("summary", struct omitted, summary, FORM_TEXT, FORM_SHOWN,
             .about = "When it runs, in English; exdates and rdates are not mentioned."),
    ROW("payloadOmitted", payload, "In lists: the payload is over 4 KiB."),
    ROW("messagesOmitted", messages, "In lists: the messages are over 4 KiB."),
    FORM_ROW("warnings", struct omitted, warnings, FORM_HOOK, FORM_SHOWN, .hook = &warnings_hook,
             .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
             .about = "When it is made or changed: what this server lacks to do it."),
};
static const struct form_row execution_rows[] = {
    ROW("contentOmitted", content, "In lists: the content is over 4 KiB."),
};
const struct form schedule_omitted = FORM(schedule_rows);
const struct form execution_omitted = FORM(execution_rows);

static bool omit(struct str *text, bool in_list)
{
    bool long_one = in_list && text->len > LIST_OMIT_OVER;
    *text = long_one ? STR_NONE : *text;
    return long_one;
}

/* Of the rule alone: to look for its next times is what costs, and so does to look for its zone,
 * which only what is said in UTC needs. Absent where it cannot be read, which a newer server may
 * have written. */
static struct str summary_of(const struct schedule *schedule, struct zones *zones, struct buf *out)
{
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    struct rrule rule;
    bool often = !str_absent(schedule->rrule);
    struct recur_order order = {.rule = often ? &rule : NULL};
    if ((often && !rrule_parse(schedule->rrule, &rule, NULL)) ||
        !when_parse(schedule->dtstart, &order.start, NULL)) {
        return STR_NONE;
    }
    bool in_utc = order.start.is_utc || (often && rule.until == RRULE_UNTIL_UTC);
    if (in_utc && !zones_get(zones, schedule->timezone, &zone, NULL)) {
        return STR_NONE;
    }
    order.zone = zone;
    summary_write(out, &order);
    if (!in_utc) {
        buf_printf(out, ", " STR_FMT, STR_ARG(schedule->timezone));
    }
    return out->full ? STR_NONE : buf_view(out);
}

void schedule_write(struct json_writer *w, const struct schedule *schedule, const struct api *api,
                    bool in_list)
{
    struct schedule shown = *schedule;
    SCOPED(buf_fini) struct buf text = BUF_INIT(SUMMARY_MAX);
    const struct omitted omitted = {
        .payload = omit(&shown.payload, in_list),
        .messages = omit(&shown.messages, in_list),
        .summary = summary_of(schedule, planner_zones(api->parts.planner), &text)};
    json_open_object(w);
    form_show(w, &schedule_form, &shown);
    form_show(w, &schedule_omitted, &omitted);
    json_close_object(w);
}

void schedule_write_made(struct json_writer *w, const struct schedule *schedule,
                         const struct api *api)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(SUMMARY_MAX);
    struct omitted also = {.summary =
                               summary_of(schedule, planner_zones(api->parts.planner), &text)};
    bool thinks = api->parts.assistant != NULL;
    if ((schedule->delivery & (1u << CHANNEL_EMAIL)) != 0 && !api->options.mails) {
        also.warnings[also.warnings_count++] =
            STR("nothing is delivered by EMAIL: this server has no [smtp]");
    }
    if (str_is(schedule->type, "prompt") && !thinks) {
        also.warnings[also.warnings_count++] =
            STR("its runs wait for a worker outside that takes prompt: this server has no [llm]");
    }
    json_open_object(w);
    form_show(w, &schedule_form, schedule);
    form_show(w, &schedule_omitted, &also);
    json_close_object(w);
}

void execution_write(struct json_writer *w, const struct execution *execution, bool in_list)
{
    struct execution shown = *execution;
    const struct omitted omitted = {.content = omit(&shown.content, in_list), .summary = STR_NONE};
    shown.queries = MAX(shown.queries, 0);
    shown.tokens = MAX(shown.tokens, 0);
    shown.progress = str_absent(shown.progress) ? STR("[]") : shown.progress;
    shown.deliveries = str_absent(shown.deliveries) ? STR("{}") : shown.deliveries;
    json_open_object(w);
    form_show(w, &execution_form, &shown);
    form_show(w, &execution_omitted, &omitted);
    json_close_object(w);
}

/* ---- Refusals ---- */

void schedule_refuse(struct call *call, int status, const struct err *err,
                     const struct english_refusal *refusal)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    if (status == 200) {
        json_put_c(&w, "mode", "REFUSAL");
    }
    json_key(&w, "error");
    fault_write(&w, err);
    json_put_object(&w, "refusal");
    json_put_array(&w, "fields");
    if (err->field[0] != '\0') {
        json_add_str(&w, str_of(err->field));
    }
    for (size_t i = 0; refusal != NULL && i < refusal->fields_count; i++) {
        json_add_str(&w, str_of(refusal->fields[i]));
    }
    json_close_array(&w);
    json_put_c(&w, "reason", err->text);
    json_close_object(&w);
    json_close_object(&w);
    call_answer(call, status);
}

void schedule_fail(struct call *call)
{
    if (call->failure.kind == ERR_REFUSED) {
        schedule_refuse(call, fault_status(ERR_REFUSED), &call->failure, NULL);
    } else {
        call_fail(call, &call->failure);
    }
}
