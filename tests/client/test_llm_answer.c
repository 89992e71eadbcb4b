/* tests/client/test_llm_answer.c: what a model's server sends, read whole and in pieces.
 *
 * SPDX-License-Identifier: MIT */
#include "client/llm_answer.h"
#include "test.h"

#define CONTENT_MAX 4096

#define WHOLE(message, finish)                                                                     \
    "{\"id\":\"c1\",\"choices\":[{\"index\":0,\"message\":" message ",\"finish_reason\":" finish   \
    "}],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18}}"
#define PIECE(text)                                                                                \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text                              \
    "\"},\"finish_reason\":null}]}\n\n"
#define LAST "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"

/* Reads and judges: the content, or "KIND text" of the error. */
static struct str read_whole(const char *body, bool as_object, struct arena *arena)
{
    struct llm_reply reply;
    struct err err = ERR_INIT;
    struct str content;
    llm_reply_init(&reply, CONTENT_MAX);
    bool ok = llm_reply_read(&reply, str_of(body), &err) &&
              llm_reply_judge(&reply, as_object, &content, &err);
    struct str out =
        ok ? arena_str(arena, content) : arena_printf(arena, "%d %s", err.kind, err.text);
    llm_reply_fini(&reply);
    return out;
}

static void check_whole(const char *body, bool as_object, const char *want)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(read_whole(body, as_object, &arena), want);
}

static void check_fails(const char *body, bool as_object, enum err_kind kind, const char *text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(read_whole(body, as_object, &arena), arena_printf(&arena, "%d %s", kind, text).ptr);
}

/* ---- Whole answers ---- */

TEST(a_whole_answer_has_its_content_and_its_usage)
{
    struct llm_reply reply;
    struct err err = ERR_INIT;
    llm_reply_init(&reply, CONTENT_MAX);
    CHECK_OK(llm_reply_read(&reply, STR(WHOLE("{\"content\":\"Gr\\u00fc\\u00dfe\"}", "\"stop\"")),
                            &err));
    CHECK_STR(buf_view(&reply.content), "Grüße");
    CHECK(reply.ended && !reply.cut_off);
    CHECK_EQ(reply.prompt_tokens, 11);
    CHECK_EQ(reply.completion_tokens, 7);
    CHECK_EQ(reply.total_tokens, 18);
    llm_reply_fini(&reply);
}

TEST(usage_that_is_not_there_or_makes_no_sense_counts_as_none)
{
    static const char *const usages[] = {"null", "7", "{\"total_tokens\":-1}",
                                         "{\"prompt_tokens\":1e300}", "{\"total_tokens\":\"9\"}"};
    for (size_t i = 0; i < ARRAY_LEN(usages); i++) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        struct llm_reply reply;
        struct err err = ERR_INIT;
        llm_reply_init(&reply, CONTENT_MAX);
        CHECK_OK(llm_reply_read(
            &reply,
            arena_printf(&arena, "{\"choices\":[{\"message\":{\"content\":\"a\"}}],\"usage\":%s}",
                         usages[i]),
            &err));
        CHECK_EQ(reply.total_tokens, 0);
        llm_reply_fini(&reply);
    }
}

TEST(what_is_not_json_is_no_answer)
{
    const char *text = "the LLM's answer is not a JSON object";
    check_fails("", false, ERR_INVALID, text);
    check_fails("<html>", false, ERR_INVALID, text);
    check_fails("{\"choices\":[", false, ERR_INVALID, text);
    check_fails("[]", false, ERR_INVALID, text);
    check_fails("{\"a\":\"\xff\"}", false, ERR_INVALID, text);
}

TEST(an_answer_of_another_shape_is_no_answer)
{
    const char *text = "the LLM's answer has no choices[0].message";
    check_fails("{}", false, ERR_INVALID, text);
    check_fails("{\"choices\":{}}", false, ERR_INVALID, text);
    check_fails("{\"choices\":[]}", false, ERR_INVALID, text);
    check_fails("{\"choices\":[7]}", false, ERR_INVALID, text);
    check_fails("{\"choices\":[{\"message\":\"hi\"}]}", false, ERR_INVALID, text);
    check_fails(WHOLE("{\"content\":[\"hi\"]}", "null"), false, ERR_INVALID,
                "the LLM's answer has content that is no text");
}

