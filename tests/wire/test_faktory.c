/* tests/wire/test_faktory.c: claims about what Faktory's clients say and are told.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "test.h"
#include "wire/faktory.h"

#define ARENA SCOPED(arena_fini) struct arena arena = ARENA_INIT

TEST(a_line_ends_with_lf_and_loses_one_cr)
{
    struct str line;
    size_t used;
    CHECK(faktory_cut(STR("INFO\r\nrest"), 0, &line, &used));
    CHECK_STR(line, "INFO");
    CHECK_EQ(used, 6);
    CHECK(faktory_cut(STR("INFO\n"), 4, &line, &used));
    CHECK_STR(line, "INFO");
    CHECK(faktory_cut(STR("x\r\r\n"), 0, &line, &used));
    CHECK_STR(line, "x\r");
    CHECK(faktory_cut(STR("\n"), 0, &line, &used));
    CHECK_STR(line, "");
    CHECK(!faktory_cut(STR("no end"), 0, &line, &used));
    CHECK(!faktory_cut(STR(""), 0, &line, &used));
}

TEST(a_verb_ends_at_the_first_space_and_is_upper_case)
{
    struct faktory_line line = faktory_line(STR("PUSH {\"a\": 1}"));
    CHECK_EQ(line.verb, FAKTORY_PUSH);
    CHECK_STR(line.rest, "{\"a\": 1}");
    CHECK_EQ(faktory_line(STR("PUSHB []")).verb, FAKTORY_PUSHB);
    CHECK_EQ(faktory_line(STR("info")).verb, FAKTORY_UNKNOWN);
    CHECK_EQ(faktory_line(STR("")).verb, FAKTORY_UNKNOWN);
    CHECK_EQ(faktory_line(STR("END")).rest.len, 0);
}

TEST(empty_names_between_spaces_are_no_names)
{
    struct str names[3];
    CHECK_EQ(faktory_words(STR(" a  b "), names, 3), 2);
    CHECK_STR(names[0], "a");
    CHECK_STR(names[1], "b");
    CHECK_EQ(faktory_words(STR("a b c d"), names, 3), 3);
    CHECK_EQ(faktory_words(STR("   "), names, 3), 0);
}

static bool reads(const char *text, struct arena *arena, struct faktory_job *job, struct err *err)
{
    *err = ERR_INIT;
    return faktory_read_job(str_of(text), arena, job, err);
}

TEST(a_job_has_the_standards_of_the_protocol)
{
    ARENA;
    struct faktory_job job;
    struct err err;
    CHECK(reads("{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[1, 2],\"priority\":5,"
                "\"retry\":null,\"custom\":null,\"unknown\":{}}",
                &arena, &job, &err));
    CHECK_STR(job.args, "[1, 2]");
    CHECK_STR(job.queue, "default");
    CHECK_EQ(job.retry, 25);
    CHECK_EQ(job.reserve_for, 0);
    CHECK(str_absent(job.custom));
}

TEST(a_retry_of_one_job_is_no_standard_for_the_next)
{
    ARENA;
    struct faktory_job job;
    struct err err;
    CHECK(reads("{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"retry\":3}", &arena, &job,
                &err));
    CHECK_EQ(job.retry, 3);
    CHECK(reads("{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[]}", &arena, &job, &err));
    CHECK_EQ(job.retry, 25);
}

TEST(a_bad_job_is_refused_in_the_words_that_clients_know)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"{\"jobtype\":\"t\",\"args\":[]}", "jobs must have a reasonable jid parameter"},
        {"{\"jid\":\"1234567\",\"jobtype\":\"t\",\"args\":[]}",
         "jobs must have a reasonable jid parameter"},
        {"{\"jid\":\"12345678\",\"args\":[]}", "jobs must have a jobtype parameter"},
        {"{\"jid\":\"12345678\",\"jobtype\":\"\",\"args\":[]}",
         "jobs must have a jobtype parameter"},
        {"{\"jid\":\"12345678\",\"jobtype\":\"t\"}", "jobs must have an args parameter"},
        {"{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":null}",
         "jobs must have an args parameter"},
        {"{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"reserve_for\":86401}",
         "jobs cannot be reserved for more than one day"},
        {"{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"at\":\"soon\"}",
         "invalid timestamp for 'at': 'soon'"},
        {"{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"queue\":\"a b\"}",
         "queue names must match [a-zA-Z0-9._-]+"},
    };
    ARENA;
    struct faktory_job job;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK(!reads(rows[i].text, &arena, &job, &err));
        CHECK_STR(str_of(err.text), rows[i].why);
    }
}

TEST(wrong_types_and_loose_json_are_invalid_json)
{
    static const char *const texts[] = {
        "{\"jid\":1,\"jobtype\":\"t\",\"args\":[]}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":{}}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"retry\":\"3\"}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"retry\":1.5}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"custom\":[]}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[]} x",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[01]}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[NaN]}",
        "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[\"\xff\"]}",
        "[]",
        "",
        "{"};
    ARENA;
    struct faktory_job job;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CHECK(!reads(texts[i], &arena, &job, &err));
        CHECK(str_starts(str_of(err.text), STR("invalid JSON")));
    }
}

TEST(arguments_nested_too_deeply_are_refused_without_recursion)
{
    ARENA;
    struct faktory_job job;
    struct err err;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    buf_c(&text, "{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":");
    for (int i = 0; i < 100000; i++) {
        buf_char(&text, '[');
    }
    CHECK(!reads(buf_c_text(&text), &arena, &job, &err));
}

TEST(what_errand_knows_of_custom_is_read_and_the_rest_is_left_alone)
{
    ARENA;
    struct faktory_job job;
    struct err err;
    CHECK(reads("{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"custom\":{\"x\":[1],"
                "\"document_id\":\"d\",\"priority\":3,\"unique_for\":60,"
                "\"unique_until\":\"start\",\"depends_on\":[\"a\"]}}",
                &arena, &job, &err));
    CHECK_STR(job.known.document_id, "d");
    CHECK_STR(job.known.priority, "3");
    CHECK_EQ(job.known.unique_for, 60);
    CHECK_STR(job.known.depends_on, "[\"a\"]");
    CHECK(str_starts(job.custom, STR("{\"x\":[1],")));
    CHECK(!reads("{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"custom\":"
                 "{\"document_id\":5}}",
                 &arena, &job, &err));
    CHECK(!reads("{\"jid\":\"12345678\",\"jobtype\":\"t\",\"args\":[],\"custom\":"
                 "{\"unique_for\":-1}}",
                 &arena, &job, &err));
}

TEST(many_jobs_are_an_array_of_objects_or_nothing)
{
    ARENA;
    struct faktory_jobs jobs;
    struct err err = ERR_INIT;
    CHECK_OK(faktory_read_jobs(STR("[{\"a\":1},{} , {\"b\":[2]}]"), &arena, &jobs, &err));
    CHECK_EQ(jobs.count, 3);
    CHECK_STR(jobs.at[2], "{\"b\":[2]}");
    CHECK_OK(faktory_read_jobs(STR("[]"), &arena, &jobs, &err));
    CHECK_EQ(jobs.count, 0);
    CHECK(!faktory_read_jobs(STR("[{},1]"), &arena, &jobs, &err));
    CHECK(!faktory_read_jobs(STR("{}"), &arena, &jobs, &err));
    CHECK(!faktory_read_jobs(STR("[{}] x"), &arena, &jobs, &err));
    CHECK(!faktory_read_jobs(STR("[{},"), &arena, &jobs, &err));
}

TEST(an_ack_is_an_object_of_strings_with_a_jid)
{
    ARENA;
    struct str jid;
    struct err err = ERR_INIT;
    CHECK_OK(faktory_read_ack(STR("{\"jid\":\"abc\",\"more\":\"x\"}"), &arena, &jid, &err));
    CHECK_STR(jid, "abc");
    static const char *const bad[] = {"{}", "[]", "{\"jid\":1}", "{\"jid\":\"a\",\"x\":1}", "abc"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!faktory_read_ack(str_of(bad[i]), &arena, &jid, &err));
        CHECK(str_starts(str_of(err.text), STR("invalid ACK ")));
    }
}

TEST(a_failure_is_trimmed_cut_between_characters_and_never_without_a_name)
{
    ARENA;
    struct faktory_fail fail;
    struct err err = ERR_INIT;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    buf_c(&text, "{\"jid\":\"abc\",\"errtype\":\"  \",\"message\":\"  x");
    for (int i = 0; i < 1000; i++) {
        buf_c(&text, "\xc3\xa9"); /* two bytes each */
    }
    buf_c(&text, "\",\"backtrace\":[");
    for (int i = 0; i < 100; i++) {
        buf_c(&text, i == 0 ? "\"line\"" : ",\"line\"");
    }
    buf_c(&text, "]}");
    CHECK_OK(faktory_read_fail(buf_view(&text), 8 * KIB, &arena, &fail, &err));
    CHECK_STR(fail.errtype, "unknown");
    CHECK_EQ(fail.message.len, 999); /* the thousandth byte is the half of a character */
    size_t lines = 0;
    for (size_t i = 0; i < fail.backtrace.len; i++) {
        lines += fail.backtrace.ptr[i] == 'l';
    }
    CHECK_EQ(lines, FAKTORY_BACKTRACE_MAX);
    CHECK_OK(faktory_read_fail(buf_view(&text), 20, &arena, &fail, &err));
    CHECK_STR(fail.backtrace, "[\"line\",\"line\"]");
    CHECK(!faktory_read_fail(STR("{\"message\":\"x\"}"), 20, &arena, &fail, &err));
    CHECK_STR(str_of(err.text), "missing JID");
}

