/* tests/wire/test_form.c: one table reads, asks, shows, copies and describes a struct.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/form.h"

enum colour { RED = 1, GREEN };
static const char *const colours[] = {"", "RED", "GREEN", NULL};
static const char *const stops[] = {"stop", "go", NULL};

struct thing {
    struct str name, note;
    int32_t small;
    int64_t long_ms;
    size_t many;
    double share, cost;
    bool goes;
    enum colour colour;
    struct str tags[2];
    size_t tags_count;
    struct form_texts lines;
    int64_t at_ms;
    int doubled;
};

static bool read_doubled(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    int64_t value;
    (void)row;
    if (!json_i64(json, &value, err)) {
        return false;
    }
    ((struct thing *)into)->doubled = (int)value * 2;
    return true;
}

static void show_doubled(struct json_writer *w, const struct form_row *row, const void *from)
{
    json_put_i64(w, row->name.ptr, ((const struct thing *)from)->doubled);
}

static const struct form_hook doubled = {.read = read_doubled, .show = show_doubled};

static bool is_lower(struct str text)
{
    return text.len == 0 || (text.ptr[0] >= 'a' && text.ptr[0] <= 'z');
}

#define BOTH (FORM_SET | FORM_SHOWN)
#define ROW(label, member, kind, use, ...)                                                         \
    FORM_ROW(label, struct thing, member, kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("name", name, FORM_TEXT, BOTH | FORM_NEEDED, .min = 1, .max = 8, .check = is_lower, .rule = "must be 1 to 8 small letters"),
    ROW("note", note, FORM_TEXT, BOTH | FORM_CHANGE, .max = 4),
    ROW("small", small, FORM_I32, BOTH | FORM_DEFAULT, .min = -1, .max = 9, .standard = 3),
    ROW("wait.longMs", long_ms, FORM_I64, BOTH | FORM_DEFAULT, .max = 100, .standard = 5),
    ROW("wait.share", share, FORM_F64, BOTH | FORM_DEFAULT | FORM_ALWAYS, .max = 1),
    ROW("cost.actual", cost, FORM_F64, BOTH | FORM_NULL, .max = 1000),
    ROW("many", many, FORM_SIZE, BOTH | FORM_DEFAULT, .min = 1, .max = 500, .standard = 50),
    ROW("onEnd", goes, FORM_YES, BOTH, .words = stops),
    ROW("colour", colour, FORM_WORD, BOTH | FORM_CHANGE | FORM_NUMBER, .words = colours),
    ROW("tags", tags, FORM_LIST, BOTH, .max = 2, .item_min = 1, .item_max = 4, .count_at = offsetof(struct thing, tags_count)),
    ROW("lines", lines, FORM_TEXTS, BOTH, .max = 9),
    ROW("at", at_ms, FORM_TIME, FORM_SHOWN, 0),
    ROW("double", doubled, FORM_HOOK, BOTH, .hook = &doubled, .schema = "{\"type\":\"integer\"}", .about = "Twice as much."),
};
/* clang-format on */
static const struct form form = FORM(rows);

static bool read(const char *text, struct thing *out, struct arena *arena, struct err *err)
{
    struct json json;
    uint64_t given = 0;
    *out = (struct thing){0};
    form_init(&form, out);
    json_start(&json, str_of(text), arena);
    return form_read(&json, &form, out, &given, NULL, err) && json_end(&json, err);
}

TEST(a_form_reads_every_kind_of_field)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct thing thing;
    CHECK_OK(read("{\"wait\":{\"share\":0.5,\"longMs\":7},\"name\":\"ann\",\"small\":-1,\"many\":2,"
                  "\"cost\":{\"actual\":2.5},\"onEnd\":\"go\",\"colour\":\"GREEN\","
                  "\"tags\":[\"a\",\"bb\"],\"lines\":[\"x\"],\"double\":4,\"note\":null}",
                  &thing, &arena, &err));
    CHECK_STR(thing.name, "ann");
    CHECK(str_absent(thing.note));
    CHECK_EQ(thing.small, -1);
    CHECK_EQ(thing.long_ms, 7);
    CHECK(thing.share == 0.5 && thing.cost == 2.5);
    CHECK_EQ(thing.many, 2);
    CHECK(thing.goes);
    CHECK_EQ(thing.colour, GREEN);
    CHECK_EQ(thing.tags_count, 2);
    CHECK_STR(thing.tags[1], "bb");
    CHECK_EQ(thing.lines.count, 1);
    CHECK_EQ(thing.doubled, 8);
}

