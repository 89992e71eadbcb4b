/* net/fault.c: how a failure is told over HTTP. See fault.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/fault.h"

#include "net/auth.h"

#define RETRY_SOON "Retry-After: 1\r\n"

static const struct fault {
    int status;
    const char *code, *headers;
} faults[] = {
    [ERR_NONE] = {500, "internal", ""},
    [ERR_INVALID] = {400, "invalid_argument", ""},
    [ERR_DENIED] = {401, "unauthenticated", AUTH_CHALLENGE},
    [ERR_FORBIDDEN] = {403, "forbidden", ""},
    [ERR_NOT_FOUND] = {404, "not_found", ""},
    [ERR_METHOD] = {405, "method_not_allowed", ""},
    [ERR_CONFLICT] = {409, "conflict", ""},
    [ERR_LEASE_LOST] = {409, "lease_lost", ""},
    [ERR_TOO_LARGE] = {413, "too_large", ""},
    [ERR_MEDIA] = {415, "unsupported_media_type", ""},
    [ERR_REFUSED] = {422, "unprocessable", ""},
    [ERR_BUSY] = {429, "resource_exhausted", RETRY_SOON},
    [ERR_UNAVAILABLE] = {503, "unavailable", RETRY_SOON},
    [ERR_FATAL] = {503, "unavailable", RETRY_SOON},
    [ERR_INTERNAL] = {500, "internal", ""},
};

int fault_status(enum err_kind kind)
{
    return faults[kind].status;
}

const char *fault_code(enum err_kind kind)
{
    return faults[kind].code;
}

const char *fault_headers(enum err_kind kind)
{
    return faults[kind].headers;
}

void fault_write(struct json_writer *w, const struct err *err)
{
    bool ours = fault_status(err->kind) == 500;
    json_open_object(w);
    json_put_c(w, "code", fault_code(err->kind));
    json_put_c(w, "message", ours ? "an internal error; the server's log has it" : err->text);
    if (err->field[0] != '\0') {
        json_put_c(w, "field", err->field);
    }
    json_close_object(w);
}

bool fault_too_large(struct err *err, const char *field, size_t bytes, size_t limit)
{
    err_field(err, field, "%s has %zu bytes; the limit is %zu", field, bytes, limit);
    if (err != NULL) {
        err->kind = ERR_TOO_LARGE;
    }
    return false;
}
