/* client/mail.c: a mail as it goes over the wire. See mail.h and mail_parts.h.
 *
 * Headers in other languages are encoded as RFC 2047 has it, bodies as quoted-printable. The
 * boundary between the parts begins with "=_", which quoted-printable text cannot hold.
 *
 * SPDX-License-Identifier: MIT */
#include "client/mail.h"

#include "client/mail_parts.h"
#include "wire/base64.h"
#include "wire/time.h"

#define BOUNDARY    "=_errand_part"
#define WORD_MAX    75 /* characters of an encoded word */
#define WORD_BEGIN  "=?utf-8?B?"
#define WORD_END    "?="
#define WORD_FRAME  (sizeof WORD_BEGIN - 1 + sizeof WORD_END - 1)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* ---- Addresses ---- */

static bool is_atom_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL);
}

/* Atoms with a dot between any two: "a.b". */
static bool is_dotted(struct str text)
{
    bool atom = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' ? !atom : !is_atom_char(text.ptr[i])) {
            return false;
        }
        atom = text.ptr[i] != '.';
    }
    return atom;
}

/* "[127.0.0.1]", "[IPv6:::1]": an address in place of a name. */
static bool is_literal(struct str text)
{
    static const char allowed[] = "0123456789abcdefABCDEF.:IPv";
    if (text.len < 3 || text.ptr[0] != '[' || text.ptr[text.len - 1] != ']') {
        return false;
    }
    for (size_t i = 1; i < text.len - 1; i++) {
        if (text.ptr[i] == '\0' || strchr(allowed, text.ptr[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* What both an address and a Message-ID look like. */
static bool is_at_domain(struct str text)
{
    struct str domain = text, local = str_cut(&domain, '@');
    return is_dotted(local) && !str_absent(domain) && (is_dotted(domain) || is_literal(domain)) &&
           text.len <= MAIL_ADDRESS_MAX;
}

/* "Name <address>", the name perhaps in quotes. */
static void split_name(struct str text, struct mail_address *out)
{
    const char *open = text.len > 0 ? memrchr(text.ptr, '<', text.len) : NULL;
    *out = (struct mail_address){STR_NONE, text};
    if (open == NULL || !str_ends(text, STR(">"))) {
        return;
    }
    size_t at = (size_t)(open - text.ptr);
    out->address = (struct str){open + 1, text.len - at - 2};
    struct str name = str_trim((struct str){text.ptr, at});
    if (name.len >= 2 && str_starts(name, STR("\"")) && str_ends(name, STR("\""))) {
        name = (struct str){name.ptr + 1, name.len - 2};
    }
    out->name = name.len > 0 ? name : STR_NONE;
}

bool mail_address_read(struct str text, const char *field, struct mail_address *out,
                       struct err *err)
{
    struct mail_address found;
    split_name(str_trim(text), &found);
    if (!is_at_domain(found.address)) {
        return err_field(err, field, "must be an address like a@example.org");
    }
    if (str_has_control(found.name) || found.name.len > MAIL_NAME_MAX || !str_is_utf8(found.name)) {
        return err_field(err, field, "has a name that is too long or no plain text");
    }
    *out = found;
    return true;
}

/* ---- Texts of any language in lines of ASCII ---- */

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len == 0 || memmem(text.ptr, text.len, "=?", 2) == NULL;
}

/* As many whole characters as fit into `room` bytes, at least one. */
static size_t whole_characters(struct str text, size_t room)
{
    size_t len = 0, next;
    while (len < text.len) {
        next = MAX(str_utf8_len(str_from(text, len)), (size_t)1);
        if (len > 0 && len + next > room) {
            break;
        }
        len += next;
    }
    return len;
}

void mail_put_text(struct buf *out, struct str text, size_t at)
{
    if (is_plain(text) && at + text.len <= MAIL_LINE_MAX) {
        buf_str(out, text);
        return;
    }
    for (; text.len > 0; at = 1) { /* further lines begin with a blank */
        size_t left = MIN(MAIL_LINE_MAX - MIN(at, (size_t)MAIL_LINE_MAX), (size_t)WORD_MAX);
        size_t room = left > WORD_FRAME ? (left - WORD_FRAME) / 4 * 3 : 0;
        size_t len = whole_characters(text, room);
        buf_c(out, WORD_BEGIN);
        base64_write(out, (struct str){text.ptr, len});
        buf_c(out, WORD_END);
        text = str_from(text, len);
        buf_c(out, text.len > 0 ? "\r\n " : "");
    }
}

/* A line end may be "\n", "\r\n" or "\r". Takes one off if it is next. */
static bool take_line_end(struct str *text)
{
    if (str_starts(*text, STR("\r\n"))) {
        *text = str_from(*text, 2);
        return true;
    }
    if (text->len > 0 && (text->ptr[0] == '\n' || text->ptr[0] == '\r')) {
        *text = str_from(*text, 1);
        return true;
    }
    return false;
}

/* Blanks are kept as they are inside a line; at its end they would be lost on the way. */
static bool may_stand(unsigned char c, struct str behind)
{
    if (c == ' ' || c == '\t') {
        return behind.len > 0 && behind.ptr[0] != '\n' && behind.ptr[0] != '\r';
    }
    return c > ' ' && c <= '~' && c != '=';
}

/* The place of the next character in a line that is never longer than it may be: one place is
 * kept for the "=" of a soft line end. */
static void put_piece(struct buf *out, size_t *column, const char *piece, size_t len)
{
    if (*column + len > MAIL_LINE_MAX - 1) {
        buf_c(out, "=\r\n");
        *column = 0;
    }
    buf_add(out, piece, len);
    *column += len;
}

void mail_put_quoted(struct buf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t column = 0;
    while (text.len > 0) {
        if (take_line_end(&text)) {
            buf_c(out, "\r\n");
            column = 0;
            continue;
        }
        size_t len = str_utf8_len(text);
        struct str one = len > 0 ? (struct str){text.ptr, len} : STR(REPLACEMENT);
        text = str_from(text, MAX(len, (size_t)1));
        for (size_t i = 0; i < one.len; i++) {
            unsigned char c = (unsigned char)one.ptr[i];
            if (may_stand(c, text)) {
                put_piece(out, &column, (const char *)&c, 1);
            } else {
                put_piece(out, &column, (const char[]){'=', hex[c >> 4], hex[c & 15]}, 3);
            }
        }
    }
    buf_c(out, column > 0 ? "\r\n" : "");
}

/* ---- HTML made from plain text with a little Markdown ----
 *
 * Only our own words become tags: whatever the text holds is escaped. Links are not made; programs
 * that show mail find addresses by themselves, and an address that is shown is the one that opens.
 */

enum block { BLOCK_NONE, BLOCK_PARAGRAPH, BLOCK_LIST };

static const char *const block_begin[] = {"", "<p>", "<ul>\n"};
static const char *const block_end[] = {"", "</p>\n", "</ul>\n"};

static void put_escaped(struct buf *out, char c)
{
    switch (c) {
    case '&':
        buf_c(out, "&amp;");
        break;
    case '<':
        buf_c(out, "&lt;");
        break;
    case '>':
        buf_c(out, "&gt;");
        break;
    case '"':
        buf_c(out, "&quot;");
        break;
    case '\'':
        buf_c(out, "&#39;");
        break;
    default:
        buf_char(out, c);
    }
}

/* "**strong**" or "`code`" at the beginning of *text: written and taken off. */
static bool take_marked(struct buf *out, struct str *text, struct str mark, const char *tag)
{
    struct str rest = str_from(*text, mark.len);
    const char *end = str_starts(*text, mark) && rest.len > 0
                          ? memmem(rest.ptr, rest.len, mark.ptr, mark.len)
                          : NULL;
    if (end == NULL || end == rest.ptr) {
        return false;
    }
    size_t len = (size_t)(end - rest.ptr);
    buf_printf(out, "<%s>", tag);
    for (size_t i = 0; i < len; i++) {
        put_escaped(out, rest.ptr[i]);
    }
    buf_printf(out, "</%s>", tag);
    *text = str_from(rest, len + mark.len);
    return true;
}

static void put_line(struct buf *out, struct str line)
{
    while (line.len > 0) {
        if (!take_marked(out, &line, STR("**"), "strong") &&
            !take_marked(out, &line, STR("`"), "code")) {
            put_escaped(out, line.ptr[0]);
            line = str_from(line, 1);
        }
    }
}

static void enter_block(struct buf *out, enum block *now, enum block next)
{
    if (*now != next) {
        buf_c(out, block_end[*now]);
        buf_c(out, block_begin[next]);
        *now = next;
    }
}

/* 1 to 3 for "# " to "### "; 0: no heading. */
static size_t heading_level(struct str line)
{
    size_t level = 0;
    while (level < line.len && line.ptr[level] == '#') {
        level++;
    }
    return level <= 3 && level < line.len && line.ptr[level] == ' ' ? level : 0;
}

static void put_block_line(struct buf *out, enum block *now, struct str line)
{
    size_t level = heading_level(line);
    if (level > 0) {
        enter_block(out, now, BLOCK_NONE);
        buf_printf(out, "<h%zu>", level);
        put_line(out, str_trim(str_from(line, level)));
        buf_printf(out, "</h%zu>\n", level);
    } else if (str_starts(line, STR("- ")) || str_starts(line, STR("* "))) {
        enter_block(out, now, BLOCK_LIST);
        buf_c(out, "<li>");
        put_line(out, str_trim(str_from(line, 2)));
        buf_c(out, "</li>\n");
    } else {
        buf_c(out, *now == BLOCK_PARAGRAPH ? "<br>\n" : "");
        enter_block(out, now, BLOCK_PARAGRAPH);
        put_line(out, line);
    }
}

void mail_put_html(struct buf *out, struct str text)
{
    enum block now = BLOCK_NONE;
    buf_c(out, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n");
    while (!str_absent(text)) {
        struct str line = str_cut(&text, '\n');
        line.len -= str_ends(line, STR("\r")) ? 1 : 0;
        if (str_trim(line).len == 0) {
            enter_block(out, &now, BLOCK_NONE);
        } else {
            put_block_line(out, &now, line);
        }
    }
    enter_block(out, &now, BLOCK_NONE);
    buf_c(out, "</body></html>\n");
}

/* ---- Headers ---- */

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] > '~') {
            return false;
        }
    }
    return true;
}

/* A name in ASCII is a quoted string: there, commas and points mean nothing. */
static void put_name(struct buf *out, struct str name, size_t at)
{
    if (!is_ascii(name)) {
        mail_put_text(out, name, at);
        return;
    }
    buf_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        buf_c(out, name.ptr[i] == '"' || name.ptr[i] == '\\' ? "\\" : "");
        buf_char(out, name.ptr[i]);
    }
    buf_char(out, '"');
}

