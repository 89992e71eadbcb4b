/* client/secret.c: keys and passwords that we show to others. See secret.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/secret.h"

#include <stdio.h>
#include <stdlib.h>

/* What is shorter would put stars over words that have nothing to do with it. */
#define HIDE_MIN 4

static void close_file(FILE **file)
{
    if (*file != NULL) {
        fclose(*file);
    }
}

static bool read_file(const char *path, struct arena *arena, struct str *out, struct err *err)
{
    char *bytes = arena_alloc(arena, SECRET_MAX + 1);
    SCOPED(close_file) FILE *file = fopen(path, "re");
    if (file == NULL) {
        return err_set(err, ERR_INVALID, "the secret in %s cannot be read: %m", path);
    }
    size_t len = fread(bytes, 1, SECRET_MAX + 1, file);
    if (ferror(file)) {
        return err_set(err, ERR_INVALID, "the secret in %s cannot be read: %m", path);
    }
    *out = (struct str){bytes, len};
    return true;
}

static bool find(const struct secret_place *place, struct arena *arena, struct str *out,
                 struct err *err)
{
    if (str_absent(place->variable)) {
        return read_file(arena_c_text(arena, place->file), arena, out, err);
    }
    const char *value = getenv(arena_c_text(arena, place->variable));
    if (value == NULL || value[0] == '\0') {
        return err_set(err, ERR_INVALID, "the environment has no " STR_FMT,
                       STR_ARG(place->variable));
    }
    *out = str_of(value);
    return true;
}

bool secret_read(const struct secret_place *place, struct arena *arena, struct str *out,
                 struct err *err)
{
    struct str found = STR_NONE;
    if (str_absent(place->variable) && str_absent(place->file)) {
        *out = STR_NONE;
        return true;
    }
    if (!find(place, arena, &found, err)) {
        return false;
    }
    found = str_chomp(found);
    struct str name = str_absent(place->variable) ? place->file : place->variable;
    if (found.len == 0 || found.len > SECRET_MAX || str_has_control(found)) {
        return err_set(err, ERR_INVALID,
                       "the secret in " STR_FMT " is empty, too long or has control characters",
                       STR_ARG(name));
    }
    *out = arena_str(arena, found);
    return true;
}

void secret_hide(struct str secret, char *text)
{
    size_t len = strlen(text);
    for (size_t at = 0; secret.len >= HIDE_MIN && at + secret.len <= len; at++) {
        if (memcmp(text + at, secret.ptr, secret.len) == 0) {
            memset(text + at, '*', secret.len);
        }
    }
}