TEST(an_empty_answer_is_none)
{
    const char *text = "the LLM's answer is empty";
    check_fails(WHOLE("{\"content\":\"\"}", "\"stop\""), false, ERR_INVALID, text);
    check_fails(WHOLE("{\"content\":null}", "\"stop\""), false, ERR_INVALID, text);
    check_fails(WHOLE("{}", "\"stop\""), true, ERR_INVALID, text);
}

TEST(a_model_may_decline)
{
    check_fails(WHOLE("{\"content\":null,\"refusal\":\"I will\\nnot.\"}", "\"stop\""), true,
                ERR_REFUSED, "the LLM declines: I will not.");
    check_fails(WHOLE("{\"content\":\"\"}", "\"content_filter\""), true, ERR_REFUSED,
                "the LLM's answer was withheld by a content filter");
}

TEST(an_answer_to_a_schema_is_one_json_object_with_or_without_a_fence)
{
    check_whole(WHOLE("{\"content\":\"{\\\"a\\\":1}\"}", "\"stop\""), true, "{\"a\":1}");
    check_whole(WHOLE("{\"content\":\" ```json\\n{}\\n```\\n\"}", "\"stop\""), true, "\n{}\n");
    check_whole(WHOLE("{\"content\":\"```{}```\"}", "\"stop\""), true, "{}");
    const char *text = "the LLM was asked for a JSON object and wrote none";
    check_fails(WHOLE("{\"content\":\"Sure! {}\"}", "\"stop\""), true, ERR_INVALID, text);
    check_fails(WHOLE("{\"content\":\"[]\"}", "\"stop\""), true, ERR_INVALID, text);
    check_fails(WHOLE("{\"content\":\"```\"}", "\"stop\""), true, ERR_INVALID, text);
    check_fails(WHOLE("{\"content\":\"{\\\"a\\\"\"}", "\"length\""), true, ERR_INVALID,
                "the LLM's answer was cut off by the limit of tokens");
}

TEST(content_beyond_the_limit_is_too_large)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char *content = arena_alloc(&arena, CONTENT_MAX + 2);
    memset(content, 'x', CONTENT_MAX + 1);
    content[CONTENT_MAX + 1] = '\0';
    struct str body =
        arena_printf(&arena, "{\"choices\":[{\"message\":{\"content\":\"%s\"}}]}", content);
    check_fails(body.ptr, false, ERR_TOO_LARGE, "the LLM's answer is too long");
}

/* ---- Streams ---- */

static void join(void *arg, struct str piece)
{
    struct buf *heard = arg;
    buf_str(heard, piece);
    buf_char(heard, '|');
}

/* Reads `text` cut into pieces of `step` bytes; the pieces heard, or "KIND text". */
static struct str read_stream(const char *text, size_t step, struct arena *arena)
{
    SCOPED(buf_fini) struct buf heard = BUF_INIT(64 * KIB);
    SCOPED(llm_stream_fini) struct llm_stream stream;
    struct err err = ERR_INIT;
    bool ok = true;
    llm_stream_init(&stream, CONTENT_MAX);
    stream.on_text = join;
    stream.arg = &heard;
    for (struct str rest = str_of(text); ok && rest.len > 0; rest = str_from(rest, step)) {
        ok = llm_stream_take(&stream, (struct str){rest.ptr, MIN(step, rest.len)}, &err);
    }
    ok = ok && llm_stream_end(&stream, &err);
    return ok ? arena_printf(arena, STR_FMT "%d", STR_ARG(buf_view(&heard)),
                             (int)stream.reply.total_tokens)
              : arena_printf(arena, "%d %s", err.kind, err.text);
}

static void check_stream(const char *text, const char *want)
{
    for (size_t step = 1; step < 120; step += 7) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        CHECK_STR(read_stream(text, step, &arena), want);
    }
}

