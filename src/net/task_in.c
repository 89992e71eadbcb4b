/* net/task_in.c: the body of POST /api/tasks: an order or many, each with its children.
 *
 * The fields of a task are read by its own form (task/task.def); here is what an order has beside
 * them. Children are read after their parent's other fields, because they inherit some of them; a
 * family is laid out flat, every child behind its parent. Names (`ref`) are resolved when all
 * orders are known. This runs on the loop that serves everybody, so no step takes longer than n log
 * n.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "net/task_in.h"

#include <stdlib.h>

#include "net/fault.h"
#include "task/reserved.h"
#include "wire/base64.h"

#define DEPENDS_MAX       1000  /* ids and names in one dependsOn */
#define DEPENDS_TOTAL_MAX 20000 /* in one request */
#define REF_MAX           256   /* bytes of a name inside a request */

/* ---- One order ---- */

/* One order while it is read: its place among those of the request, and what was given beside the
 * task's own fields. */
struct order_in {
    struct order *order;
    uint64_t given; /* of the task's own fields */
    int64_t delay_ms;
    struct str children; /* raw JSON, read after the parent's other fields; absent: none */
    struct str ref;      /* its name for other orders of the request */
    struct form_texts depends;
};

#define TWO_PAYLOADS "must not be given beside the other form of the payload"

static bool read_base64(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct task *task = &((struct order_in *)into)->order->task;
    struct str text;
    (void)row;
    if (!json_str(json, &text, err)) {
        return false;
    }
    if (!str_absent(task->payload)) {
        return json_refuse(json, err, TWO_PAYLOADS);
    }
    task->payload_raw = true;
    return base64_decode(text, json->arena, &task->payload, NULL) ||
           json_refuse(json, err, "must be base64 with padding");
}

static const struct form_hook base64_hook = {.read = read_base64};

#define ROW(label, member, kind, use, ...)                                                         \
    FORM_ROW(label, struct order_in, member, kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row order_rows[] = {
    ROW("payloadBase64", order, FORM_HOOK, FORM_SET, .hook = &base64_hook,
        .schema = "{\"type\":\"string\",\"contentEncoding\":\"base64\"}",
        .about = "Raw bytes instead of `payload`."),
    ROW("delayMs", delay_ms, FORM_I64, FORM_SET | FORM_NULL | FORM_DEFAULT,
        .max = TASK_DURATION_MAX_MS, .standard = -1,
        .about = "Not before this long from now; not beside scheduledAt."),
    ROW("children", children, FORM_ARRAY, FORM_SET,
        .schema = "{\"type\":[\"array\",\"null\"],\"minItems\":1,"
                  "\"items\":{\"$ref\":\"#/components/schemas/Order\"}}",
        .about = "Run one after the other; this task is then their container. 8 levels."),
    ROW("dependsOn", depends, FORM_TEXTS, FORM_SET, .max = DEPENDS_MAX,
        .about = "Ids of tasks, or names (`ref`) of others in the same request: WAITING until all are "
                 "COMPLETED. What is named twice counts once; 20000 in one request."),
    ROW("ref", ref, FORM_TEXT, FORM_SET, .min = 1, .max = REF_MAX,
        .about = "A name for dependsOn inside the same request; not kept."),
};
/* clang-format on */
const struct form order_form = FORM(order_rows);

/* What no row can say alone. */
static bool order_check(const struct order_in *in, size_t payload_max, struct err *err)
{
    const struct task *task = &in->order->task;
    if (in->given & TASK_BIT(payload) && task->payload_raw) {
        return err_field(err, "payload", "payload " TWO_PAYLOADS);
    }
    if (task->payload.len > payload_max) {
        return fault_too_large(err, task->payload_raw ? "payloadBase64" : "payload",
                               task->payload.len, payload_max);
    }
    if (task->scheduled_ms != 0 && in->delay_ms >= 0) {
        return err_field(err, "delayMs", "delayMs must not be given beside scheduledAt");
    }
    return reserved_check(task, err);
}

/* ---- Many ---- */

#define LEVELS_MAX 8 /* children of children, counting the root */

struct reading {
    struct arena *arena;
    size_t payload_max;
    struct create_in *out;
    struct order blank; /* what all begin with: its fifty rows are gone through once */
    size_t room;
    struct extra { /* beside each order */
        struct str ref;
        struct form_texts depends;
    } * extras;
    size_t extras_room;
    size_t depends; /* names and ids so far */
    bool too_many;
};

/* ---- Keeping what was read ---- */

/* An order is a kilobyte: it is read where it stays. */
static void begin(struct reading *reading, struct order_in *in)
{
    struct create_in *out = reading->out;
    out->orders =
        arena_grow(reading->arena, out->orders, out->count, &reading->room, sizeof *out->orders);
    reading->extras = arena_grow(reading->arena, reading->extras, out->count, &reading->extras_room,
                                 sizeof *reading->extras);
    *in = (struct order_in){.order = &out->orders[out->count]};
    *in->order = reading->blank;
    form_init(&order_form, in);
}

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
    in->order->delay_ms = in->delay_ms;
    reading->extras[out->count] = (struct extra){in->ref, in->depends};
    out->count++;
    return true;
}