static void put_address(struct buf *out, const char *header, const struct mail_address *who)
{
    buf_printf(out, "%s: ", header);
    if (!str_absent(who->name)) {
        put_name(out, who->name, strlen(header) + 2);
        buf_c(out, "\r\n ");
    }
    buf_char(out, '<');
    buf_str(out, who->address);
    buf_c(out, ">\r\n");
}

/* RFC 5322 has an offset where HTTP has the letters GMT. */
static void put_date(struct buf *out, int64_t date_ms)
{
    SCOPED(buf_fini) struct buf date = BUF_INIT(64);
    time_write_http(&date, date_ms);
    struct str text = buf_view(&date);
    text.len -= str_ends(text, STR("GMT")) ? 3 : 0;
    buf_c(out, "Date: ");
    buf_str(out, text);
    buf_c(out, "+0000\r\n");
}

static bool check_words(const struct mail *mail, struct err *err)
{
    if (!is_at_domain(mail->message_id)) {
        return err_field(err, "messageId", "must look like id@example.org");
    }
    if (mail->subject.len > MAIL_SUBJECT_MAX) {
        return err_field(err, "subject", "must not be longer than %zu bytes",
                         (size_t)MAIL_SUBJECT_MAX);
    }
    if (str_has_control(mail->subject) || !str_is_utf8(mail->subject)) {
        return err_field(err, "subject", "must be one line of plain text");
    }
    return mail->text.len <= MAIL_TEXT_MAX ||
           err_set(err, ERR_TOO_LARGE, "the mail is longer than %zu bytes", (size_t)MAIL_TEXT_MAX);
}

