/* net/mcp.h: agents reach the API through the Model Context Protocol: JSON-RPC in a POST to /mcp.
 *
 * A tool is a call of the API under another name: mcp.c reads the protocol, mcp_tools.c says which
 * route carries out which tool and turns arguments into its request; the route's own handler,
 * rights and messages do the rest (api_dispatch). What a tool takes is described by openapi.json.
 *
 * Stateless: each POST stands alone, and the version of the protocol comes with it.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_MCP_H
#define ERRAND_NET_MCP_H

#include "net/auth.h"
#include "net/call.h"

#define MCP_NEWEST       "2025-06-18"
#define MCP_BATCHING     "2025-03-26" /* the one that has batches; spoken where none is named */
#define MCP_BATCH_MAX    100
#define MCP_ANSWER_MAX   (64 * MIB)
#define MCP_WAIT_DEFAULT (30 * SECOND_MS) /* of wait_for_task */
#define MCP_PROGRESS_MS  SECOND_MS        /* between two words about it */

/* ---- Tools ---- */

struct mcp_tool {
    const char *name, *title, *about;
    enum http_method method;
    const char *path;     /* of the route that carries it out */
    const char *subject;  /* the argument that stands for {…} in it; NULL: none */
    const char *request;  /* the schema of its other arguments; NULL: the route's own */
    bool reads, destroys; /* annotations: readOnlyHint, destructiveHint */
    bool repeatable;      /* idempotentHint */
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_tools_count;

const struct mcp_tool *mcp_tool_find(struct str name); /* NULL: there is none */
bool mcp_tool_allowed(const struct mcp_tool *tool, enum role role);
void mcp_tools_write(struct json_writer *w, struct api *api, enum role role); /* an array */

/* The request that a tool with these arguments (a JSON object) is. False: `err` is what a model
 * should mend. */
struct mcp_request {
    enum http_method method;
    struct str path, query, body; /* query and body may be absent */
};
MUST_CHECK bool mcp_tool_request(const struct mcp_tool *tool, struct str arguments,
                                 struct arena *arena, struct mcp_request *out, struct err *err);

/* ---- Answers ---- */

struct mcp_told { /* what a request inside was answered with */
    int status;
    bool refused; /* with 200, by the assistant */
    struct str headers, body;
    struct arena *arena;
};
void mcp_put_content(struct json_writer *w, struct str text);
void mcp_put_result(struct json_writer *w, struct str id, const struct mcp_told *told);

/* Answers a wait_for_task as a stream with `progress`, the token of whoever wants to hear of it.
 * False: its arguments are not right, and the route itself says so better. */
MUST_CHECK bool mcp_wait_begin(const struct call *call, struct str message, struct str progress,
                               struct str arguments);

/* What openapi.json says of the tools, made when it is first asked for. */
struct mcp_book;
void mcp_book_free(struct mcp_book *book); /* NULL is welcome */

#endif
