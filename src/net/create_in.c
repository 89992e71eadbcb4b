/* net/create_in.c: the body of POST /api/tasks: an order or many, each with its children.
 *
 * Children are read after their parent's other fields, because they inherit some of them; a family
 * is laid out flat, every child behind its parent. Names (`ref`) are resolved when all orders are
 * known. This runs on the loop that serves everybody, so no step takes longer than n log n.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "net/fault.h"
#include "net/order_in.h"
#include "net/task_in.h"

#define LEVELS_MAX 8 /* children of children, counting the root */

struct reading {
    struct arena *arena;
    size_t payload_max;
    struct create_in *out;
    size_t room;
    struct extra { /* beside each order */
        struct str ref;
        struct texts depends;
    } * extras;
    size_t extras_room;
    size_t depends; /* names and ids so far */
    bool too_many;
};

/* ---- Keeping what was read ---- */

static bool keep(struct reading *reading, const struct order_in *in, struct err *err)
{
    struct create_in *out = reading->out;
    reading->depends += in->depends.count;
    if (reading->depends > DEPENDS_TOTAL_MAX) {
        return err_field(err, "dependsOn",
                         "dependsOn has more than %d ids and names in one request: split it",
                         DEPENDS_TOTAL_MAX);
    }
    if (out->count == CREATE_MAX) {
        reading->too_many = true; /* said by create_read(): it is nobody's field */
        return false;
    }
    out->orders =
        fields_room(reading->arena, out->orders, out->count, &reading->room, sizeof *out->orders);
    reading->extras = fields_room(reading->arena, reading->extras, out->count,
                                  &reading->extras_room, sizeof *reading->extras);
    out->orders[out->count] = in->order;
    reading->extras[out->count] = (struct extra){in->ref, in->depends};
    out->count++;
    return true;
}

/* ---- Children ---- */

static void inherit(struct order_in *child, const struct order_in *parent, size_t place)
{
    child->order.parent = place;
    child->order.task.document = parent->order.task.document;
    child->order.task.queue = parent->order.task.queue;
    child->order.task.priority = parent->order.task.priority;
}

static bool check_child(const struct order_in *child, const struct order_in *parent,
                        struct err *err)
{
    if (child->has_document && !str_absent(parent->order.task.document)) {
        return err_field(err, "documentId",
                         "documentId of a child is its parent's: batches could deadlock otherwise");
    }
    return str_absent(child->order.task.key) ||
           err_field(err, "idempotencyKey", "idempotencyKey belongs to the outermost task");
}

static bool read_child(struct reading *reading, const struct order_in *parent, size_t place,
                       size_t level, struct json *json, struct err *err);

static bool read_children(struct reading *reading, const struct order_in *parent, size_t level,
                          struct err *err)
{
    struct json json;
    size_t place = reading->out->count, index = 0;
    if (str_absent(parent->children)) {
        return true;
    }
    if (level == LEVELS_MAX) {
        return err_field(err, "children",
                         "children may be nested %d levels deep, the root included", LEVELS_MAX);
    }
    json_start(&json, parent->children, reading->arena);
    if (!json_enter_array(&json, err)) {
        return fault_inside(err, "children");
    }
    for (; json_item(&json, err); index++) {
        if (json_peek(&json) != JSON_OBJECT) {
            return err_field(err, "children", "children must be an array of tasks");
        }
        if (!read_child(reading, parent, place, level + 1, &json, err)) {
            return err->field[0] == '\0' ? false : fault_inside(err, "children[%zu]", index);
        }
    }
    return json_ok(&json) &&
           (index > 0 || err_field(err, "children", "children must not be empty"));
}

static bool read_child(struct reading *reading, const struct order_in *parent, size_t place,
                       size_t level, struct json *json, struct err *err)
{
    struct order_in in;
    order_begin(&in, reading->payload_max);
    inherit(&in, parent, place);
    return fields_read(json, order_fields, &in, err) && order_check(&in, err) &&
           check_child(&in, parent, err) && keep(reading, &in, err) &&
           read_children(reading, &in, level, err);
}

/* ---- Names ---- */

/* Sorted rather than hashed: who chooses the names could choose them to collide. */
struct names {
    struct name {
        struct str ref;
        size_t order; /* 1 + its place */
    } * at;
    size_t count;
};

static int compare_names(const void *a, const void *b)
{
    return str_cmp(((const struct name *)a)->ref, ((const struct name *)b)->ref);
}

static bool collect_names(const struct reading *reading, struct names *out, struct err *err)
{
    struct names names = {arena_array(reading->arena, struct name, reading->out->count), 0};
    for (size_t i = 0; i < reading->out->count; i++) {
        if (!str_absent(reading->extras[i].ref)) {
            names.at[names.count++] = (struct name){reading->extras[i].ref, i + 1};
        }
    }
    qsort(names.at, names.count, sizeof *names.at, compare_names);
    for (size_t i = 1; i < names.count; i++) {
        if (str_eq(names.at[i].ref, names.at[i - 1].ref)) {
            return err_field(err, "ref", "ref " STR_FMT " is given twice",
                             STR_ARG(names.at[i].ref));
        }
    }
    *out = names;
    return true;
}

