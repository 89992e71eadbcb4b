/* client/mail_write.c: a mail as it goes over the wire. See mail.h.
 *
 * The boundary between the parts begins with "=_", which quoted-printable text cannot hold.
 *
 * SPDX-License-Identifier: MIT */
#include "client/mail.h"
#include "client/mail_parts.h"
#include "wire/time.h"

#define BOUNDARY "=_errand_part"

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
