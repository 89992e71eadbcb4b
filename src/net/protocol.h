/* net/protocol.h: what a server speaks on its connections when that is not HTTP.
 *
 * The server keeps what every protocol needs: sockets, TLS, bytes that wait, time-outs, the limits
 * that all connections share. A protocol is told of a connection, gets its bytes in order, uses as
 * many as it can, and says what it has to say. One session for each connection.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_PROTOCOL_H
#define ERRAND_NET_PROTOCOL_H

#include "base/str.h"

struct connection;

struct protocol {
    /* A client has connected (and TLS is ready): its session. `arg` is that of server_options. */
    void *(*begin)(void *arg, struct connection *connection);
    /* How many of these bytes are done with; the rest comes again, with more behind it. */
    size_t (*take)(void *session, struct str input);
    bool (*full)(const void *session);  /* it takes no more before something was answered */
    bool (*known)(const void *session); /* the client said who it is: time is no longer short */
    /* The client will say no more, but may still listen: answers that are owed go out. */
    void (*half)(void *session);
    void (*gone)(void *session); /* the connection is closed: the last word of it */
};

/* Sends; what the client does not take now is kept and sent later. */
void connection_say(struct connection *connection, struct str bytes);
/* An answer is owed: the connection stays although its client will say no more. False: all were
 * given, and what has come meanwhile is looked at in the next turn. */
void connection_owes(struct connection *connection, bool owes);
void connection_hang_up(struct connection *connection);      /* once all that was said is sent */
bool connection_ending(const struct connection *connection); /* the server is about to end */
size_t connection_siblings(const struct connection *connection); /* of its server, itself too */

#endif
