/* tests/time/test_zones.c: finding zones by name, sharing them, and noticing that one changed.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "time/posix_tz.h"
#include "time/zone.h"

static bool is_refused(struct str name, const char *because)
{
    struct zones *zones = zones_new(NULL);
    const struct zone *zone;
    struct err err = ERR_INIT;
    bool refused = !zones_get(zones, name, &zone, &err) && err.kind == ERR_INVALID &&
                   strstr(err.text, because) != NULL;
    zones_free(zones);
    return refused;
}

TEST(names_that_lead_out_of_the_folder_are_refused)
{
    CHECK(is_refused(STR("../zoneinfo/UTC"), "a time zone is a name"));
    CHECK(is_refused(STR("Europe/../UTC"), "a time zone is a name"));
    CHECK(is_refused(STR("/etc/localtime"), "a time zone is a name"));
    CHECK(is_refused(STR("Europe//Berlin"), "a time zone is a name"));
    CHECK(is_refused(STR("Europe/"), "a time zone is a name"));
    CHECK(is_refused(STR("UTC\0x"), "a time zone is a name"));
    CHECK(is_refused(STR(""), "a time zone is a name"));
    CHECK(is_refused(STR("tzdata.zi"), "a time zone is a name"));
    CHECK(is_refused(STR("A23456789012345678901234567890123456789012345678901234567890abcde"),
                     "a time zone is a name"));
}

TEST(names_that_are_not_there_are_refused_with_their_name)
{
    CHECK(is_refused(STR("Mars/Olympus"), "no time zone \"Mars/Olympus\""));
    CHECK(is_refused(STR("europe/berlin"), "no time zone \"europe/berlin\""));
    CHECK(is_refused(STR("Europe"), "\"Europe\" is not a time zone"));
    CHECK(is_refused(STR("leapseconds"), "not a sound TZif"));
}

TEST(utc_is_there_without_any_zoneinfo)
{
    struct zones *zones = zones_new("/nonexistent");
    struct err err = ERR_INIT;
    const struct zone *zone = NULL;
    CHECK_OK(zones_get(zones, STR("UTC"), &zone, &err));
    CHECK(zone == zone_utc());
    zone_release(zone);
    CHECK(!zones_get(zones, STR("Europe/Berlin"), &zone, &err));
    zones_free(zones);
}

TEST(a_zone_is_read_once_and_outlives_its_registry)
{
    struct zones *zones = zones_new(NULL);
    struct err err = ERR_INIT;
    const struct zone *a = NULL, *b = NULL;
    CHECK_OK(zones_get(zones, STR("Asia/Tokyo"), &a, &err));
    CHECK_OK(zones_get(zones, STR("Asia/Tokyo"), &b, &err));
    CHECK(a == b);
    zones_free(zones);
    zone_release(b);
    CHECK_STR(str_of(zone_name(a)), "Asia/Tokyo");
    CHECK_EQ(zone_wall(a, 0), 9 * 3600);
    zone_release(a);
}

/* A zoneinfo of our own. */
struct folder {
    char path[64], file[96];
    struct zones *zones;
};

static void folder_init(struct folder *f)
{
    strcpy(f->path, "/tmp/errand-zones-XXXXXX");
    CHECK(mkdtemp(f->path) != NULL);
    snprintf(f->file, sizeof f->file, "%s/Here", f->path);
    f->zones = zones_new(f->path);
}

static void folder_fini(struct folder *f)
{
    zones_free(f->zones);
    unlink(f->file);
    rmdir(f->path);
}

/* Puts a copy of a real zone there, as an update would: a new file under the old name. */
static void folder_put(struct folder *f, const char *from)
{
    char bytes[8192], path[128];
    snprintf(path, sizeof path, "%s/%s", ZONE_FOLDER, from);
    FILE *in = fopen(path, "rb");
    CHECK(in != NULL);
    size_t len = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    snprintf(path, sizeof path, "%s.new", f->file);
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(bytes, 1, len, out) == len);
    fclose(out);
    CHECK(rename(path, f->file) == 0);
}

