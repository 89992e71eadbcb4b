/* tests/client/test_mail.c: mails as they go over the wire.
 *
 * SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "client/mail.h"
#include "client/mail_parts.h"
#include "test.h"

#define MAIL                                                                                       \
    ((struct mail){.from = STR("errand@example.org"),                                              \
                   .to = STR("ann@example.org"),                                                   \
                   .subject = STR("Daily report"),                                                 \
                   .text = STR("Hello Ann.\n"),                                                    \
                   .message_id = STR("d-1@example.org"),                                           \
                   .date_ms = 1803891600000})

/* Writes `mail` and looks for `want` in it. */
static void check_holds(const struct mail *mail, const char *want)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MAIL_MAX);
    struct err err = ERR_INIT;
    CHECK_OK(mail_write(mail, &out, &err));
    if (strstr(buf_c_text(&out), want) == NULL) {
        CHECK_STR(buf_view(&out), want);
    }
}

static void check_refused(const struct mail *mail, const char *field)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MAIL_MAX);
    struct err err = ERR_INIT;
    CHECK(!mail_write(mail, &out, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK_STR(str_of(err.field), field);
}

TEST(a_mail_has_its_headers_and_two_parts)
{
    check_holds(&MAIL, "Date: Mon, 01 Mar 2027 09:00:00 +0000\r\n"
                       "From: <errand@example.org>\r\n"
                       "To: <ann@example.org>\r\n"
                       "Subject: Daily report\r\n"
                       "Message-ID: <d-1@example.org>\r\n"
                       "Auto-Submitted: auto-generated\r\n"
                       "MIME-Version: 1.0\r\n"
                       "Content-Type: multipart/alternative; boundary=\"=_errand_part\"\r\n"
                       "\r\n--=_errand_part\r\n"
                       "Content-Type: text/plain; charset=utf-8\r\n"
                       "Content-Transfer-Encoding: quoted-printable\r\n"
                       "\r\nHello Ann.\r\n"
                       "\r\n--=_errand_part\r\n"
                       "Content-Type: text/html; charset=utf-8\r\n"
                       "Content-Transfer-Encoding: quoted-printable\r\n"
                       "\r\n<!DOCTYPE html>\r\n"
                       "<html><head><meta charset=3D\"utf-8\"></head><body>\r\n"
                       "<p>Hello Ann.</p>\r\n"
                       "</body></html>\r\n"
                       "\r\n--=_errand_part--\r\n");
}

TEST(names_stand_before_addresses)
{
    struct mail mail = MAIL;
    mail.from = STR("Errand, the \"queue\" <errand@example.org>");
    mail.to = STR("\"J\xc3\xb6rg\" <joerg@example.org>");
    check_holds(&mail, "From: \"Errand, the \\\"queue\\\"\"\r\n <errand@example.org>\r\n"
                       "To: =?utf-8?B?SsO2cmc=?=\r\n <joerg@example.org>\r\n");
}

TEST(a_line_end_cannot_add_a_header)
{
    static const char *const evil[] = {
        "a@example.org\r\nBcc: b@example.org", "a@example.org\nBcc: b@example.org",
        "a@example.org\rX", "Ann\r\nBcc: b@example.org <a@example.org>", "\"A\n\" <a@example.org>"};
    for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
        struct mail mail = MAIL;
        mail.to = str_of(evil[i]);
        check_refused(&mail, "to");
        mail = MAIL;
        mail.from = str_of(evil[i]);
        check_refused(&mail, "from");
        mail = MAIL;
        mail.subject = str_of(evil[i]);
        check_refused(&mail, "subject");
        mail = MAIL;
        mail.message_id = str_of(evil[i]);
        check_refused(&mail, "messageId");
    }
}

TEST(what_is_no_address_is_refused)
{
    static const char *const bad[] = {"",
                                      "ann",
                                      "@example.org",
                                      "ann@",
                                      "a..b@example.org",
                                      ".a@example.org",
                                      "a.@example.org",
                                      "a b@example.org",
                                      "a@b@example.org",
                                      "a@example.org, b@example.org",
                                      "a@example.org>",
                                      "<a@example.org> b",
                                      "\xc3\xb6@example.org",
                                      "a@[1.2.3.4",
                                      "a@[x y]"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct mail mail = MAIL;
        mail.to = str_of(bad[i]);
        check_refused(&mail, "to");
    }
    struct mail mail = MAIL;
    mail.to = STR_NONE;
    check_refused(&mail, "to");
}

TEST(the_usual_addresses_are_read)
{
    static const char *const good[] = {"a@b",
                                       "ann.lee+x@sub.example.org",
                                       "a@[127.0.0.1]",
                                       " a@example.org ",
                                       "<a@example.org>",
                                       "o'neil@example.org"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct mail_address address;
        struct err err = ERR_INIT;
        CHECK_OK(mail_address_read(str_of(good[i]), "to", &address, &err));
        CHECK(str_absent(address.name));
    }
}

