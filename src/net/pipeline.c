/* net/pipeline.c: requests of one connection that are handled beside each other.
 *
 * A client that sends its next requests without waiting for answers has them in one batch of the
 * engine: where a request overlaps (`admit` says which), it is set aside while it is handled and
 * the next one is read. Answers leave in order: each is kept until those before it have come, and
 * what is complete in one tick leaves in one write. What does not overlap is a barrier: it begins
 * when everything before it is answered, and nothing behind it begins sooner.
 *
 * Thread: net loop. Keeps: G8 (PIPELINE_DEPTH requests; kept answers count among the unsent).
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "net/connection.h"

static struct request *request_at(struct link *link)
{
    return HOLDER(link, struct request, turn);
}

static void append(struct connection *connection, struct request *request)
{
    list_append(&connection->owed, &request->turn);
    connection->owed_count++;
    if (connection->request == request) {
        connection->request = NULL;
        connection->handling = false;
    }
}

static void leave(struct connection *connection, struct request *request)
{
    list_remove(&request->turn);
    connection->owed_count--;
    connection->kept -= request->answer.len;
    connection->server->output_bytes -= connection->cut ? 0 : request->answer.len;
}

void pipeline_set_aside(struct connection *connection)
{
    struct request *request = connection->request;
    bool handled = connection->handling && request != NULL && request->whole;
    if (handled && request->exchange.overlaps && request->exchange.request.keep_alive &&
        !connection->server->quiet && connection->owed_count < PIPELINE_DEPTH - 1 &&
        connection->kept <= UNSENT_MAX && connection->out_pending == 0 &&
        input_of(connection).len > 0) {
        append(connection, request);
    }
}

void pipeline_keep(struct request *request, struct str head, struct str body)
{
    struct connection *connection = request->connection;
    assert(!request->answered && !request->streaming);
    if (!link_in_list(&request->turn)) {
        append(connection, request);
    }
    request->answer = BUF_INIT(head.len + body.len);
    buf_str(&request->answer, head);
    buf_str(&request->answer, body);
    request->answered = true;
    connection->kept += request->answer.len;
    connection->server->output_bytes += connection->cut ? 0 : request->answer.len;
    exchange_timer(&request->exchange, -1, NULL);
    arena_clear(&request->exchange.arena); /* the handler is done with it */
    output_check_total(connection->server);
    if (!connection->stepping) {
        connection_later(connection);
    }
}

void pipeline_send(struct connection *connection)
{
    SCOPED(buf_fini) struct buf all = BUF_INIT(SIZE_MAX / 2);
    struct link *first;
    while (connection->out_pending == 0 && (first = list_first(&connection->owed)) != NULL &&
           request_at(first)->answered && all.len <= UNSENT_MAX) {
        struct request *request = request_at(first);
        leave(connection, request);
        if (all.len == 0 && (list_empty(&connection->owed) ||
                             !request_at(list_first(&connection->owed))->answered)) {
            output_send(connection, buf_view(&request->answer), STR_NONE);
        } else {
            buf_str(&all, buf_view(&request->answer));
        }
        request_end(request);
    }
    if (all.len > 0) {
        output_send(connection, buf_view(&all), STR_NONE);
    }
    connection->last = connection->last || (connection->server->quiet && !connection->handling &&
                                            connection->owed_count == 0);
}

void pipeline_gone(struct connection *connection)
{
    LIST_EACH(&connection->owed, it)
    {
        struct request *request = request_at(it);
        if (!request->answered) {
            request_gone(request);
        }
    }
}

void pipeline_drop(struct connection *connection)
{
    struct link *first;
    while ((first = list_first(&connection->owed)) != NULL) {
        struct request *request = request_at(first);
        leave(connection, request);
        request->connection = NULL;
        if (request->answered) {
            request_end(request);
        } else {
            request_gone(request);
        }
    }
}
