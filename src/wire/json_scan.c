/* wire/json_scan.c: the letters of JSON. See json_scan.h.
 *
 * Hostile nesting costs one bit a level: the open brackets are a row of bits, not a call stack.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/json_scan.h"

#include <endian.h>

#include "wire/json.h"

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

static const char *fail(struct json_fault *fault, const char *at, const char *what)
{
    *fault = (struct json_fault){at, what};
    return NULL;
}

/* Sets the high bit of each byte that is zero. A byte above a zero one may be set falsely, so only
 * the lowest is to be believed. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - ONES) & ~word & HIGHS;
}

/* Likewise for each byte that is not plain: control, '"', '\\', not ASCII. */
static uint64_t special_bytes(uint64_t word)
{
    return (word & HIGHS) | ((word - 0x20 * ONES) & ~word & HIGHS) |
           zero_bytes(word ^ ('"' * ONES)) | zero_bytes(word ^ ('\\' * ONES));
}

const char *json_scan_plain(const char *p, const char *end)
{
    for (uint64_t word; end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        uint64_t special = special_bytes(le64toh(word)); /* the lowest byte is the first */
        if (special != 0) {
            return p + __builtin_ctzll(special) / 8;
        }
    }
    while (p < end && *p >= ' ' && (unsigned char)*p < 0x80 && *p != '"' && *p != '\\') {
        p++;
    }
    return p;
}