TEST(what_is_not_given_has_its_standard)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct thing thing;
    CHECK_OK(read("{\"name\":\"ann\",\"cost\":null}", &thing, &arena, &err));
    CHECK_EQ(thing.small, 3);
    CHECK_EQ(thing.long_ms, 5);
    CHECK_EQ(thing.many, 50);
    CHECK(thing.share == 0);
    CHECK(thing.cost < 0);
}

TEST(a_refusal_names_the_field_also_inside_an_object)
{
    static const struct {
        const char *text, *field, *want;
    } cases[] = {
        {"{}", "name", "name is required"},
        {"{\"name\":\"\"}", "name", "name must be 1 to 8 small letters"},
        {"{\"name\":\"ANN\"}", "name", "name must be 1 to 8 small letters"},
        {"{\"name\":null}", "name", "name must be a string"},
        {"{\"name\":\"a\\u0000\"}", "name", "name must not hold U+0000"},
        {"{\"note\":\"12345\"}", "note", "note must be at most 4 bytes"},
        {"{\"small\":10}", "small", "small must be from -1 to 9"},
        {"{\"wait\":{\"longMs\":101}}", "wait.longMs", "wait.longMs must be from 0 to 100"},
        {"{\"wait\":{\"share\":2}}", "wait.share", "wait.share must be from 0 to 1"},
        {"{\"wait\":{\"name\":\"a\"}}", "wait.name", "wait.name is not a known field"},
        {"{\"wait\":{\"share\":0,\"share\":0}}", "wait.share", "wait.share is given twice"},
        {"{\"wait\":null}", "wait", "wait must be an object"},
        {"{\"wait.share\":1}", "wait.share", "wait.share is not a known field"},
        {"{\"cost\":{\"actual\":-1}}", "cost.actual", "cost.actual must be from 0 to 1000"},
        {"{\"cost\":{\"actual\":null}}", "cost.actual", "cost.actual must be a number"},
        {"{\"onEnd\":\"stay\"}", "onEnd", "onEnd must be stop or go"},
        {"{\"colour\":\"BLUE\"}", "colour", "colour must be one of RED, GREEN"},
        {"{\"colour\":0}", "colour", "colour must be one of RED, GREEN"},
        {"{\"tags\":[\"long one\"]}", "tags", "tags must be texts of 1 to 4 bytes"},
        {"{\"tags\":\"a\"}", "tags", "tags must be an array of texts"},
        {"{\"tags\":+1}", "", "invalid JSON at byte 8: expected a value"},
        {"{\"at\":\"2027-03-01T09:00:00Z\"}", "at", "at is read only"},
        {"{\"shape\":1}", "shape", "shape is not a known field"},
        {"{\"nmae\":1}", "nmae", "nmae is not a known field; did you mean name?"},
        {"{\"On_End\":1}", "On_End", "On_End is not a known field; did you mean onEnd?"},
        {"{\"wiat\":1}", "wiat", "wiat is not a known field; did you mean wait?"},
        {"{\"wait\":{\"long\":1}}", "wait.long",
         "wait.long is not a known field; did you mean longMs?"},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        struct thing thing;
        CHECK(!read(cases[i].text, &thing, &arena, &err));
        CHECK_STR(str_of(err.text), cases[i].want);
        CHECK_STR(str_of(err.field), cases[i].field);
    }
}

TEST(a_change_knows_only_what_may_be_changed)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct thing thing = {0};
    struct json json;
    uint64_t given = 0;
    json_start(&json, STR("{\"colour\":1}"), &arena);
    CHECK_OK(form_read_for(FORM_CHANGE, &json, &form, &thing, &given, NULL, &err));
    CHECK_EQ(thing.colour, RED);
    CHECK(form_given(&form, given, "colour") && !form_given(&form, given, "note"));
    json_start(&json, STR("{\"small\":1}"), &arena);
    CHECK(!form_read_for(FORM_CHANGE, &json, &form, &thing, &given, NULL, &err));
    CHECK_STR(str_of(err.text), "small is not a known field");
}

