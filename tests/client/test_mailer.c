/* tests/client/test_mailer.c: mails sent to a real SMTP server, read there by another program.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <unistd.h>

#include "client/mail.h"
#include "standin.h"
#include "test.h"

static const char *const plain[] = {NULL};
static const char *const starttls[] = {"--starttls", NULL};
static const char *const tls[] = {"--tls", NULL};
static const char *const login[] = {"--starttls", "--user",      "ann",
                                    "--password", "s3cret-word", NULL};
static const char *const login_in_clear[] = {"--user", "ann", "--password", "s3cret-word", NULL};

struct bench {
    struct standin server;
    struct mailer *mailer;
    struct mail mail;
    struct err err;
    int stop[2];
};

static void bench_open(struct bench *b, const char *const *args, struct mailer_options options,
                       bool trusted)
{
    *b = (struct bench){
        .mail = {.from = STR("Errand <errand@example.org>"),
                 .to = STR("ann@example.org"),
                 .subject = STR("Daily report"),
                 .text = STR("Hello.\n"),
                 .message_id = STR("d-1@example.org"),
                 .date_ms = 1803891600000},
    };
    struct err err = ERR_INIT;
    standin_open(&b->server, "smtp.py", args);
    assert_int_equal(pipe(b->stop), 0);
    options.url = standin_word(&b->server, "on");
    options.cacert =
        trusted ? arena_c_text(&b->server.arena, standin_word(&b->server, "ca")) : NULL;
    CHECK_OK(mailer_open(&options, &b->mailer, &err));
}

static void bench_close(struct bench *b)
{
    mailer_close(b->mailer);
    standin_close(&b->server);
    close(b->stop[0]);
    close(b->stop[1]);
}

static bool send_mail(struct bench *b)
{
    return mailer_send(b->mailer, &b->mail, &b->stop[0], &b->err);
}

#define CHECK_SENT(b) test_check_ok(send_mail(b), &(b)->err, "send", __FILE__, __LINE__)

static void check_fails(struct bench *b, enum err_kind kind, const char *text)
{
    CHECK(!send_mail(b));
    struct str said = str_of(b->err.text);
    said.len = MIN(said.len, strlen(text));
    CHECK_STR(said, text);
    CHECK_EQ(b->err.kind, kind);
}

static void check_book(struct bench *b, const char *path, const char *want)
{
    CHECK_STR(standin_entry(&b->server, 0, path), want);
}

/* ---- Taken ---- */

TEST(a_mail_arrives_as_it_was_meant)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, plain, (struct mailer_options){0}, false);
    b.mail.from = STR("Errand, the queue <errand@example.org>");
    b.mail.to = STR("J\xc3\xb6rg <joerg@example.org>");
    b.mail.subject = STR("Dein t\xc3\xa4glicher Bericht: ein langer Titel, der in keine Zeile "
                         "passt \xf0\x9f\x8e\x89, auch nicht in zwei");
    b.mail.text = STR("# Gr\xc3\xbc\xc3\x9f"
                      "e\n\n.\n..\n- a = b  \n<i>\n");
    CHECK_SENT(&b);
    check_book(&b, "from", "\"errand@example.org\"");
    check_book(&b, "to", "[\"joerg@example.org\"]");
    check_book(&b, "tls", "false");
    check_book(&b, "defects", "[]");
    check_book(&b, "headers.From", "\"\\\"Errand, the queue\\\" <errand@example.org>\"");
    CHECK_STR(standin_entry_text(&b.server, 0, "headers.To"), "J\xc3\xb6rg <joerg@example.org>");
    CHECK_STR(standin_entry_text(&b.server, 0, "headers.Subject"), b.mail.subject.ptr);
    check_book(&b, "headers.Message-ID", "\"<d-1@example.org>\"");
    check_book(&b, "headers.Date", "\"Mon, 01 Mar 2027 09:00:00 +0000\"");
    CHECK_STR(standin_entry_text(&b.server, 0, "parts.text/plain"), b.mail.text.ptr);
    CHECK(strstr(standin_entry_text(&b.server, 0, "parts.text/html").ptr,
                 "<h1>Gr\xc3\xbc\xc3\x9f"
                 "e</h1>\n<p>.<br>\n..</p>\n<ul>\n<li>a = b</li>\n</ul>\n<p>&lt;i&gt;</p>\n") !=
          NULL);
}

