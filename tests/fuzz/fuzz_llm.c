/* tests/fuzz/fuzz_llm.c: answers of a language model's server, whole and in pieces.
 *
 * The first byte says where the rest is cut in two: a stream means the same however it was cut on
 * its way. The rest is also read as a whole answer and as a server's complaint.
 *
 * SPDX-License-Identifier: MIT */
#include "client/llm_answer.h"
#include "fuzz.h"

#define CONTENT_MAX KIB

static void check_err(const struct err *err)
{
    FUZZ_CLAIM(err->kind == ERR_INVALID || err->kind == ERR_TOO_LARGE ||
               err->kind == ERR_UNAVAILABLE || err->kind == ERR_REFUSED);
    FUZZ_CLAIM(err->text[0] != '\0');
}

static void check_reply(const struct llm_reply *reply)
{
    FUZZ_CLAIM(reply->content.len <= CONTENT_MAX && str_is_utf8(buf_view(&reply->content)));
    FUZZ_CLAIM(reply->total_tokens >= reply->prompt_tokens + reply->completion_tokens);
    for (int as_object = 0; as_object <= 1; as_object++) {
        struct err err = ERR_INIT;
        struct str content;
        if (llm_reply_judge(reply, as_object != 0, &content, &err)) {
            FUZZ_CLAIM(content.len > 0 && content.len <= reply->content.len);
        } else {
            check_err(&err);
        }
    }
}

static void read_whole(struct str text)
{
    struct llm_reply reply;
    struct err err = ERR_INIT;
    llm_reply_init(&reply, CONTENT_MAX);
    if (llm_reply_read(&reply, text, &err)) {
        check_reply(&reply);
    } else {
        check_err(&err);
    }
    llm_reply_fini(&reply);
}

static void collect(void *arg, struct str piece)
{
    FUZZ_CLAIM(piece.len > 0);
    buf_str(arg, piece);
}

static bool read_stream(struct str text, size_t cut, struct llm_stream *stream, struct buf *heard,
                        struct err *err)
{
    llm_stream_init(stream, CONTENT_MAX);
    stream->on_text = collect;
    stream->arg = heard;
    return llm_stream_take(stream, (struct str){text.ptr, cut}, err) &&
           llm_stream_take(stream, str_from(text, cut), err) && llm_stream_end(stream, err);
}

static void check_stream(struct str text, size_t cut)
{
    SCOPED(buf_fini) struct buf heard = BUF_INIT(CONTENT_MAX), again = BUF_INIT(CONTENT_MAX);
    SCOPED(llm_stream_fini) struct llm_stream one, two;
    struct err err = ERR_INIT, other = ERR_INIT;
    bool ok = read_stream(text, text.len, &one, &heard, &err);
    FUZZ_CLAIM(read_stream(text, cut, &two, &again, &other) == ok);
    FUZZ_CLAIM(err.kind == other.kind && strcmp(err.text, other.text) == 0);
    FUZZ_CLAIM(str_eq(buf_view(&heard), buf_view(&again)));
    if (ok) {
        FUZZ_CLAIM(str_eq(buf_view(&heard), buf_view(&one.reply.content)));
        check_reply(&one.reply);
    } else {
        check_err(&err);
    }
}

void fuzz_one(struct str text)
{
    char words[LLM_REASON_MAX + 1];
    size_t cut = text.len > 0 ? (unsigned char)text.ptr[0] : 0;
    text = str_from(text, 1);
    read_whole(text);
    check_stream(text, MIN(cut, text.len));
    llm_reason(text, words);
    FUZZ_CLAIM(str_is_utf8(str_of(words)) && !str_has_control(str_of(words)));
}