/* The first of many is there, in `bytes` of the request: the others are likely as long. */
static void make_room(struct reading *reading, size_t bytes, size_t left)
{
    struct create_in *out = reading->out;
    size_t room = MIN(out->count + left / MAX(bytes, 1) + 1, (size_t)CREATE_MAX);
    if (room > reading->room) {
        struct order *orders = arena_alloc(reading->arena, room * sizeof *orders);
        memcpy(orders, out->orders, out->count * sizeof *orders);
        out->orders = orders;
        reading->room = room;
    }
}

/* ---- Children ---- */

static bool check_child(const struct order_in *child, const struct order_in *parent,
                        struct err *err)
{
    if (child->given & TASK_BIT(document) && !str_absent(parent->order->task.document)) {
        return err_field(err, "documentId",
                         "documentId of a child is its parent's: batches could deadlock otherwise");
    }
    return str_absent(child->order->task.key) ||
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
        return form_inside(err, "children");
    }
    for (; json_item(&json, err); index++) {
        if (json_peek(&json) != JSON_OBJECT) {
            return err_field(err, "children", "children must be an array of tasks");
        }
        if (!read_child(reading, parent, place, level + 1, &json, err)) {
            return err->field[0] == '\0' ? false : form_inside(err, "children[%zu]", index);
        }
    }
    return json_ok(&json) &&
           (index > 0 || err_field(err, "children", "children must not be empty"));
}

static bool read_child(struct reading *reading, const struct order_in *parent, size_t place,
                       size_t level, struct json *json, struct err *err)
{
    struct order_in in;
    begin(reading, &in);
    in.order->parent = place;
    in.order->task.document = parent->order->task.document; /* where it was, if they have moved */
    in.order->task.queue = parent->order->task.queue;
    in.order->task.priority = parent->order->task.priority;
    return form_read_for(FORM_SET, json, &task_form, &in.order->task, &in.given,
                         &(struct form_more){&order_form, &in}, err) &&
           order_check(&in, reading->payload_max, err) && check_child(&in, parent, err) &&
           keep(reading, &in, err) && read_children(reading, &in, level, err);
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
                          const struct form_texts *depends, struct order *order, struct err *err)
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
    struct names names = {0};
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
        const char *from = json->at;
        if (!form_item(json, index, err)) {
            return false;
        }
        begin(reading, &in);
        const struct form_more more = {&order_form, &in};
        if (!form_read_for(FORM_SET, json, &task_form, &in.order->task, &in.given, &more, err) ||
            !order_check(&in, reading->payload_max, err) || !keep(reading, &in, err) ||
            !read_children(reading, &in, 1, err)) {
            return form_inside(err, "[%zu]", index);
        }
        if (index == 0) {
            make_room(reading, (size_t)(json->at - from), (size_t)(json->end - json->at));
        }
    }
    return json_ok(json);
}

static bool read_one(struct reading *reading, struct json *json, struct err *err)
{
    static const struct form nothing = {NULL, 0};
    struct str key = STR_NONE;
    struct order_in in;
    if (!json_enter_object(json, err)) {
        return false;
    }
    if (!json_member(json, &key, err)) {
        return json_ok(json) && err_field(err, "taskType", "taskType is required");
    }
    if (str_is(key, "tasks")) {
        return read_many(reading, json, err) &&
               form_read_rest(FORM_SET, json, STR_NONE, &nothing, NULL, NULL, NULL, err);
    }
    begin(reading, &in);
    return form_read_rest(FORM_SET, json, key, &task_form, &in.order->task, &in.given,
                          &(struct form_more){&order_form, &in}, err) &&
           order_check(&in, reading->payload_max, err) && keep(reading, &in, err) &&
           read_children(reading, &in, 1, err);
}

bool create_read(struct json *json, size_t payload_max, struct create_in *out, struct err *err)
{
    struct reading reading = {.arena = json->arena, .payload_max = payload_max, .out = out};
    *out = (struct create_in){0};
    form_init(&task_form, &reading.blank.task);
    bool many = json_peek(json) == JSON_ARRAY;
    if (!(many ? read_many(&reading, json, err) : read_one(&reading, json, err))) {
        return reading.too_many &&
               err_field(err, "tasks", "tasks must be at most %d in one request, children included",
                         CREATE_MAX);
    }
    return resolve_all(&reading, err);
}