TEST(a_mail_that_is_too_long_is_refused)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf out = BUF_INIT(MAIL_MAX);
    struct err err = ERR_INIT;
    struct mail mail = MAIL;
    mail.text = (struct str){arena_zero(&arena, MAIL_TEXT_MAX + 1), MAIL_TEXT_MAX + 1};
    CHECK(!mail_write(&mail, &out, &err));
    CHECK_EQ(err.kind, ERR_TOO_LARGE);
    mail.text.len = MAIL_TEXT_MAX; /* the longest of the worst, escaped and encoded */
    memset((char *)mail.text.ptr, '"', MAIL_TEXT_MAX);
    CHECK_OK(mail_write(&mail, &out, &err));
    mail = MAIL;
    mail.subject = (struct str){arena_zero(&arena, MAIL_SUBJECT_MAX + 1), MAIL_SUBJECT_MAX + 1};
    CHECK(!mail_write(&mail, &out, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
}

/* ---- Pieces ---- */

static void check_text(const char *text, size_t at, const char *want)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    mail_put_text(&out, str_of(text), at);
    CHECK_STR(buf_view(&out), want);
}

TEST(headers_are_plain_as_long_as_they_can_be)
{
    check_text("Plain, \"really\" <so>", 9, "Plain, \"really\" <so>");
    check_text("", 9, "");
    check_text("Gr\xc3\xbc\xc3\x9f"
               "e",
               9, "=?utf-8?B?R3LDvMOfZQ==?=");
    check_text("=?fake?=", 9, "=?utf-8?B?PT9mYWtlPz0=?=");
}

TEST(long_headers_are_folded_between_characters)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB), out = BUF_INIT(MIB);
    for (size_t i = 0; i < 60; i++) {
        buf_c(&text, "\xe6\x97\xa5");
    }
    mail_put_text(&out, buf_view(&text), 9);
    struct str rest = buf_view(&out);
    for (size_t at = 9; !str_absent(rest); at = 0) {
        struct str line = str_cut(&rest, '\n');
        CHECK(at + line.len <= MAIL_LINE_MAX + 1); /* the \r */
        CHECK_EQ((line.len - (str_ends(line, STR("\r")) ? 1 : 0) - (at == 0 ? 1 : 0) - 12) % 4, 0);
        CHECK(memchr(line.ptr, '=', line.len) != NULL);
    }
}

static void check_quoted(const char *text, const char *want)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    mail_put_quoted(&out, str_of(text));
    CHECK_STR(buf_view(&out), want);
}

TEST(every_line_end_becomes_the_one_of_mail)
{
    check_quoted("a\nb\r\nc\rd", "a\r\nb\r\nc\r\nd\r\n");
    check_quoted("a\n\n", "a\r\n\r\n");
    check_quoted("", "");
}

TEST(what_would_be_lost_on_the_way_is_quoted)
{
    check_quoted("1 = 2 \nx\t", "1 =3D 2=20\r\nx=09\r\n");
    check_quoted("\xc3\xbc\x01", "=C3=BC=01\r\n");
    check_quoted("\xff", "=EF=BF=BD\r\n");
    check_quoted(".", ".\r\n");
}

TEST(no_quoted_line_is_too_long)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB), out = BUF_INIT(MIB);
    for (size_t i = 0; i < 500; i++) {
        buf_c(&text, i % 7 == 0 ? "\xc3\xbc" : i % 11 == 0 ? " " : "abc");
    }
    mail_put_quoted(&out, buf_view(&text));
    struct str rest = buf_view(&out);
    while (!str_absent(rest)) {
        CHECK(str_cut(&rest, '\n').len <= MAIL_LINE_MAX + 1); /* the \r */
    }
}

static void check_html(const char *text, const char *want)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    mail_put_html(&out, str_of(text));
    struct str body = buf_view(&out);
    const char *start = memmem(body.ptr, body.len, "<body>\n", 7);
    body = str_from(body, (size_t)(start - body.ptr) + 7);
    CHECK(str_ends(body, STR("</body></html>\n")));
    body.len -= 15;
    CHECK_STR(body, want);
}

TEST(everything_in_a_text_is_escaped)
{
    check_html("<script>alert('1 & \"2\"')</script>",
               "<p>&lt;script&gt;alert(&#39;1 &amp; &quot;2&quot;&#39;)&lt;/script&gt;</p>\n");
    check_html("**<b>** `<i>` # <u>", "<p><strong>&lt;b&gt;</strong> <code>&lt;i&gt;</code> # "
                                      "&lt;u&gt;</p>\n");
}

TEST(a_little_markdown_is_understood)
{
    check_html("# Title\n\nOne\r\ntwo\n\n- a\n* **b**\n\nEnd",
               "<h1>Title</h1>\n<p>One<br>\ntwo</p>\n<ul>\n<li>a</li>\n<li><strong>b</strong></li>"
               "\n</ul>\n<p>End</p>\n");
    check_html("### Three", "<h3>Three</h3>\n");
}

TEST(what_only_looks_like_markdown_is_shown_as_it_is)
{
    check_html("#tag #### x\n**open `open", "<p>#tag #### x<br>\n**open `open</p>\n");
    check_html("**** ``", "<p>**** ``</p>\n");
    check_html("-5", "<p>-5</p>\n");
    check_html("", "");
}