TEST(no_line_of_a_mail_is_too_long)
{
    SCOPED(bench_close) struct bench b;
    char text[5000];
    uint64_t longest;
    bench_open(&b, plain, (struct mailer_options){0}, false);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    b.mail.text = str_of(text);
    b.mail.subject = (struct str){text, 900};
    CHECK_SENT(&b);
    CHECK(str_u64(standin_entry(&b.server, 0, "longest"), &longest) && longest <= 76);
    CHECK_STR(standin_entry_text(&b.server, 0, "parts.text/plain"),
              arena_printf(&b.server.arena, "%s\n", text).ptr);
}

TEST(a_big_mail_is_sent_whole)
{
    SCOPED(bench_close) struct bench b;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    bench_open(&b, plain, (struct mailer_options){0}, false);
    for (size_t i = 0; i < 20000; i++) {
        buf_printf(&text, ".line %zu\n", i);
    }
    b.mail.text = buf_view(&text);
    CHECK_SENT(&b);
    struct str got = standin_entry_text(&b.server, 0, "parts.text/plain");
    CHECK(str_eq(got, b.mail.text));
}

/* ---- Private ---- */

TEST(what_the_server_can_encrypt_is_encrypted)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, starttls, (struct mailer_options){.starttls = MAIL_TLS_OPTIONAL}, false);
    CHECK_SENT(&b);
    check_book(&b, "tls", "true");
}

TEST(encryption_that_is_required_needs_a_certificate_that_is_trusted)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, starttls, (struct mailer_options){.starttls = MAIL_TLS_REQUIRED}, false);
    check_fails(&b, ERR_UNAVAILABLE, "the mail cannot be sent for now: SSL certificate");
    CHECK_STR(standin_book(&b.server, 0), "[]");
}

TEST(encryption_that_is_required_and_not_offered_sends_nothing)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, plain, (struct mailer_options){.starttls = MAIL_TLS_REQUIRED}, true);
    check_fails(&b, ERR_UNAVAILABLE, "the mail cannot be sent for now: ");
    CHECK_STR(standin_book(&b.server, 0), "[]");
}

TEST(encryption_may_be_required_or_left_out)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, starttls, (struct mailer_options){.starttls = MAIL_TLS_REQUIRED}, true);
    CHECK_SENT(&b);
    check_book(&b, "tls", "true");
    SCOPED(bench_close) struct bench c;
    bench_open(&c, starttls, (struct mailer_options){.starttls = MAIL_TLS_NONE}, true);
    CHECK_SENT(&c);
    check_book(&c, "tls", "false");
}

TEST(smtps_is_encrypted_from_the_beginning)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, tls, (struct mailer_options){0}, true);
    CHECK_SENT(&b);
    check_book(&b, "tls", "true");
    SCOPED(bench_close) struct bench c;
    bench_open(&c, tls, (struct mailer_options){0}, false);
    check_fails(&c, ERR_UNAVAILABLE, "the mail cannot be sent for now: SSL certificate");
}

#define ANN .username = STR("ann"), .password = STR("s3cret-word")

TEST(who_has_a_password_logs_in)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, login, (struct mailer_options){ANN, .starttls = MAIL_TLS_REQUIRED}, true);
    CHECK_SENT(&b);
    check_book(&b, "user", "\"ann\"");
    check_book(&b, "tls", "true");
    SCOPED(bench_close) struct bench c;
    bench_open(&c, login_in_clear, (struct mailer_options){ANN}, false);
    CHECK_SENT(&c);
    check_book(&c, "user", "\"ann\"");
}

TEST(a_wrong_password_is_refused_for_good_and_does_not_show)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, login,
               (struct mailer_options){.username = STR("ann"), .password = STR("wr0ng-word")},
               true);
    check_fails(&b, ERR_REFUSED, "the mail server refuses for good: 535 ");
    CHECK(strstr(b.err.text, "wr0ng-word") == NULL);
    SCOPED(bench_close) struct bench c;
    bench_open(&c, login, (struct mailer_options){0}, true);
    check_fails(&c, ERR_REFUSED, "the mail server refuses for good: 530 ");
}

/* ---- Refused ---- */