TEST(a_mutation_names_what_it_does_to_which_set)
{
    ARENA;
    struct faktory_change change;
    struct err err = ERR_INIT;
    CHECK_OK(faktory_read_mutate(STR("{\"cmd\": \"kill\", \"target\": \"retries\", \"filter\": "
                                     "{\"jids\": [\"a\", \"b\"], \"regexp\": \"*x*\"}}"),
                                 &arena, &change, &err));
    CHECK(change.cmd == FAKTORY_KILL && change.target == FAKTORY_RETRIES_SET && change.filtered);
    CHECK_EQ(change.jids_count, 2);
    CHECK_STR(change.jids[1], "b");
    CHECK_OK(faktory_read_mutate(STR("{\"cmd\":\"clear\",\"target\":\"dead\",\"filter\":{}}"),
                                 &arena, &change, &err));
    CHECK(!change.filtered);
    CHECK(
        !faktory_read_mutate(STR("{\"cmd\":\"eat\",\"target\":\"dead\"}"), &arena, &change, &err));
    CHECK_STR(str_of(err.text), "unknown mutate operation");
    CHECK(!faktory_read_mutate(STR("{\"cmd\":\"kill\",\"target\":\"x\"}"), &arena, &change, &err));
    CHECK_STR(str_of(err.text), "invalid target for mutation command");
}

