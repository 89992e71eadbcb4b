/* tests/fuzz/fuzz_config.c: any file is a configuration within its bounds, or refused with a place.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "cli/config.h"
#include "fuzz.h"
#include "wire/ini.h"

/* Whatever a value is, quotes say it, with a comment behind them. */
static void check_quoted(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf line = BUF_INIT(3 * INI_LINE_MAX);
    struct ini_pair pair;
    buf_c(&line, "key = \"");
    for (size_t i = 0; i < text.len; i++) {
        bool escaped = text.ptr[i] == '"' || text.ptr[i] == '\\';
        buf_c(&line, escaped ? "\\" : "");
        buf_char(&line, text.ptr[i]);
    }
    buf_c(&line, "\" # why ; \"so\"");
    struct ini ini = ini_open(buf_view(&line));
    FUZZ_CLAIM(line.len > INI_LINE_MAX || ini_next(&ini, &pair, NULL));
    FUZZ_CLAIM(line.len > INI_LINE_MAX || str_eq(ini_unquote(&arena, pair.value), text));
}

/* What was accepted keeps the bounds of its row, and can be said again as a flag. */
static void check_setting(struct config *config, const struct setting *setting)
{
    const char *at = (const char *)config + setting->at;
    if (setting->rule.kind == VALUE_TEXT) {
        struct str text = *(const struct str *)at;
        FUZZ_CLAIM(str_absent(text) || (text.len > 0 && text.ptr[text.len] == '\0'));
        FUZZ_CLAIM(config_flag(config, setting->section, setting->key, text, NULL));
        check_quoted(text);
    } else if (setting->rule.kind != VALUE_CHOICE && setting->rule.kind != VALUE_BOOL) {
        int64_t value = *(const int64_t *)at;
        FUZZ_CLAIM(value >= setting->rule.least && value <= setting->rule.most);
    }
}

void fuzz_one(struct str text)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    config_init(&config);
    if (!config_read(&config, "file", text, &err)) {
        FUZZ_CLAIM(err.kind == ERR_INVALID && strncmp(err.text, "file:", 5) == 0);
        return;
    }
    FUZZ_CLAIM(config.log_level >= 0 && config.log_level <= 3);
    for (size_t i = 0; i < settings_count; i++) {
        check_setting(&config, &settings[i]);
    }
}