TEST(what_the_server_says_is_for_now_or_for_good)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, plain, (struct mailer_options){0}, false);
    standin_script(&b.server, "[{\"at\":\"RCPT\",\"reply\":\"550 5.1.1 nobody here\"},"
                              "{\"at\":\"RCPT\",\"reply\":\"450 4.2.1 try later\"},"
                              "{\"at\":\"MAIL\",\"reply\":\"451 4.7.1 greylisted\"},"
                              "{\"at\":\"DATA\",\"reply\":\"554 5.7.1 this is spam\"},"
                              "{\"at\":\"DATA\",\"reply\":\"452 4.3.1 disk full\"}]");
    check_fails(&b, ERR_UNAVAILABLE, "the mail server refuses for now: 451 4.7.1 greylisted");
    check_fails(&b, ERR_REFUSED, "the mail server refuses for good: 550 5.1.1 nobody here");
    check_fails(&b, ERR_UNAVAILABLE, "the mail server refuses for now: 450 4.2.1 try later");
    check_fails(&b, ERR_REFUSED, "the mail server refuses for good: 554 5.7.1 this is spam");
    check_fails(&b, ERR_UNAVAILABLE, "the mail server refuses for now: 452 4.3.1 disk full");
    CHECK_SENT(&b);
    check_book(&b, "to", "[\"ann@example.org\"]");
}

TEST(a_connection_that_ends_is_a_failure_for_now)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, plain, (struct mailer_options){0}, false);
    standin_script(&b.server, "[{\"at\":\"RCPT\",\"cut\":true,\"reply\":\"250 x\"},"
                              "{\"at\":\"DATA\",\"cut\":true,\"reply\":\"250 x\"}]");
    check_fails(&b, ERR_UNAVAILABLE, "the mail cannot be sent for now: ");
    check_fails(&b, ERR_UNAVAILABLE, "the mail cannot be sent for now: ");
}

TEST(a_server_that_is_not_there_is_a_failure_for_now)
{
    struct mailer *mailer;
    struct err err = ERR_INIT;
    struct mail mail = {.from = STR("a@b"), .to = STR("c@d"), .message_id = STR("e@f")};
    CHECK_OK(
        mailer_open(&(struct mailer_options){.url = STR("smtp://127.0.0.1:1")}, &mailer, &err));
    CHECK(!mailer_send(mailer, &mail, NULL, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    mailer_close(mailer);
}

TEST(a_mail_that_cannot_be_written_is_not_sent)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, plain, (struct mailer_options){0}, false);
    b.mail.subject = STR("a\r\nBcc: b@example.org");
    check_fails(&b, ERR_INVALID, "must be one line");
    CHECK_STR(str_of(b.err.field), "subject");
    CHECK_STR(standin_book(&b.server, 0), "[]");
}

/* ---- Limits ---- */

TEST(a_mail_has_a_limit_of_time)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, plain, (struct mailer_options){.total_ms = 300}, false);
    standin_script(&b.server, "[{\"at\":\"DATA\",\"hold\":true,\"times\":0}]");
    check_fails(&b, ERR_UNAVAILABLE, "the mail cannot be sent for now: ");
    standin_release(&b.server);
}

static void *stop_once_held(void *arg)
{
    struct bench *b = arg;
    standin_book(&b->server, 1);
    assert_int_equal(write(b->stop[1], "", 1), 1);
    return NULL;
}

TEST(a_mail_is_given_up_when_told_so)
{
    SCOPED(bench_close) struct bench b;
    pthread_t other;
    bench_open(&b, plain, (struct mailer_options){0}, false);
    standin_script(&b.server, "[{\"at\":\"DATA\",\"hold\":true}]");
    assert_int_equal(pthread_create(&other, NULL, stop_once_held, &b), 0);
    check_fails(&b, ERR_UNAVAILABLE, "sending the mail was given up");
    pthread_join(other, NULL);
    standin_release(&b.server);
}

TEST(options_that_cannot_be_meant_are_refused)
{
    static const struct mailer_options bad[] = {
        {.url = {"http://127.0.0.1/", 17}},
        {.url = {"127.0.0.1:25", 12}},
        {.url = {"smtp://ann:word@127.0.0.1", 25}},
        {.url = {"smtp://127.0.0.1", 16}, .username = {"ann", 3}},
        {.url = {"smtp://127.0.0.1", 16}, .username = {"ann", 3}, .password = {"a\nb", 3}},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        struct mailer *mailer = NULL;
        CHECK(!mailer_open(&bad[i], &mailer, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
        CHECK(strstr(err.text, "word@") == NULL);
    }
}
