/* net/on_dashboard.c: the dashboard: one page for all of its paths, and the files it is made of.
 *
 * They are embedded from web/ at build (tools/embed_web.py), each plain and packed. A file's name
 * holds a hash of its bytes, so a browser may keep it for ever; the page that names them is asked
 * for again each time and costs a 304. Neither holds any data: whoever may reach the server may
 * have them, and what the page then asks the API for is judged like any other request.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/on.h"

struct asset {
    struct str name;
    const char *type;
    const char *hash;
    struct str plain, packed; /* packed: by gzip */
};
#define STR_INIT(text)                                                                             \
    {                                                                                              \
        "" text, sizeof(text) - 1                                                                  \
    }
#define ASSET_BYTES(bytes)                                                                         \
    {                                                                                              \
        (const char *)(bytes), sizeof(bytes)                                                       \
    }
#include "web_assets.h"

/* Nothing of others is loaded, nothing is run that is not a file of ours, and no other page may
 * show this one inside itself. */
#define PAGE_HEADERS                                                                               \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "                    \
    "frame-ancestors 'none'\r\n"                                                                   \
    "X-Frame-Options: DENY\r\n"                                                                    \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                                  \
    "Cache-Control: no-cache\r\n"
#define ASSET_HEADERS "Cache-Control: public, max-age=31536000, immutable\r\n"

/* "gzip;q=0" is a refusal, and "gzip" wins over what is said of "*". */
static bool takes_gzip(const struct http_request *request)
{
    struct str rest = http_header(&request->headers, "accept-encoding");
    bool any = false;
    while (!str_absent(rest)) {
        struct str weight = str_cut(&rest, ',');
        struct str name = str_trim(str_cut(&weight, ';'));
        weight = str_trim(weight);
        bool wanted = true;
        if (str_starts(weight, STR("q="))) {
            wanted = false;
            for (size_t i = 2; i < weight.len; i++) {
                wanted = wanted || (weight.ptr[i] >= '1' && weight.ptr[i] <= '9');
            }
        }
        if (str_eq_nocase(name, STR("gzip"))) {
            return wanted;
        }
        any = any || (str_is(name, "*") && wanted);
    }
    return any;
}

static void answer_asset(struct call *call, const struct asset *asset, const char *headers)
{
    const struct http_request *request = &call->exchange->request;
    bool packed = takes_gzip(request);
    struct str known = http_header(&request->headers, "if-none-match");
    bool same = !str_absent(known) &&
                memmem(known.ptr, known.len, asset->hash, strlen(asset->hash)) != NULL;
    struct str lines = arena_printf(
        call->arena,
        "ETag: \"%s%s\"\r\nVary: Accept-Encoding\r\nX-Content-Type-Options: nosniff\r\n%s%s",
        asset->hash, packed ? "-gzip" : "", packed && !same ? "Content-Encoding: gzip\r\n" : "",
        headers);
    exchange_answer(call->exchange, same ? 304 : 200, asset->type, lines,
                    same     ? STR("")
                    : packed ? asset->packed
                             : asset->plain);
}

bool on_dashboard(struct call *call, struct err *err)
{
    (void)err;
    answer_asset(call, &assets[0], PAGE_HEADERS);
    return true;
}

bool on_asset(struct call *call, struct err *err)
{
    for (size_t i = 1; i < ARRAY_LEN(assets); i++) {
        if (str_eq(assets[i].name, call->name)) {
            answer_asset(call, &assets[i], ASSET_HEADERS);
            return true;
        }
    }
    return err_set(err, ERR_NOT_FOUND, "there is no such file; load the page again");
}