TEST(a_changed_file_is_read_again_and_the_former_zone_stays_as_it_was)
{
    SCOPED(folder_fini) struct folder f;
    struct err err = ERR_INIT;
    const struct zone *tokyo = NULL, *kolkata = NULL;
    folder_init(&f);
    folder_put(&f, "Asia/Tokyo");
    uint64_t stamp = zones_stamp(f.zones);
    CHECK_OK(zones_get(f.zones, STR("Here"), &tokyo, &err));
    folder_put(&f, "Asia/Kolkata");
    CHECK_OK(zones_get(f.zones, STR("Here"), &kolkata, &err));
    CHECK(zones_stamp(f.zones) != stamp);
    CHECK(zone_version(tokyo) != zone_version(kolkata));
    CHECK_EQ(zone_wall(tokyo, 0), 9 * 3600);
    CHECK_EQ(zone_wall(kolkata, 0), 5 * 3600 + 1800);
    zone_release(tokyo);
    zone_release(kolkata);
}

TEST(nothing_changed_means_the_same_stamp)
{
    struct zones *zones = zones_new(NULL);
    CHECK(zones_stamp(zones) == zones_stamp(zones));
    zones_free(zones);
}

static void *get_many(void *zones)
{
    static const char *const names[] = {"Asia/Tokyo", "Europe/Berlin", "America/New_York"};
    for (size_t i = 0; i < 300; i++) {
        const struct zone *zone;
        struct zone_answer answer;
        if (!zones_get(zones, str_of(names[i % 3]), &zone, NULL)) {
            return zones;
        }
        zone_resolve(zone, (int64_t)i * 86400, &answer);
        zone_release(zone);
    }
    return NULL;
}

TEST(threads_share_zones)
{
    struct zones *zones = zones_new(NULL);
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        CHECK(pthread_create(&threads[i], NULL, get_many, zones) == 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    zones_free(zones);
}

TEST(footers_are_read_in_all_their_forms)
{
    struct posix_tz tz;
    CHECK(posix_tz_parse(STR("<+0545>-5:45"), &tz) && !tz.has_dst && tz.std_s == 20700);
    CHECK(posix_tz_parse(STR("CET-1CEST,M3.5.0,M10.5.0/3"), &tz) && tz.dst_s == 7200);
    CHECK(posix_tz_parse(STR("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"), &tz) && tz.start.time_s == -3600);
    CHECK(posix_tz_parse(STR("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"), &tz) && tz.dst_s == 39600);
    CHECK(posix_tz_parse(STR("XXX3EDT4,0/0,J365/23"), &tz) && tz.end.kind == POSIX_JULIAN);
}

TEST(malformed_footers_are_refused)
{
    static const char *const cases[] = {
        "",
        "CE-1",
        "CET",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-25",
        "<+01-1",
        "CET-1CEST,M13.5.0,M10.5.0/3",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1x",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J100",
        "CET-1CEST,J1,J366",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3 ",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct posix_tz tz;
        CHECK(!posix_tz_parse(str_of(cases[i]), &tz));
    }
}

TEST(the_turns_of_a_footer_fall_on_their_days)
{
    struct posix_tz tz;
    CHECK(posix_tz_parse(STR("CET-1CEST,M3.5.0,J60/3"), &tz));
    CHECK_EQ(posix_turn_wall(&tz.start, 2027), 1806199200); /* 28 March 2027, 02:00 */
    CHECK_EQ(posix_turn_wall(&tz.end, 2027), 1803870000);   /* 1 March, 03:00 */
    CHECK_EQ(posix_turn_wall(&tz.end, 2028), 1835492400);   /* 1 March, leap year */
    CHECK(posix_tz_parse(STR("CET-1CEST,59/3,M2.1.2"), &tz));
    CHECK_EQ(posix_turn_wall(&tz.start, 2028), 1835406000); /* 29 February, 03:00 */
}