TEST(a_query_is_read_by_the_same_rows)
{
    static const struct {
        const char *query, *field, *want;
    } cases[] = {
        {"shape=1", "shape", "shape is not a known parameter"},
        {"man=1", "man", "man is not a known parameter; did you mean many?"},
        {"at=2027-03-01", "at", "at is not a known parameter"},
        {"many=1&many=2", "many", "many is given twice"},
        {"note=", "note", "note must not be empty"},
        {"many=501", "many", "many must be a whole number from 1 to 500"},
        {"colour=BLUE", "colour", "colour must be one of RED, GREEN"},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct thing thing = {0};
    struct err err = ERR_INIT;
    CHECK_OK(form_query(STR("many=7&colour=2&note=a%20b"), &form, &arena, &thing, &err));
    CHECK_EQ(thing.many, 7);
    CHECK_EQ(thing.colour, GREEN);
    CHECK_STR(thing.note, "a b");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err = ERR_INIT;
        CHECK(!form_query(str_of(cases[i].query), &form, &arena, &thing, &err));
        CHECK_STR(str_of(err.text), cases[i].want);
        CHECK_STR(str_of(err.field), cases[i].field);
    }
}

static struct thing example(void)
{
    struct thing thing = {.name = STR("ann"), .colour = RED, .at_ms = 1000, .goes = true};
    form_init(&form, &thing);
    thing.tags[0] = STR("x");
    thing.tags_count = 1;
    return thing;
}

TEST(a_struct_is_shown_with_its_objects_and_without_what_is_unset)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct thing thing = example();
    json_open_object(&w);
    form_show_but(&w, &form, &thing, form_bit(&form, "tags"));
    json_close_object(&w);
    CHECK_STR(buf_view(&buf),
              "{\"name\":\"ann\",\"small\":3,\"wait\":{\"longMs\":5,\"share\":0},\"many\":50,"
              "\"onEnd\":\"go\",\"colour\":\"RED\",\"at\":\"1970-01-01T00:00:01.000Z\","
              "\"double\":0}");
}

TEST(a_change_takes_over_what_was_given_and_leaves_the_rest)
{
    struct thing thing = example(), to = {.colour = GREEN, .small = 7, .tags_count = 0};
    form_apply(&form, form_bit(&form, "colour") | form_bit(&form, "tags"), &to, &thing);
    CHECK_EQ(thing.colour, GREEN);
    CHECK_EQ(thing.tags_count, 0);
    CHECK_EQ(thing.small, 3);
    CHECK_STR(thing.name, "ann");
}

TEST(a_copy_has_texts_of_its_own)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char name[] = "ann", tag[] = "x", line[] = "l";
    struct str lines[] = {{line, 1}};
    struct thing thing = example();
    thing.name = (struct str){name, 3};
    thing.tags[0] = (struct str){tag, 1};
    thing.lines = (struct form_texts){lines, 1};
    form_copy(&form, &thing, &arena);
    name[0] = tag[0] = line[0] = '?';
    lines[0] = STR("other");
    CHECK_STR(thing.name, "ann");
    CHECK_STR(thing.tags[0], "x");
    CHECK_STR(thing.lines.at[0], "l");
    CHECK(str_absent(thing.note));
}

TEST(a_change_takes_what_was_given_and_leaves_the_rest)
{
    struct thing to = {.name = STR("old"), .note = STR("n"), .small = 1, .tags_count = 0};
    const struct thing from = {.name = STR("new"),
                               .note = STR_NONE,
                               .small = 7,
                               .goes = true,
                               .colour = GREEN,
                               .tags = {STR("a"), STR("b")},
                               .tags_count = 2};
    form_apply(&form, form_bit(&form, "note") | form_bit(&form, "small") | form_bit(&form, "tags"),
               &from, &to);
    CHECK_STR(to.name, "old");
    CHECK(str_absent(to.note));
    CHECK_EQ(to.small, 7);
    CHECK(!to.goes);
    CHECK_EQ(to.tags_count, 2);
    CHECK_STR(to.tags[1], "b");
}

