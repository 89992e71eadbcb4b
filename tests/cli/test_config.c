/* tests/cli/test_config.c: settings come from four layers, and a mistake in any of them is named.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/config.h"
#include "test.h"
#include "wire/ini.h"

static bool read_text(struct config *config, const char *text, struct err *err)
{
    *err = ERR_INIT;
    config_init(config);
    return config_read(config, "errand.conf", str_of(text), err);
}

static void check_refused(const char *text, const char *why)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(!read_text(&config, text, &err));
    CHECK_STR(str_of(err.text), why);
}

static const char *no_variable(const char *name)
{
    (void)name;
    return NULL;
}

static const char *some_variables(const char *name)
{
    return strcmp(name, "ERRAND_LISTEN") == 0           ? "127.0.0.1:2"
           : strcmp(name, "ERRAND_LIMITS_PAYLOAD") == 0 ? "2MiB"
                                                        : NULL;
}

static const char *bad_variable(const char *name)
{
    return strcmp(name, "ERRAND_RETENTION_FINISHED") == 0 ? "soon" : NULL;
}

TEST(without_a_file_everything_has_its_default)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(read_text(&config, "", &err));
    CHECK_STR(config.listen, "127.0.0.1:8001");
    CHECK(str_absent(config.store));
    CHECK_EQ(config.retention_finished_ms, 30 * DAY_MS);
    CHECK_EQ(config.limits_payload, 1 << 20);
    CHECK_EQ(config.limits_request, 16 << 20);
    CHECK_EQ(config.limits_connections, 12000);
    CHECK_EQ(config.workers_grace_ms, 10000);
    CHECK_EQ(config.log_level, 1);
}

TEST(a_file_sets_top_level_keys_and_sections)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(read_text(&config,
                    "# mine\n"
                    "listen = 127.0.0.1:0 ; any port\n"
                    "data=/var/lib/errand\r\n"
                    "[retention]\nfinished = 7d\n"
                    "[limits]\npayload = 4k\n"
                    "[log]\nlevel = warn",
                    &err));
    CHECK_STR(config.listen, "127.0.0.1:0");
    CHECK_STR(config.data, "/var/lib/errand");
    CHECK_EQ(config.retention_finished_ms, 7 * DAY_MS);
    CHECK_EQ(config.limits_payload, 4096);
    CHECK_EQ(config.log_level, 2);
}

TEST(the_later_layer_wins)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(read_text(&config, "listen = 127.0.0.1:1\ndata = a\n[limits]\npayload = 1k\n", &err));
    CHECK_OK(config_environment(&config, some_variables, &err));
    CHECK_STR(config.listen, "127.0.0.1:2");
    CHECK_STR(config.data, "a");
    CHECK_EQ(config.limits_payload, 2 << 20);
    CHECK_OK(config_flag(&config, "", "listen", STR("127.0.0.1:3"), &err));
    CHECK_OK(config_flag(&config, "", "data", STR_NONE, &err));
    CHECK_STR(config.listen, "127.0.0.1:3");
    CHECK_STR(config.data, "a");
}

TEST(handlers_say_what_runs_or_where_it_goes)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    config_init(&config);
    CHECK_OK(
        config_read(&config, "errand.conf",
                    STR("[handler.resize]\nexec = ./resize.sh -q\nenv.MODE = fast\n"
                        "limits.memory = 1MiB\n[handler.report]\nurl = https://example.org/r\n"),
                    &err));
    CHECK_EQ(config.handlers.count, 2);
    CHECK_STR(config.handlers.at[0].command.type, "resize");
    CHECK_STR(config.handlers.at[0].command.line, "./resize.sh -q");
    CHECK_STR(config.handlers.at[0].command.env[0].name, "MODE");
    CHECK_EQ(config.handlers.at[0].command.memory_max, MIB);
    CHECK_STR(config.handlers.at[1].push.url, "https://example.org/r");
    CHECK(!config_read(&config, "errand.conf", STR("[handler.x]\nsecret = s\n"), &err));
    CHECK(!config_read(&config, "errand.conf", STR("[handler.y]\ncolour = red\n"), &err));
}

TEST(a_comment_may_follow_a_value_and_quotes_keep_what_looks_like_one)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(read_text(&config,
                    "data = a ; why\n"
                    "[push]  # of handlers\n"
                    "per_host = 50\t# to one host\n"
                    "[faktory]\npassword = \"a # b\"   ; quoted\n"
                    "[smtp]\nfrom = \"Errand # 1\" <errand@example.org> # who writes\n"
                    "[handler.a]\nexec = \"./my script\" -c 'a ; b' ; two words more\n"
                    "env.KEY = 'x ; y'\n"
                    "[handler.b]\nurl = https://example.org/a#b;c # a place in it\n",
                    &err));
    CHECK_STR(config.data, "a");
    CHECK_EQ(config.push_per_host, 50);
    CHECK_STR(config.faktory_password, "a # b");
    CHECK_STR(config.smtp_from, "\"Errand # 1\" <errand@example.org>");
    CHECK_STR(config.handlers.at[0].command.line, "\"./my script\" -c 'a ; b'");
    CHECK_STR(config.handlers.at[0].command.env[0].value, "x ; y");
    CHECK_STR(config.handlers.at[1].push.url, "https://example.org/a#b;c");
}

TEST(an_unknown_section_or_key_is_named_with_its_line)
{
    check_refused("\nlisten = x\nlissten = y\n",
                  "errand.conf:3: lissten is not a setting; did you mean listen?");
    check_refused("colour = y\n",
                  "errand.conf:1: colour is not a setting; there are listen, data, store, broker, "
                  "broker_high, broker_low");
    check_refused("[limit]\npayload = 1\n",
                  "errand.conf:2: [limit] is not a section; did you mean [limits]?");
    check_refused(
        "[weather]\nmodel = x\n",
        "errand.conf:2: [weather] is not a section; there are "
        "redis, retention, limits, schedule, workers, push, cloudtasks, llm, smtp, mobile, "
        "execute, tls, faktory, http, redact, otel, log");
    check_refused("[log]\nlevle = info\n",
                  "errand.conf:2: [log] levle is not a setting; did you mean level?");
}

TEST(a_value_that_does_not_parse_says_what_would_be_right)
{
    check_refused("[limits]\npayload = lots\n",
                  "errand.conf:2: [limits] payload: \"lots\" is not a size; write for example "
                  "1MiB, 4k or 4096");
    check_refused("[retention]\n\nfinished = soon\n",
                  "errand.conf:3: [retention] finished: \"soon\" is not a duration; write for "
                  "example 30s, 10m, 1h30m or 30d");
    check_refused("[limits]\nconnections = 0\n",
                  "errand.conf:2: [limits] connections: must be 1 to 1000000");
    check_refused("listen =\n", "errand.conf:1: listen: the value is empty");
    check_refused("[log]\nlevel = chatty\n",
                  "errand.conf:2: [log] level: \"chatty\" is not one of debug|info|warn|error");
}

TEST(what_is_not_ini_is_refused)
{
    check_refused("listen\n", "errand.conf:1: neither \"key = value\" nor \"[section]\"");
    check_refused("data = a\ndata = b\n", "errand.conf:2: data is given twice");
    check_refused("data = a\n   b\n", "errand.conf:2: neither \"key = value\" nor \"[section]\"");
    check_refused("[log] level = warn\n",
                  "errand.conf:1: neither \"key = value\" nor \"[section]\"");
    check_refused("data = \xff\n", "errand.conf:1: the line is not UTF-8 text");
}

TEST(a_line_that_is_too_long_is_refused)
{
    char text[INI_LINE_MAX + 2];
    memset(text, 'x', sizeof text);
    memcpy(text, "data = ", 7);
    text[sizeof text - 1] = '\0';
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(!read_text(&config, text, &err));
    CHECK(strstr(err.text, "errand.conf:1: the line is longer than ") == err.text);
}

TEST(a_bad_variable_is_named)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    CHECK(read_text(&config, "", &err));
    CHECK_OK(config_environment(&config, no_variable, &err));
    CHECK(!config_environment(&config, bad_variable, &err));
    CHECK_STR(str_of(err.text), "ERRAND_RETENTION_FINISHED: \"soon\" is not a duration; write for "
                                "example 30s, 10m, 1h30m or 30d");
}

TEST(every_setting_has_a_variable_of_its_own)
{
    char name[CONFIG_NAME_MAX], other[CONFIG_NAME_MAX];
    for (size_t i = 0; i < settings_count; i++) {
        config_variable(&settings[i], name);
        for (size_t j = 0; j < i; j++) {
            config_variable(&settings[j], other);
            CHECK(strcmp(name, other) != 0);
        }
    }
}

TEST(a_missing_file_is_an_error)
{
    SCOPED(config_fini) struct config config;
    struct err err = ERR_INIT;
    config_init(&config);
    CHECK(!config_load(&config, "/nonexistent/errand.conf", &err));
}