/* The value of four hex digits at p, or -1. */
static int hex4(const char *p, const char *end)
{
    int value = 0;
    if (end - p < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        int digit = str_hex(p[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* p is at a "\u". */
static const char *scan_unicode(const char *p, const char *end, struct json_fault *fault)
{
    int unit = hex4(p + 2, end);
    if (unit < 0) {
        return fail(fault, p, "\\u needs four hex digits");
    }
    if (unit < 0xD800 || unit > 0xDFFF) {
        return p + 6;
    }
    int low = end - p >= 8 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, end) : -1;
    if (unit > 0xDBFF || low < 0xDC00 || low > 0xDFFF) {
        return fail(fault, p, "half of a surrogate pair");
    }
    return p + 12;
}

static const char *scan_escape(const char *p, const char *end, struct json_fault *fault)
{
    if (end - p < 2) {
        return fail(fault, p, "the string does not end");
    }
    if (p[1] == 'u') {
        return scan_unicode(p, end, fault);
    }
    return p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL ? p + 2
                                                              : fail(fault, p, "unknown escape");
}

/* One character that is not plain. */
static const char *scan_special(const char *p, const char *end, bool *escaped,
                                struct json_fault *fault)
{
    if (*p == '\\') {
        *escaped = true;
        return scan_escape(p, end, fault);
    }
    if ((unsigned char)*p < 0x20) {
        return fail(fault, p, "a control character must be escaped");
    }
    size_t len = str_utf8_len((struct str){p, (size_t)(end - p)});
    return len > 0 ? p + len : fail(fault, p, "not UTF-8");
}

const char *json_scan_string(const char *p, const char *end, bool *escaped,
                             struct json_fault *fault)
{
    if (p == end || *p != '"') {
        return fail(fault, p, "expected a string");
    }
    p = json_scan_plain(p + 1, end);
    while (p < end && *p != '"') {
        p = scan_special(p, end, escaped, fault);
        if (p == NULL) {
            return NULL;
        }
        p = json_scan_plain(p, end);
    }
    return p < end ? p + 1 : fail(fault, p, "the string does not end");
}

/* At least one digit. */
static const char *scan_digits(const char *p, const char *end, struct json_fault *fault)
{
    const char *after = p;
    while (after < end && *after >= '0' && *after <= '9') {
        after++;
    }
    return after > p ? after : fail(fault, p, "expected a digit");
}

const char *json_scan_number(const char *p, const char *end, bool *whole, struct json_fault *fault)
{
    p += p < end && *p == '-';
    const char *first = p;
    p = scan_digits(p, end, fault);
    if (p != NULL && *first == '0' && p - first > 1) {
        return fail(fault, first, "a number does not begin with 0");
    }
    *whole = true;
    if (p != NULL && p < end && *p == '.') {
        *whole = false;
        p = scan_digits(p + 1, end, fault);
    }
    if (p != NULL && p < end && (*p | 0x20) == 'e') {
        *whole = false;
        p += p + 1 < end && (p[1] == '+' || p[1] == '-') ? 2 : 1;
        p = scan_digits(p, end, fault);
    }
    return p;
}

static const char *scan_word(const char *p, const char *end, const char *word,
                             struct json_fault *fault)
{
    size_t len = strlen(word);
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0
               ? p + len
               : fail(fault, p, "expected a value");
}

static const char *scan_scalar(const char *p, const char *end, struct json_fault *fault)
{
    bool ignored = false;
    switch (p < end ? *p : '\0') {
    case '"':
        return json_scan_string(p, end, &ignored, fault);
    case 't':
        return scan_word(p, end, "true", fault);
    case 'f':
        return scan_word(p, end, "false", fault);
    case 'n':
        return scan_word(p, end, "null", fault);
    case '-':
    case '0' ... '9':
        return json_scan_number(p, end, &ignored, fault);
    default:
        return fail(fault, p, p < end ? "expected a value" : "the text ends too early");
    }
}

/* The brackets that are open: bit n of `objects` tells whether the nth is a '{'. */
struct nest {
    unsigned depth, base;
    uint64_t objects[JSON_DEPTH_MAX / 64];
};

static bool nest_push(struct nest *nest, bool object)
{
    if (nest->depth == JSON_DEPTH_MAX) {
        return false;
    }
    uint64_t bit = (uint64_t)1 << (nest->depth % 64), *word = &nest->objects[nest->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    nest->depth++;
    return true;
}

static bool nest_in_object(const struct nest *nest)
{
    return nest->objects[(nest->depth - 1) / 64] >> ((nest->depth - 1) % 64) & 1;
}

/* From a key to the value behind its colon. */
static const char *scan_key(const char *p, const char *end, struct json_fault *fault)
{
    bool ignored = false;
    p = json_scan_string(p, end, &ignored, fault);
    if (p == NULL) {
        return NULL;
    }
    p = json_scan_blank(p, end);
    return p < end && *p == ':' ? json_scan_blank(p + 1, end) : fail(fault, p, "expected ':'");
}

/* Opens a bracket and goes to its first value. An empty one is left at its closing bracket, with
 * *empty set. */
static const char *scan_open(const char *p, const char *end, struct nest *nest, bool *empty,
                             struct json_fault *fault)
{
    bool object = *p == '{';
    if (!nest_push(nest, object)) {
        return fail(fault, p, "nested too deeply");
    }
    p = json_scan_blank(p + 1, end);
    *empty = p < end && *p == (object ? '}' : ']');
    return *empty || !object ? p : scan_key(p, end, fault);
}

/* After a value: closes what closes here, and goes on to the next value if a comma says so. */
static const char *scan_close(const char *p, const char *end, struct nest *nest,
                              struct json_fault *fault)
{
    while (nest->depth > nest->base) {
        bool object = nest_in_object(nest);
        p = json_scan_blank(p, end);
        if (p < end && *p == ',') {
            p = json_scan_blank(p + 1, end);
            return object ? scan_key(p, end, fault) : p;
        }
        if (p == end || *p != (object ? '}' : ']')) {
            return fail(fault, p, object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        nest->depth--;
        p++;
    }
    return p;
}

const char *json_scan_value(const char *p, const char *end, unsigned depth,
                            struct json_fault *fault)
{
    struct nest nest = {.depth = depth, .base = depth};
    do {
        if (p < end && (*p == '{' || *p == '[')) {
            bool empty = false;
            p = scan_open(p, end, &nest, &empty, fault);
            if (p == NULL || !empty) {
                continue;
            }
        } else {
            p = scan_scalar(p, end, fault);
        }
        if (p != NULL) {
            p = scan_close(p, end, &nest, fault);
        }
    } while (p != NULL && nest.depth > nest.base);
    return p;
}

static size_t put_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; c >>= 6) {
        out[i] = (char)(0x80 | (c & 0x3F));
    }
    out[0] = (char)((0xF00 >> len) | c);
    return len;
}

/* p is behind the backslash of a scanned escape; returns what follows the escape. */
static const char *unescape_one(const char *p, const char *end, char **out)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    if (*p == 'u') {
        uint32_t c = (uint32_t)hex4(p + 1, end);
        bool pair = c >= 0xD800 && c <= 0xDFFF;
        if (pair) {
            c = 0x10000 + ((c - 0xD800) << 10) + ((uint32_t)hex4(p + 7, end) - 0xDC00);
        }
        *out += put_utf8(c, *out);
        return p + (pair ? 11 : 5);
    }
    const char *named = strchr(names, *p);
    *(*out)++ = named != NULL ? values[named - names] : *p;
    return p + 1;
}

size_t json_unescape(struct str inner, char *out)
{
    const char *p = inner.ptr, *end = inner.ptr + inner.len;
    char *begin = out;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t len = (size_t)((slash == NULL ? end : slash) - p);
        memcpy(out, p, len);
        out += len;
        p += len;
        if (p < end) {
            p = unescape_one(p + 1, end, &out);
        }
    }
    return (size_t)(out - begin);
}