TEST(a_struct_made_elsewhere_is_held_to_the_same_limits)
{
    struct err err = ERR_INIT;
    struct thing thing = example();
    CHECK_OK(form_check(&form, &thing, &err));
    thing.long_ms = 101;
    CHECK(!form_check(&form, &thing, &err));
    CHECK_STR(str_of(err.text), "wait.longMs must be from 0 to 100");
    thing.long_ms = 0;
    thing.name = STR("a\xff");
    CHECK(!form_check(&form, &thing, &err));
    CHECK_STR(str_of(err.field), "name");
}

static struct str property(struct str schema, const char *name, struct arena *arena)
{
    return json_find(json_find(schema, "properties", arena), name, arena);
}

TEST(a_schema_says_what_is_read_and_what_is_shown)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf buf = BUF_INIT(16 * KIB);
    struct json_writer w = JSON_WRITER(&buf);
    form_schema(&w, &form, NULL, FORM_SET, false);
    struct str set = buf_view(&buf);
    CHECK(json_valid(set, NULL));
    CHECK_STR(property(set, "name", &arena),
              "{\"type\":\"string\",\"minLength\":1,\"maxLength\":8}");
    CHECK_STR(property(set, "note", &arena), "{\"type\":[\"string\",\"null\"],\"maxLength\":4}");
    CHECK_STR(property(set, "small", &arena),
              "{\"type\":\"integer\",\"minimum\":-1,\"maximum\":9,\"default\":3}");
    CHECK_STR(property(property(set, "wait", &arena), "longMs", &arena),
              "{\"type\":\"integer\",\"minimum\":0,\"maximum\":100,\"default\":5}");
    CHECK_STR(json_find(property(set, "cost", &arena), "type", &arena), "[\"object\",\"null\"]");
    CHECK_STR(property(property(set, "cost", &arena), "actual", &arena),
              "{\"type\":\"number\",\"minimum\":0,\"maximum\":1000}");
    CHECK_STR(property(set, "double", &arena),
              "{\"type\":\"integer\",\"description\":\"Twice as much.\"}");
    CHECK(str_absent(property(set, "at", &arena)));
    CHECK_STR(json_find(set, "required", &arena), "[\"name\"]");
    CHECK_STR(json_find(set, "additionalProperties", &arena), "false");

    SCOPED(buf_fini) struct buf shown = BUF_INIT(16 * KIB);
    struct json_writer shown_w = JSON_WRITER(&shown);
    form_schema(&shown_w, &form, NULL, FORM_SHOWN, true);
    CHECK_STR(property(buf_view(&shown), "onEnd", &arena), "{\"const\":\"go\"}");
    CHECK_STR(property(buf_view(&shown), "at", &arena),
              "{\"type\":\"string\",\"format\":\"date-time\"}");
    CHECK_STR(json_find(buf_view(&shown), "required", &arena),
              "[\"name\",\"small\",\"wait\",\"many\"]");
    CHECK(str_absent(json_find(buf_view(&shown), "additionalProperties", &arena)));
}

TEST(a_parameter_is_described_by_its_row)
{
    static const struct form_row one[] = {
        ROW("many", many, FORM_SIZE, FORM_SET | FORM_DEFAULT, .min = 1, .max = 500, .standard = 50,
            .about = "How many."),
        ROW("note", note, FORM_TEXT, FORM_SET, 0),
    };
    static const struct form asked = FORM(one);
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&buf);
    json_open_array(&w);
    form_parameters(&w, &asked);
    json_close_array(&w);
    CHECK_STR(
        buf_view(&buf),
        "[{\"name\":\"many\",\"in\":\"query\",\"description\":\"How many.\",\"schema\":"
        "{\"type\":\"integer\",\"minimum\":1,\"maximum\":500,\"default\":50}},"
        "{\"name\":\"note\",\"in\":\"query\",\"schema\":{\"type\":\"string\",\"minLength\":1}}]");
}
