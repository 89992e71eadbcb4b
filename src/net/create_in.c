/* net/create_in.c: the body of POST /api/tasks: an order or many, each with its children.
 *
 * Children are read after their parent's other fields, because they inherit some of them; a family
 * is laid out flat, every child behind its parent. Names (`ref`) are resolved when all orders are
 * known.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
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
    bool too_many;
};

/* ---- Keeping what was read ---- */

static bool keep(struct reading *reading, const struct order_in *in)
{
    struct create_in *out = reading->out;
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
           check_child(&in, parent, err) && keep(reading, &in) &&
           read_children(reading, &in, level, err);
}

/* ---- Names ---- */

static size_t find_ref(const struct reading *reading, struct str name)
{
    for (size_t i = 0; i < reading->out->count; i++) {
        if (str_eq(reading->extras[i].ref, name) && !str_absent(reading->extras[i].ref)) {
            return i + 1;
        }
    }
    return 0;
}

static bool resolve(const struct reading *reading, struct str text, struct order_need *need,
                    struct err *err)
{
    *need = (struct order_need){.order = find_ref(reading, text)};
    return need->order != 0 || id_parse(text, &need->id) ||
           err_field(err, "dependsOn",
                     "dependsOn names " STR_FMT
                     ", which is neither an id nor a ref of this request",
                     STR_ARG(text));
}

static bool resolve_all(const struct reading *reading, struct err *err)
{
    for (size_t i = 0; i < reading->out->count; i++) {
        const struct extra *extra = &reading->extras[i];
        struct order *order = &reading->out->orders[i];
        struct order_need *needs =
            arena_array(reading->arena, struct order_need, extra->depends.count);
        for (size_t j = 0; j < extra->depends.count; j++) {
            if (!resolve(reading, extra->depends.at[j], &needs[j], err)) {
                return false;
            }
        }
        if (!str_absent(extra->ref) && find_ref(reading, extra->ref) != i + 1) {
            return err_field(err, "ref", "ref " STR_FMT " is given twice", STR_ARG(extra->ref));
        }
        order->needs = needs;
        order->needs_count = extra->depends.count;
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
        if (!order_check(&in, err) || !keep(reading, &in) || !read_children(reading, &in, 1, err)) {
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
    return json_ok(json) && order_check(&in, err) && keep(reading, &in) &&
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