TEST(globs_are_those_of_redis)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } rows[] = {
        {"*", "", true},
        {"", "x", false},
        {"a*c", "abbbc", true},
        {"a*c", "abbbd", false},
        {"?", "x", true},
        {"?", "", false},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[^a]x", "bx", true},
        {"[c-a]x", "bx", true},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"[\\]]", "]", true},
        {"*\"uid\":12345*", "{\"args\":[{\"uid\":12345}]}", true},
        {"*a*b*c*", "xaybzc", true},
        {"a**b", "ab", true},
        {"[", "[", false},
        {"a[", "a", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_EQ(faktory_glob(str_of(rows[i].pattern), str_of(rows[i].text)), rows[i].fits);
    }
}

TEST(a_glob_of_many_stars_is_still_answered_at_once)
{
    char text[2001], pattern[401];
    memset(text, 'a', 2000);
    text[2000] = '\0';
    for (int i = 0; i < 200; i++) {
        memcpy(pattern + 2 * i, "*a", 2);
    }
    pattern[399] = 'b';
    pattern[400] = '\0';
    CHECK(!faktory_glob(str_of(pattern), str_of(text)));
}

TEST(answers_are_of_four_kinds_and_end_with_crlf)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(4 * KIB);
    faktory_ok(&out);
    faktory_null(&out);
    faktory_bulk(&out, STR("{}"));
    faktory_error(&out, "ERR", STR("two\r\nlines"));
    faktory_hi(&out, 0, STR_NONE);
    faktory_hi(&out, 4000, STR("ab"));
    CHECK_STR(buf_view(&out), "+OK\r\n$-1\r\n$2\r\n{}\r\n-ERR two  lines\r\n+HI {\"v\":2}\r\n"
                              "+HI {\"v\":2,\"i\":4000,\"s\":\"ab\"}\r\n");
}

TEST(a_job_is_told_in_one_line_with_its_arguments_as_they_came)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(4 * KIB);
    struct faktory_told job = {.jid = STR("j"),
                               .queue = STR("q"),
                               .jobtype = STR("t"),
                               .args = STR("[ 12345678901234567890, 1.0]"),
                               .created_at = STR("2027-01-01T00:00:00.123456789Z"),
                               .retry = -1,
                               .reserve_for = 1800};
    faktory_write_job(&out, &job);
    CHECK_STR(buf_view(&out),
              "{\"jid\":\"j\",\"queue\":\"q\",\"jobtype\":\"t\",\"args\":[ 12345678901234567890, "
              "1.0],\"created_at\":\"2027-01-01T00:00:00.123456789Z\",\"retry\":-1,"
              "\"reserve_for\":1800}");
    buf_clear(&out);
    job.args = STR("{\n \"a\": \"b \\\" c\"\n}");
    faktory_write_job(&out, &job);
    CHECK(strstr(buf_c_text(&out), "\"args\":[{\"a\":\"b \\\" c\"}]") != NULL);
    buf_clear(&out);
    job.args = STR_NONE;
    faktory_write_job(&out, &job);
    CHECK(strstr(buf_c_text(&out), "\"args\":[]") != NULL);
}
