/* tests/net/test_openapi.c: the description of the API is true to the table that dispatches.
 *
 * SPDX-License-Identifier: MIT */
#include "net/openapi.h"

#include <jansson.h>

#include "net/route.h"
#include "test.h"

static json_t *load(struct buf *buf)
{
    openapi_write(buf, STR("1.2.3"));
    json_t *document = json_loadb(buf->ptr, buf->len, JSON_REJECT_DUPLICATES, NULL);
    CHECK(!buf->full);
    CHECK(document != NULL);
    return document;
}

static const char *lower(enum http_method method)
{
    return method == HTTP_GET     ? "get"
           : method == HTTP_POST  ? "post"
           : method == HTTP_PUT   ? "put"
           : method == HTTP_PATCH ? "patch"
                                  : "delete";
}

TEST(every_route_is_described)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    json_t *document = load(&buf), *paths = json_object_get(document, "paths");
    for (size_t i = 0; i < routes_count; i++) {
        json_t *path = json_object_get(paths, routes[i].path);
        json_t *operation = json_object_get(path, lower(routes[i].method));
        CHECK(operation != NULL);
        CHECK(json_object_size(json_object_get(operation, "responses")) >= 2);
        CHECK((json_object_get(operation, "requestBody") != NULL) == (routes[i].request != NULL));
    }
    json_decref(document);
}

static bool is_routed(const char *path, const char *method)
{
    for (size_t i = 0; i < routes_count; i++) {
        if (strcmp(routes[i].path, path) == 0 && strcmp(lower(routes[i].method), method) == 0) {
            return true;
        }
    }
    return false;
}

TEST(everything_described_is_routed)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    json_t *document = load(&buf), *operations, *operation;
    const char *path, *method;
    json_object_foreach(json_object_get(document, "paths"), path, operations)
    {
        json_object_foreach(operations, method, operation)
        {
            CHECK(is_routed(path, method));
        }
    }
    json_decref(document);
}

/* Every {"$ref": …} below `value` names a schema that is there. */
static void check_refs(const json_t *schemas, json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;
    json_object_foreach(value, key, member)
    {
        if (strcmp(key, "$ref") == 0) {
            const char *name = json_string_value(member) + strlen("#/components/schemas/");
            CHECK(json_object_get(schemas, name) != NULL);
        }
        check_refs(schemas, member);
    }
    json_array_foreach(value, index, member)
    {
        check_refs(schemas, member);
    }
}

TEST(every_schema_that_is_named_is_there)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    json_t *document = load(&buf);
    check_refs(json_object_get(json_object_get(document, "components"), "schemas"), document);
    json_decref(document);
}

static bool find(enum http_method method, const char *path, char allow[ROUTE_ALLOW_MAX],
                 struct err *err)
{
    struct http_request request = {.method = method, .path = str_of(path)};
    const struct route *route;
    struct str name;
    return route_find(&request, &route, &name, allow, err);
}

TEST(a_known_path_with_another_method_lists_those_it_has)
{
    char allow[ROUTE_ALLOW_MAX];
    struct err err = ERR_INIT;

    CHECK(!find(HTTP_PUT, "/api/tasks", allow, &err));
    CHECK_EQ(err.kind, ERR_METHOD);
    CHECK_STR(str_of(allow), "POST, GET, HEAD");
    CHECK(!find(HTTP_GET, "/api/claim", allow, &err));
    CHECK_STR(str_of(allow), "POST");
    CHECK(!find(HTTP_OPTIONS, "/api/tasks/x", allow, &err));
    CHECK_STR(str_of(allow), "GET, HEAD, PATCH, DELETE");
}

TEST(a_path_is_known_only_as_a_whole)
{
    static const char *const unknown[] = {"/nothing",
                                          "/api",
                                          "/api/tasks/",
                                          "/api/tasksx",
                                          "/api/tasks//why",
                                          "/api/tasks/a/b",
                                          "/api/tasks/a/why/",
                                          "*",
                                          ""};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        char allow[ROUTE_ALLOW_MAX];
        struct err err = ERR_INIT;
        CHECK(!find(HTTP_GET, unknown[i], allow, &err));
        CHECK_EQ(err.kind, ERR_NOT_FOUND);
    }
}

TEST(a_segment_stands_for_the_name_and_head_for_get)
{
    struct http_request request = {.method = HTTP_HEAD, .path = STR("/api/tasks/a%2Fb/why")};
    const struct route *route;
    char allow[ROUTE_ALLOW_MAX];
    struct str name;
    struct err err = ERR_INIT;

    CHECK_OK(route_find(&request, &route, &name, allow, &err));
    CHECK_STR(name, "a%2Fb");
    CHECK_STR(str_of(route->path), "/api/tasks/{id}/why");
}

TEST(a_word_comes_before_a_name)
{
    struct http_request request = {.method = HTTP_POST, .path = STR("/api/tasks/cancel")};
    const struct route *route;
    char allow[ROUTE_ALLOW_MAX];
    struct str name;
    struct err err = ERR_INIT;

    CHECK_OK(route_find(&request, &route, &name, allow, &err));
    CHECK_STR(str_of(route->path), "/api/tasks/cancel");
}