/* One of an order's needs, and where it stood among them. */
struct need {
    struct order_need need;
    size_t at;
};

static bool resolve(const struct names *names, struct str text, struct order_need *need,
                    struct err *err)
{
    const struct name *name = names->count == 0
                                  ? NULL
                                  : bsearch(&(struct name){text, 0}, names->at, names->count,
                                            sizeof *names->at, compare_names);
    *need = (struct order_need){.order = name == NULL ? 0 : name->order};
    return name != NULL || id_parse(text, &need->id) ||
           err_field(err, "dependsOn",
                     "dependsOn names " STR_FMT
                     ", which is neither an id nor a ref of this request",
                     STR_ARG(text));
}

static int compare_needs(const struct order_need *a, const struct order_need *b)
{
    return a->order != b->order   ? (a->order < b->order ? -1 : 1)
           : a->id.hi != b->id.hi ? (a->id.hi < b->id.hi ? -1 : 1)
           : a->id.lo != b->id.lo ? (a->id.lo < b->id.lo ? -1 : 1)
                                  : 0;
}

static int by_need(const void *a, const void *b)
{
    const struct need *one = a, *other = b;
    int order = compare_needs(&one->need, &other->need);
    return order != 0 ? order : one->at < other->at ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
    return ((const struct need *)a)->at < ((const struct need *)b)->at ? -1 : 1;
}

/* What is named twice, an id perhaps in another case, is needed once. The order stays. */
static size_t drop_repeats(struct need *needs, size_t count)
{
    size_t kept = 0;
    qsort(needs, count, sizeof *needs, by_need);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || compare_needs(&needs[kept - 1].need, &needs[i].need) != 0) {
            needs[kept++] = needs[i];
        }
    }
    qsort(needs, kept, sizeof *needs, by_place);
    return kept;
}

static bool resolve_order(struct arena *arena, const struct names *names,
                          const struct texts *depends, struct order *order, struct err *err)
{
    size_t count = depends->count;
    struct need *needs = arena_array(arena, struct need, count);
    for (size_t i = 0; i < count; i++) {
        needs[i].at = i;
        if (!resolve(names, depends->at[i], &needs[i].need, err)) {
            return false;
        }
    }
    count = count > 1 ? drop_repeats(needs, count) : count;
    struct order_need *kept = arena_array(arena, struct order_need, count);
    for (size_t i = 0; i < count; i++) {
        kept[i] = needs[i].need;
    }
    order->needs = kept;
    order->needs_count = count;
    return true;
}

static bool resolve_all(const struct reading *reading, struct err *err)
{
    struct names names;
    if (!collect_names(reading, &names, err)) {
        return false;
    }
    for (size_t i = 0; i < reading->out->count; i++) {
        if (!resolve_order(reading->arena, &names, &reading->extras[i].depends,
                           &reading->out->orders[i], err)) {
            return false;
        }
    }
    return true;
}

/* ---- One order, or many ---- */

static bool read_many(struct reading *reading, struct json *json, struct err *err)
{
    size_t index = 0;
    reading->out->many = true;
    if (!json_enter_array(json, err)) {
        return false;
    }
    for (; json_item(json, err); index++) {
        struct order_in in;
        order_begin(&in, reading->payload_max);
        if (!fields_item(json, order_fields, index, &in, err)) {
            return false;
        }
        if (!order_check(&in, err) || !keep(reading, &in, err) ||
            !read_children(reading, &in, 1, err)) {
            return fault_inside(err, "[%zu]", index);
        }
    }
    return json_ok(json);
}

static bool read_one(struct reading *reading, struct json *json, struct err *err)
{
    struct str key;
    struct order_in in;
    order_begin(&in, reading->payload_max);
    if (!json_enter_object(json, err)) {
        return false;
    }
    if (json_member(json, &key, err)) {
        if (str_is(key, "tasks")) {
            return read_many(reading, json, err) && fields_rest(json, FIELDS_NONE, NULL, err);
        }
        if (!fields_take(json, order_fields, key, &in, err) ||
            !fields_rest(json, order_fields, &in, err)) {
            return false;
        }
    }
    return json_ok(json) && order_check(&in, err) && keep(reading, &in, err) &&
           read_children(reading, &in, 1, err);
}

bool create_read(struct json *json, size_t payload_max, struct create_in *out, struct err *err)
{
    struct reading reading = {.arena = json->arena, .payload_max = payload_max, .out = out};
    *out = (struct create_in){0};
    bool many = json_peek(json) == JSON_ARRAY;
    if (!(many ? read_many(&reading, json, err) : read_one(&reading, json, err))) {
        return reading.too_many &&
               err_field(err, "tasks", "tasks must be at most %d in one request, children included",
                         CREATE_MAX);
    }
    return resolve_all(&reading, err);
}
