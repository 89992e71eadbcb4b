/* cli/setup.c: the configuration in force, and the data folder. See setup.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    return getenv(name);
}

struct str setup_file(const struct setup_options *options)
{
    if (!str_absent(options->config)) {
        return options->config;
    }
    return access(SETUP_FILE_DEFAULT, F_OK) == 0 ? STR(SETUP_FILE_DEFAULT) : STR_NONE;
}

bool setup_config(const struct setup_options *options, struct config *config, struct err *err)
{
    struct str file = setup_file(options);
    config_init(config);
    return (str_absent(file) || config_load(config, file.ptr, err)) &&
           config_environment(config, variable, err) &&
           config_flag(config, "", "data", options->data, err) &&
           config_flag(config, "", "store", options->store, err);
}

bool setup_folder(const struct config *config, struct err *err)
{
    struct stat found;
    if (mkdir(config->data.ptr, 0700) != 0 && errno != EEXIST) {
        return err_set(err, ERR_INVALID, "data folder %s: %s", config->data.ptr, strerror(errno));
    }
    if (stat(config->data.ptr, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return err_set(err, ERR_INVALID, "data folder %s: not a folder", config->data.ptr);
    }
    return true;
}

static bool is_postgres(struct str url)
{
    return str_starts(url, STR("postgres://")) || str_starts(url, STR("postgresql://"));
}

bool setup_store(struct config *config, struct str *url, struct err *err)
{
    struct str path = str_absent(config->store) ? STR("sqlite:errand.db") : config->store;
    if (is_postgres(path)) {
        *url = path;
        return true;
    }
    if (!str_starts(path, STR("sqlite:"))) {
        return err_set(err, ERR_INVALID, "store must begin with sqlite: or postgres://");
    }
    struct str file = str_from(path, strlen("sqlite:"));
    if (file.len == 0) {
        return err_set(err, ERR_INVALID, "store sqlite: needs a path: sqlite:errand.db");
    }
    *url = file.ptr[0] == '/' ? path
                              : arena_printf(&config->arena, "sqlite:" STR_FMT "/" STR_FMT,
                                             STR_ARG(config->data), STR_ARG(file));
    return true;
}

static bool is_memory(struct str broker)
{
    return str_absent(broker) || str_is(broker, "memory") || str_is(broker, "memory:");
}

static bool is_redis(struct str broker)
{
    return str_starts(broker, STR("redis://")) || str_starts(broker, STR("rediss://"));
}

/* The address itself is not repeated: it may hold a password. */
static bool check_broker(const char *field, struct str broker, bool shared, struct err *err)
{
    if (!is_memory(broker) && !is_redis(broker)) {
        return err_field(err, field,
                         "%s must be memory, redis://HOST:PORT or, for TLS, rediss://HOST:PORT",
                         field);
    }
    return shared || is_memory(broker) ||
           err_field(err, field,
                     "%s: Redis needs a store that nodes can share: store = postgres://…", field);
}

bool setup_broker(const struct config *config, struct broker_options *out, struct err *err)
{
    bool shared = !str_absent(config->store) && is_postgres(config->store);
    if (!check_broker("broker", config->broker, shared, err) ||
        !check_broker("broker_high", config->broker_high, shared, err) ||
        !check_broker("broker_low", config->broker_low, shared, err)) {
        return false;
    }
    struct str high = str_absent(config->broker_high) ? config->broker : config->broker_high;
    struct str low = str_absent(config->broker_low) ? config->broker : config->broker_low;
    if (!str_absent(high) && !str_absent(low) && is_redis(high) != is_redis(low)) {
        return err_set(err, ERR_INVALID,
                       "broker_high and broker_low: both must be redis://, or neither");
    }
    /* Nodes that share a store and have no Redis poll it; one node alone knows everything. */
    *out = (struct broker_options){.url = is_redis(high) ? high
                                          : shared       ? STR("poll:")
                                                         : STR("memory:"),
                                   .tls = {.cacert = config->redis_cacert,
                                           .cert = config->redis_cert,
                                           .key = config->redis_key},
                                   .prefix = config->redis_prefix};
    if (is_redis(out->url) && !str_eq(low, high)) {
        out->low_url = low;
    }
    return true;
}
