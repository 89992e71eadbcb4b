/* cli/node_faktory.c: the listener for clients of Faktory, where one is asked for. See node.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "cli/node.h"
#include "wire/faktory.h"
#include "wire/uri.h"

/* Of a setting with AUTO_WORDS: what was said, or what fits. */
static bool choose(int64_t word, bool fitting)
{
    return word == 0 ? fitting : word % 2 == 1;
}

/* Whoever can reach the listener can push and fetch, whatever tokens there are for HTTP: a public
 * address needs a password. */
static bool check_exposure(const struct node *node, bool local, struct err *err)
{
    const struct config *config = node->config;
    bool open = str_absent(config->faktory_password) && !node->options.insecure;
    if (!local && open) {
        return err_set(err, ERR_FORBIDDEN,
                       "listening on " STR_FMT
                       " for Faktory without a password would let everybody in: set [faktory] "
                       "password, or say --insecure",
                       STR_ARG(config->faktory_listen));
    }
    if (open && token_book_count(node->book, 1) > 0) {
        log_warn("tokens guard HTTP, but anybody on this machine may speak Faktory: set [faktory] "
                 "password");
    }
    return true;
}

bool node_start_faktory(struct node *node, struct err *err)
{
    const struct config *config = node->config;
    struct str host;
    uint16_t port;
    if (str_absent(config->faktory_listen)) {
        return true;
    }
    if (!uri_parse_address(config->faktory_listen, FAKTORY_PORT, &host, &port, err)) {
        return err_wrap(err, "faktory");
    }
    bool local = node_is_loopback(host), has_cert = !str_absent(config->tls_cert);
    bool tls = choose(config->faktory_tls, has_cert);
    bool six = memchr(host.ptr, ':', host.len) != NULL;
    if (!check_exposure(node, local, err)) {
        return false;
    }
    if (tls && !has_cert) {
        return err_set(err, ERR_INVALID, "[faktory] tls = yes needs [tls] cert and key");
    }
    const struct faktory_options options = {
        .api = node->api,
        .password = config->faktory_password,
        .line_max = (size_t)config->faktory_line,
        .connections_max = (size_t)config->faktory_connections,
        .flush = choose(config->faktory_flush, local && str_absent(config->faktory_password)),
    };
    node->faktory = faktory_start(&options, &node->loop);
    const struct server_options sockets = {
        .loop = &node->loop,
        .listen = arena_printf(&node->config->arena, "%s" STR_FMT "%s:%u", six ? "[" : "",
                               STR_ARG(host), six ? "]" : "", port),
        .tls_cert = tls ? config->tls_cert.ptr : NULL,
        .tls_key = tls ? config->tls_key.ptr : NULL,
        .connections_max = options.connections_max,
        .body_max = options.line_max,
        .head_timeout_ms = FAKTORY_HANDSHAKE_MS,
        .protocol = &faktory_protocol,
        .arg = node->faktory,
    };
    if (!server_start(&sockets, &node->faktory_server, err)) {
        return err_wrap(err, "faktory");
    }
    log_info("Faktory is spoken on " STR_FMT ":%d%s", STR_ARG(host),
             server_port(node->faktory_server), tls ? ", with TLS" : "");
    return true;
}
