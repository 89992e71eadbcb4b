/* cli/migrate.c: `errand migrate`: brings a store's schema up to date.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/setup.h"
#include "cli/verb.h"
#include "store/store.h"

struct migrate {
    struct setup_options setup;
};

static bool migrate(struct str url, struct err *err)
{
    const struct store_options all = {.url = url, .tidies_for = STR(ERRAND_VERSION)};
    struct store *store = NULL;
    /* A store that opens without migrating is as new as this build. */
    bool new = store_open(&(struct store_options){.url = url, .no_migrate = true}, &store, NULL);
    store_close(store);
    store = NULL;
    if (!store_open(&all, &store, err)) {
        return false;
    }
    store_close(store);
    printf(new ? "errand: " STR_FMT " is up to date\n"
               : "errand: " STR_FMT " now has the schema of errand " ERRAND_VERSION "\n",
           STR_ARG(url));
    return true;
}

static enum exit_status run_migrate(const void *options, const struct words *words)
{
    const struct migrate *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    struct err err = ERR_INIT;
    struct str url;
    (void)words;
    return setup_config(&given->setup, &config, &err) && setup_folder(&config, &err) &&
                   setup_store(&config, &url, &err) && migrate(url, &err)
               ? EXIT_OK
               : verb_fail(&err);
}

static const struct option migrate_options[] = {
    SETUP_OPTIONS(struct migrate),
    OPTION_END,
};

const struct verb migrate_verb = {
    .name = "migrate",
    .arguments = "",
    .summary = "bring the store's schema up to date",
    .about =
        "Upgrades the schema, forwards only. errand serve does it by itself unless told not to\n"
        "with --no-migrate. An embedded store must not be in use by a server. In PostgreSQL it\n"
        "also drops the functions that other versions left, once no node of one runs.",
    .examples = "# before serve --no-migrate\nerrand migrate --data DIR",
    .options = migrate_options,
    .size = sizeof(struct migrate),
    .run = run_migrate,
};
