/* tests/fuzz/fuzz_english.c: any text is a schedule that is sound, or is refused with a reason; and
 * a schedule said in English is read as the same again.
 *
 * The first bytes choose the zone and the time; the rest is the sentence.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit.h"
#include "english/english.h"
#include "english/summary.h"
#include "fuzz.h"
#include "wire/time.h"
#include "zones.h"

#define HEAD 4

static void check_refusal(const struct english_refusal *refusal)
{
    FUZZ_CLAIM(refusal->reason.len > 0 && refusal->fields_count > 0);
    FUZZ_CLAIM(refusal->fields[0] != NULL);
}

static void check_words(const struct english_asked *asked, const struct english_read *read)
{
    const char *end = asked->text.ptr;
    for (size_t i = 0; i < read->words_count; i++) {
        FUZZ_CLAIM(read->words[i].text.ptr >= end && read->words[i].text.len > 0);
        end = read->words[i].text.ptr + read->words[i].text.len;
    }
    FUZZ_CLAIM(end <= asked->text.ptr + asked->text.len);
    FUZZ_CLAIM(read->title.len > 0 && read->title.len <= ENGLISH_TITLE_MAX);
    FUZZ_CLAIM(str_is_utf8(read->title) && str_is_utf8(read->purpose));
}

static void check_again(const struct english_asked *asked, const struct english_read *read,
                        const struct recur_order *order, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    struct english_asked again = *asked;
    struct english_read same;
    summary_write(&text, order);
    again.text = buf_view(&text);
    english_read(&again, arena, &same);
    FUZZ_CLAIM(same.kind == read->kind);
    FUZZ_CLAIM(str_eq(same.rrule, read->rrule));
    FUZZ_CLAIM(read->kind != ENGLISH_ONCE || same.first_ms == read->first_ms);
}

static void check_read(const struct english_asked *asked, struct arena *arena)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct english_read read;
    struct rrule back;
    int64_t first;
    english_read(asked, arena, &read);
    if (read.kind == ENGLISH_REFUSED) {
        check_refusal(&read.refusal);
        return;
    }
    check_words(asked, &read);
    bool recurring = read.kind == ENGLISH_RECURRING;
    struct recur_order order = {.start = read.start,
                                .rule = recurring ? &read.rule : NULL,
                                .zone = asked->zone,
                                .exdates = read.exdates,
                                .exdates_count = read.exdates_count};
    FUZZ_CLAIM(read.first_ms > asked->now_ms && read.first_ms <= TIME_MAX_MS);
    FUZZ_CLAIM(!recurring || rrule_parse(read.rrule, &back, NULL));
    FUZZ_CLAIM(recur_new(&order, &recur, NULL) && recur_first(recur, &first));
    FUZZ_CLAIM(first == read.first_ms);
    if (!(read.rule.has & RRULE_BYYEARDAY)) { /* every Cyber Monday: no sentence says such days */
        check_again(asked, &read, &order, arena);
    }
}

static void check_edit(const struct english_asked *asked, struct arena *arena)
{
    struct rrule weekly, hourly;
    struct edit_read read;
    FUZZ_CLAIM(rrule_parse(STR("FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=30"), &weekly, NULL));
    FUZZ_CLAIM(rrule_parse(STR("FREQ=HOURLY;INTERVAL=6"), &hourly, NULL));
    const struct edit_schedule schedules[] = {
        {.title = STR("weekly report"), .rule = &weekly, .next_ms = asked->now_ms + HOUR_MS},
        {.title = STR("log cleanup"), .rule = &hourly, .next_ms = asked->now_ms + MINUTE_MS},
        {.title = STR("call mom"), .next_ms = asked->now_ms + DAY_MS},
    };
    struct edit_asked edit = {.text = asked->text,
                              .now_ms = asked->now_ms,
                              .zone = asked->zone,
                              .schedules = schedules,
                              .count = ARRAY_LEN(schedules)};
    english_edit(&edit, arena, &read);
    if (read.op == EDIT_REFUSED) {
        check_refusal(&read.refusal);
    }
    for (size_t i = 0; i < read.count; i++) {
        FUZZ_CLAIM(read.changes[i].which < ARRAY_LEN(schedules));
        FUZZ_CLAIM(read.op != EDIT_RESCHEDULE || read.changes[i].next_ms > asked->now_ms);
    }
}

void fuzz_one(struct str text)
{
    static const char *const names[] = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const unsigned char *head = (const unsigned char *)text.ptr;
    if (text.len < HEAD) {
        return;
    }
    SCOPED(zone_release_at)
    const struct zone *zone = fuzz_zone(names, ARRAY_LEN(names), head[0] % 4);
    struct english_asked asked = {.text = str_from(text, HEAD), .zone = zone};
    /* Between 2020 and 2090, at any hour. */
    asked.now_ms = 1577836800000 + (head[1] * 100 + head[2]) * DAY_MS + head[3] * 337 * SECOND_MS;
    check_read(&asked, &arena);
    check_edit(&asked, &arena);
}
