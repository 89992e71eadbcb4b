/* cli/setup.h: what serve, migrate, doctor and token share: the configuration in force, and the
 * data folder.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SETUP_H
#define ERRAND_CLI_SETUP_H

#include "broker/broker.h"
#include "cli/config.h"
#include "cli/option.h"

#define SETUP_FILE_DEFAULT "errand.conf" /* in the working directory; need not be there */

struct setup_options {
    struct str config, data, store;
};

#define SETUP_OPTIONS(type)                                                                        \
    {"data", "DIR", "the data folder (default errand-data)", OPTION_TEXT(type, setup.data)},       \
        {"store", "URL", "the store (default sqlite:errand.db in the data folder)",                \
         OPTION_TEXT(type, setup.store)},                                                          \
    {                                                                                              \
        "config", "FILE", "settings (default errand.conf, if it is there)",                        \
            OPTION_TEXT(type, setup.config)                                                        \
    }

/* Defaults, file, environment and these flags, in that order. `config` is to be ended with
 * config_fini() whatever the answer. */
MUST_CHECK bool setup_config(const struct setup_options *options, struct config *config,
                             struct err *err);

/* The file that setup_config() reads; absent: none. */
struct str setup_file(const struct setup_options *options);

/* Makes the data folder if it is not there, for its owner only. */
MUST_CHECK bool setup_folder(const struct config *config, struct err *err);

/* The store's URL with its path resolved against the data folder; lives in the config's arena.
 * Back ends that this build does not have are refused. */
MUST_CHECK bool setup_store(struct config *config, struct str *url, struct err *err);
/* The broker's URLs: memory: alone, redis:// or poll: in a fleet. The rest is the caller's. */
MUST_CHECK bool setup_broker(const struct config *config, struct broker_options *out,
                             struct err *err);

#endif
