/* tests/schedule/test_planner_zones.c: new time zone data moves what is planned.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "desk.h"
#include "test.h"

/* A folder of one zone, whose rules are those of a place of the system's. */
struct folder {
    char path[64], file[80];
};

static void set_rules(struct folder *f, const char *place)
{
    char from[128], bytes[64 * 1024], fresh[96];
    snprintf(from, sizeof from, ZONE_FOLDER "/%s", place);
    snprintf(fresh, sizeof fresh, "%s/new", f->path);
    FILE *in = fopen(from, "rb"), *out = fopen(fresh, "wb");
    CHECK(in != NULL && out != NULL);
    size_t len = fread(bytes, 1, sizeof bytes, in);
    CHECK_EQ(fwrite(bytes, 1, len, out), len);
    fclose(in);
    fclose(out);
    CHECK_EQ(rename(fresh, f->file), 0);
}

static void folder_open(struct folder *f, const char *place)
{
    snprintf(f->path, sizeof f->path, "/tmp/errand-zones-XXXXXX");
    CHECK(mkdtemp(f->path) != NULL);
    snprintf(f->file, sizeof f->file, "%s/Here", f->path);
    set_rules(f, place);
}

static void folder_close(struct folder *f)
{
    unlink(f->file);
    rmdir(f->path);
}

TEST(what_changed_while_nobody_was_there_is_planned_again_at_the_start)
{
    SCOPED(folder_close) struct folder f;
    folder_open(&f, "Europe/Berlin");
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.zone_folder = f.path;
    struct task_id id = desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=12;BYMINUTE=0',"
                                        "'timezone':'Here'}");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T11:00:00.000Z");
    set_rules(&f, "Europe/London");
    desk_restart(&d, 0);
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T12:00:00.000Z");
    desk_to(&d, "2027-01-15T11:30:00Z");
    CHECK_STR(desk_story(&d, id), "");
    desk_to(&d, "2027-01-15T12:00:00Z");
    CHECK_STR(desk_story(&d, id), "RUNNING");
}

TEST(what_changes_meanwhile_is_noticed_and_only_that_is_moved)
{
    SCOPED(folder_close) struct folder f;
    folder_open(&f, "Europe/Berlin");
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.zone_folder = f.path;
    d.with.zones_every_ms = HOUR_MS;
    struct task_id here = desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=18;BYMINUTE=0',"
                                          "'timezone':'Here'}");
    struct task_id utc = desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=18;BYMINUTE=0'}");
    int64_t version = desk_schedule(&d, utc).version;
    set_rules(&f, "Asia/Tokyo");
    desk_pass_ms(&d, 2 * HOUR_MS);
    CHECK_STR(desk_times(&d, here), "01-15T09:00"); /* what moved into the past hour still runs */
    CHECK_STR(desk_time(&d, desk_schedule(&d, here).next_ms), "2027-01-16T09:00:00.000Z");
    CHECK_EQ(desk_schedule(&d, utc).version, version);
}