static void put_headers(struct buf *out, const struct mail *mail, const struct mail_address *from,
                        const struct mail_address *to)
{
    put_date(out, mail->date_ms);
    put_address(out, "From", from);
    put_address(out, "To", to);
    buf_c(out, "Subject: ");
    mail_put_text(out, mail->subject, sizeof "Subject: " - 1);
    buf_c(out, "\r\nMessage-ID: <");
    buf_str(out, mail->message_id);
    buf_c(out, ">\r\n"
               "Auto-Submitted: auto-generated\r\n" /* nobody's holiday note need answer it */
               "MIME-Version: 1.0\r\n"
               "Content-Type: multipart/alternative; boundary=\"" BOUNDARY "\"\r\n");
}

/* ---- The whole ---- */

static void put_part(struct buf *out, const char *type, struct str text)
{
    buf_printf(out,
               "\r\n--" BOUNDARY "\r\n"
               "Content-Type: %s; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\n",
               type);
    mail_put_quoted(out, text);
}

bool mail_write(const struct mail *mail, struct buf *out, struct err *err)
{
    SCOPED(buf_fini) struct buf html = BUF_INIT(MAIL_MAX);
    struct mail_address from, to;
    if (!mail_address_read(mail->from, "from", &from, err) ||
        !mail_address_read(mail->to, "to", &to, err) || !check_words(mail, err)) {
        return false;
    }
    put_headers(out, mail, &from, &to);
    put_part(out, "text/plain", mail->text);
    mail_put_html(&html, mail->text);
    put_part(out, "text/html", buf_view(&html));
    buf_c(out, "\r\n--" BOUNDARY "--\r\n");
    return (!out->full && !html.full) ||
           err_set(err, ERR_TOO_LARGE, "the mail is too long once it is written");
}