static void check_stream_fails(const char *text, enum err_kind kind, const char *why)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    check_stream(text, arena_printf(&arena, "%d %s", kind, why).ptr);
}

TEST(a_stream_gives_its_pieces_however_it_is_cut)
{
    check_stream(PIECE("") PIECE("Gr\\u00fc") PIECE("\xc3\x9f") PIECE("e\\n") LAST
                 "data: {\"choices\":[],\"usage\":{\"total_tokens\":9}}\n\n" DONE,
                 "Grü|ß|e\n|9");
}

TEST(comments_other_fields_and_line_ends_do_not_matter)
{
    check_stream(": ping\r\nevent: x\r\nid: 7\r\nretry: 5\r\n\r\n"
                 "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n"
                 "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"b\"}}]}\n\n" DONE,
                 "a|b|0");
}

TEST(a_stream_may_end_without_its_mark_once_the_model_has_finished)
{
    check_stream(PIECE("a") LAST, "a|0");
    check_stream(PIECE("a") "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}",
                 "a|0");
    check_stream(PIECE("a") "data: [DONE]", "a|0");
}

TEST(what_follows_the_mark_is_not_read)
{
    check_stream(PIECE("a") LAST DONE "data: rubbish\n\n", "a|0");
}

TEST(a_stream_that_ends_before_the_model_has_finished_was_cut_short)
{
    check_stream_fails(PIECE("a"), ERR_UNAVAILABLE, "the LLM's answer was cut short");
    check_stream_fails("", ERR_UNAVAILABLE, "the LLM's answer was cut short");
    check_stream_fails(": only a comment", ERR_UNAVAILABLE, "the LLM's answer was cut short");
}

TEST(a_piece_that_cannot_be_read_ends_the_stream)
{
    check_stream_fails(PIECE("a") "data: {\n\n", ERR_INVALID,
                       "a piece of the LLM's answer is not a JSON object");
    check_stream_fails("data: {\"choices\":[{}]}\n\n", ERR_INVALID,
                       "the LLM's answer has no choices[0].delta");
    check_stream_fails("data: {}\n\n", ERR_INVALID, "the LLM's answer has no choices[0].delta");
}

TEST(a_server_may_say_inside_a_stream_that_it_failed)
{
    check_stream_fails(PIECE("a") "data: {\"error\":{\"message\":\"out of memory\"}}\n\n",
                       ERR_UNAVAILABLE, "the LLM's server broke off: out of memory");
}

TEST(a_line_without_an_end_is_too_large)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char *line = arena_alloc(&arena, 2 * CONTENT_MAX);
    memset(line, 'x', 2 * CONTENT_MAX - 1);
    line[2 * CONTENT_MAX - 1] = '\0';
    check_stream_fails(line, ERR_TOO_LARGE, "a line of the LLM's answer is too long");
}

/* ---- A server's own words ---- */

static void check_reason(const char *body, const char *want)
{
    char words[LLM_REASON_MAX + 1];
    llm_reason(str_of(body), words);
    CHECK_STR(str_of(words), want);
}

TEST(the_words_of_a_server_are_found_in_the_usual_places)
{
    check_reason("{\"error\":{\"message\":\"no such model\"}}", "no such model");
    check_reason("{\"error\":\"model is loading\"}", "model is loading");
    check_reason("{\"message\":\"slow down\"}", "slow down");
    check_reason("{\"detail\":\"not here\"}", "not here");
    check_reason("Bad\r\nGateway\xff", "Bad  Gateway ");
    check_reason("{\"error\":{}}", "");
    check_reason("", "");
}

TEST(the_words_of_a_server_are_cut_between_characters)
{
    char body[512] = "a", words[LLM_REASON_MAX + 1];
    for (size_t i = 0; i < LLM_REASON_MAX; i++) {
        strcat(body, "\xc3\xbc");
    }
    llm_reason(str_of(body), words);
    CHECK_EQ(strlen(words), LLM_REASON_MAX - 1);
    CHECK(str_is_utf8(str_of(words)));
}
