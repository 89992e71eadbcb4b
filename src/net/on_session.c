/* net/on_session.c: signing in and out, for browsers. What a session is: session.h.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/call.h"
#include "wire/uri.h"

#define COOKIE_RULES "; Path=/; HttpOnly; SameSite=Strict"

static int64_t loop_ms(const struct call *call)
{
    return (int64_t)uv_now(call->api->options.loop);
}

/* "Set-Cookie: …": `value` for `age_s` seconds. A proxy before us may speak TLS where we do not:
 * then the page's own address says so. */
static struct str set_cookie(struct call *call, struct str value, int64_t age_s)
{
    struct str origin = http_header(&call->exchange->request.headers, "origin");
    bool tls = call->api->options.auth->tls || str_starts(origin, STR("https://"));
    return arena_printf(call->arena,
                        "Set-Cookie: " SESSION_COOKIE "=" STR_FMT "; Max-Age=%lld" COOKIE_RULES
                        "%s\r\n",
                        STR_ARG(value), (long long)age_s, tls ? "; Secure" : "");
}

/* ---- Who am I ---- */

/* Pages hide from everybody what the server hides from role read: they must know what. */
static struct str show_keys(struct call *call)
{
    _Atomic(const struct redact_keys *) *redact = call->api->options.redact;
    const struct redact_keys *keys = redact == NULL ? NULL : atomic_load(redact);
    SCOPED(buf_fini) struct buf lines = BUF_INIT(16 * KIB);
    buf_c(&lines, "Cache-Control: no-store\r\nX-Errand-Redact: ");
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        buf_c(&lines, i > 0 ? ", " : "");
        uri_encode(&lines, keys->at[i]);
    }
    buf_c(&lines, "\r\n");
    return arena_str(call->arena, buf_view(&lines));
}

bool on_session_show(struct call *call, struct err *err)
{
    const struct auth *auth = call->api->options.auth;
    const struct http_request *request = &call->exchange->request;
    struct token_who who = {.role = ROLE_ADMIN};
    bool required = auth_on(auth, loop_ms(call));
    if (!call_asked(call, NULL, NULL, err)) {
        return false;
    }
    if (required && !auth_identify(auth, request, 0, loop_ms(call), call->arena, &who, err)) {
        /* A page whose session is over asks this to learn it; a wrong token is a mistake. */
        if (!str_absent(http_header(&request->headers, "authorization"))) {
            return false;
        }
        *err = ERR_INIT;
        who = (struct token_who){.role = ROLE_NONE};
    }
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_bool(&w, "required", required);
    if (who.role == ROLE_NONE) {
        json_put_null(&w, "role");
    } else {
        json_put_c(&w, "role", role_name(who.role));
    }
    if (who.user[0] == '\0') {
        json_put_null(&w, "user");
    } else {
        json_put_c(&w, "user", who.user);
    }
    json_close_object(&w);
    call_answer_with(call, 200, "application/json", show_keys(call));
    return true;
}

/* ---- In ---- */

struct sign_in {
    struct str token;
};
static const struct form_row sign_in_rows[] = {
    FORM_ROW("token", struct sign_in, token, FORM_TEXT, FORM_SET, .max = SESSION_TOKEN_MAX,
             .about = "As `errand token create` has printed it."),
};
const struct form sign_in_form = FORM(sign_in_rows);

static bool begin(struct call *call, struct str token, struct str *cookie, struct err *err)
{
    const struct auth *auth = call->api->options.auth;
    uint64_t peer = exchange_peer(call->exchange);
    bool can = auth->sessions != NULL && auth->book != NULL;
    int64_t wait_ms = can ? session_guess_wait_ms(auth->sessions, peer, loop_ms(call)) : 0;
    if (wait_ms > 0) {
        err->retry_after_ms = wait_ms;
        return err_set(err, ERR_BUSY, "too many wrong tokens: try again later");
    }
    bool right =
        can && session_begin(auth->sessions, auth->book, loop_ms(call), token, call->arena, cookie);
    if (can) {
        session_guessed(auth->sessions, peer, right, loop_ms(call));
    }
    return right || err_set(err, ERR_DENIED, "this token is not known");
}

bool on_session_begin(struct call *call, struct err *err)
{
    struct sign_in in = {.token = STR_NONE};
    struct str cookie;
    if (!call_asked(call, NULL, NULL, err) ||
        !call_body(call, &sign_in_form, false, &in, NULL, err)) {
        return false;
    }
    if (str_absent(in.token)) {
        return err_field(err, "token", "token is required");
    }
    if (!begin(call, in.token, &cookie, err)) {
        return false;
    }
    call_answer_empty_with(call, 204, set_cookie(call, cookie, SESSION_MS / SECOND_MS));
    return true;
}

/* ---- Out ---- */

bool on_session_end(struct call *call, struct err *err)
{
    const struct auth *auth = call->api->options.auth;
    const struct http_request *request = &call->exchange->request;
    struct session session;
    struct str cookie;
    if (!call_asked(call, NULL, NULL, err)) {
        return false;
    }
    if (auth_cookie_alone(request, &cookie)) {
        if (!auth_has_own_header(request)) {
            return err_set(err, ERR_FORBIDDEN,
                           "signing out needs the header " AUTH_OWN_HEADER ": 1");
        }
        if (auth->sessions != NULL && auth->book != NULL &&
            session_check(auth->sessions, auth->book, loop_ms(call), cookie, &session)) {
            session_end(auth->sessions, &session);
            if (call->api->options.signed_out != NULL) {
                call->api->options.signed_out(call->api->options.signed_out_arg, &session);
            }
        }
    }
    call_answer_empty_with(call, 204, set_cookie(call, STR(""), 0));
    return true;
}
