/* tests/conformance/test_broker_redis.c: the broker suite for one Redis; with TWO, for two.
 *
 * Two databases of one server are as good as two servers here.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "broker_suite.h"
#include "redis_server.h"

/* Keep the texts for as long as the program runs. */
#define ENV_URL "ERRAND_TEST_REDIS_URL"
#define ENV_LOW "ERRAND_TEST_REDIS_LOW"

void broker_suite_options(struct broker_options *options)
{
    struct redis_server server;
    char low[80];
    redis_server_shared(&server);
    snprintf(low, sizeof low, "%s/1", server.url);
    setenv(ENV_URL, server.url, 1);
    setenv(ENV_LOW, low, 1);
    options->url = str_of(getenv(ENV_URL));
    options->command_ms = REDIS_PATIENCE_MS;
#ifdef TWO
    options->low_url = str_of(getenv(ENV_LOW));
#endif
}
