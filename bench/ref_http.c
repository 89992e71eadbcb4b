/* bench/ref_http.c: H: the same listener, with nothing behind it: every request is answered at
 * once.
 *
 *     ref_http        prints its address on a line, as `errand serve` does, and runs until killed
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "net/server.h"

/* As long as the answer to a create is. */
static const char answer[] =
    "{\"id\":\"019e0000-0000-7000-8000-000000000000\",\"taskType\":\"bench\",\"queue\":\"bench\","
    "\"payload\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",\"priority\":\"NORMAL\",\"state\":\"QUEUED\","
    "\"attempt\":0,\"retries\":0,\"maxRetries\":3,\"timeoutMs\":300000,"
    "\"createdAt\":\"2027-01-15T08:00:00.000Z\",\"queuedAt\":\"2027-01-15T08:00:00.000Z\","
    "\"updatedAt\":\"2027-01-15T08:00:00.000Z\"}";

static void handle(void *arg, struct exchange *exchange)
{
    (void)arg;
    exchange_answer(exchange, 201, "application/json", STR(""),
                    (struct str){answer, sizeof answer - 1});
}

int main(void)
{
    struct server *server = NULL;
    struct err err = ERR_INIT;
    uv_loop_t *loop = uv_default_loop();
    struct server_options options = {.loop = loop, .listen = STR("127.0.0.1:0"), .handle = handle};
    if (!server_start(&options, &server, &err)) {
        fprintf(stderr, "ref_http: %s\n", err.text);
        return 1;
    }
    printf("ref_http: ready on http://127.0.0.1:%d\n", server_port(server));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
