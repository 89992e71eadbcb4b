/* wire/base64.c: see base64.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(char *out, const unsigned char *in, size_t len)
{
    unsigned bits = (unsigned)in[0] << 16 | (len > 1 ? in[1] : 0u) << 8 | (len > 2 ? in[2] : 0u);
    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = len > 1 ? alphabet[bits >> 6 & 63] : '=';
    out[3] = len > 2 ? alphabet[bits & 63] : '=';
}

void base64_write(struct buf *buf, struct str bytes)
{
    const unsigned char *in = (const unsigned char *)bytes.ptr;
    size_t size = (bytes.len + 2) / 3 * 4;
    char *out = size == 0 ? NULL : buf_room(buf, size);
    if (out == NULL) {
        return;
    }
    for (size_t i = 0; i < bytes.len; i += 3, out += 4) {
        put_group(out, in + i, MIN(bytes.len - i, (size_t)3));
    }
    buf_used(buf, size);
}

static int value_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Reads `len` letters (2 to 4); false if one is foreign or bits are set that belong to no byte. */
static bool take_group(const char *in, size_t len, unsigned char *out)
{
    unsigned bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int value = i < len ? value_of(in[i]) : 0;
        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (unsigned)value;
    }
    for (size_t i = 0; i < len - 1; i++) {
        out[i] = (unsigned char)(bits >> (16 - 8 * i));
    }
    return len == 4 || (bits & (len == 3 ? 0xFFu : 0xFFFFu)) == 0;
}

bool base64_decode(struct str text, struct arena *arena, struct str *out, struct err *err)
{
    size_t letters = text.len;
    while (letters > 0 && text.len - letters < 2 && text.ptr[letters - 1] == '=') {
        letters--;
    }
    if (text.len % 4 != 0) {
        return err_set(err, ERR_INVALID, "base64 comes in groups of four, padded with '='");
    }
    size_t size = letters * 3 / 4;
    unsigned char *bytes = arena_alloc(arena, size + 1);
    for (size_t at = 0; at < letters; at += 4) {
        if (!take_group(text.ptr + at, MIN(letters - at, (size_t)4), bytes + at / 4 * 3)) {
            return err_set(err, ERR_INVALID, "not base64 at byte %zu", at);
        }
    }
    *out = (struct str){(char *)bytes, size};
    return true;
}
