/* english/place.c: time zones in words: "Tokyo time", "9am ET", "9am in Oslo", "(Madrid)", "14:00
 * UTC+2".
 *
 * A place is the city of a zone in the zone database, or a name that people use for one. What has
 * several meanings (IST, US time) or none names no zone, and says so.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "english/phrase.h"

#define CITY_WORDS_MAX 4
#define CITY_MAX       32
#define HOUR_MAX       14 /* of Etc/GMT-14 */

/* ---- Names ---- */

/* Sorted by the city in lower case, with blanks for underscores and hyphens. */
/* clang-format off */
static const char *const cities[] = {
    "Africa/Abidjan", "Africa/Accra", "America/Adak", "Africa/Addis_Ababa", "Australia/Adelaide",
    "Asia/Aden", "Africa/Algiers", "Asia/Almaty", "Asia/Amman", "Europe/Amsterdam", "Asia/Anadyr",
    "America/Anchorage", "Europe/Andorra", "America/Anguilla", "Indian/Antananarivo",
    "America/Antigua", "Pacific/Apia", "Asia/Aqtau", "Asia/Aqtobe", "America/Araguaina",
    "America/Aruba", "Asia/Ashgabat", "Asia/Ashkhabad", "Africa/Asmara", "Africa/Asmera",
    "Europe/Astrakhan", "America/Asuncion", "Europe/Athens", "America/Atikokan", "America/Atka",
    "Asia/Atyrau", "Pacific/Auckland", "Atlantic/Azores", "Asia/Baghdad", "America/Bahia",
    "America/Bahia_Banderas", "Asia/Bahrain", "Asia/Baku", "Africa/Bamako", "Asia/Bangkok",
    "Africa/Bangui", "Africa/Banjul", "America/Barbados", "Asia/Barnaul", "Asia/Beirut",
    "America/Belem", "Europe/Belfast", "Europe/Belgrade", "America/Belize", "Europe/Berlin",
    "Atlantic/Bermuda", "America/North_Dakota/Beulah", "Asia/Bishkek", "Africa/Bissau",
    "America/Blanc-Sablon", "Africa/Blantyre", "America/Boa_Vista", "America/Bogota",
    "America/Boise", "Pacific/Bougainville", "Europe/Bratislava", "Africa/Brazzaville",
    "Australia/Brisbane", "Australia/Broken_Hill", "Asia/Brunei", "Europe/Brussels",
    "Europe/Bucharest", "Europe/Budapest", "America/Buenos_Aires", "Africa/Bujumbura",
    "Europe/Busingen", "Africa/Cairo", "Asia/Calcutta", "America/Cambridge_Bay",
    "America/Campo_Grande", "Atlantic/Canary", "Australia/Canberra", "America/Cancun",
    "Atlantic/Cape_Verde", "America/Caracas", "Africa/Casablanca", "Antarctica/Casey",
    "America/Catamarca", "America/Cayenne", "America/Cayman", "America/North_Dakota/Center",
    "Africa/Ceuta", "Indian/Chagos", "Pacific/Chatham", "America/Chicago", "America/Chihuahua",
    "Europe/Chisinau", "Asia/Chita", "Asia/Choibalsan", "Asia/Chongqing", "Indian/Christmas",
    "Asia/Chungking", "Pacific/Chuuk", "America/Ciudad_Juarez", "Indian/Cocos", "Asia/Colombo",
    "Indian/Comoro", "Africa/Conakry", "Europe/Copenhagen", "America/Coral_Harbour",
    "America/Cordoba", "America/Costa_Rica", "America/Coyhaique", "America/Creston",
    "America/Cuiaba", "America/Curacao", "Australia/Currie", "Asia/Dacca", "Africa/Dakar",
    "Asia/Damascus", "America/Danmarkshavn", "Africa/Dar_es_Salaam", "Australia/Darwin",
    "Antarctica/Davis", "America/Dawson", "America/Dawson_Creek", "America/Denver",
    "America/Detroit", "Asia/Dhaka", "Asia/Dili", "Africa/Djibouti", "America/Dominica",
    "Africa/Douala", "Asia/Dubai", "Europe/Dublin", "Antarctica/DumontDUrville", "Asia/Dushanbe",
    "Pacific/Easter", "America/Edmonton", "Pacific/Efate", "America/Eirunepe", "Africa/El_Aaiun",
    "America/El_Salvador", "Pacific/Enderbury", "America/Ensenada", "Australia/Eucla",
    "Atlantic/Faeroe", "Pacific/Fakaofo", "Asia/Famagusta", "Atlantic/Faroe", "Pacific/Fiji",
    "America/Fort_Nelson", "America/Fort_Wayne", "America/Fortaleza", "Africa/Freetown",
    "Pacific/Funafuti", "Africa/Gaborone", "Pacific/Galapagos", "Pacific/Gambier", "Asia/Gaza",
    "Europe/Gibraltar", "America/Glace_Bay", "America/Godthab", "America/Goose_Bay",
    "America/Grand_Turk", "America/Grenada", "Pacific/Guadalcanal", "America/Guadeloupe",
    "Pacific/Guam", "America/Guatemala", "America/Guayaquil", "Europe/Guernsey", "America/Guyana",
    "America/Halifax", "Africa/Harare", "Asia/Harbin", "America/Havana", "Asia/Hebron",
    "Europe/Helsinki", "America/Hermosillo", "Asia/Ho_Chi_Minh", "Australia/Hobart",
    "Asia/Hong_Kong", "Pacific/Honolulu", "Asia/Hovd", "America/Indianapolis", "America/Inuvik",
    "America/Iqaluit", "Asia/Irkutsk", "Europe/Isle_of_Man", "Europe/Istanbul", "Asia/Jakarta",
    "America/Jamaica", "Atlantic/Jan_Mayen", "Asia/Jayapura", "Europe/Jersey", "Asia/Jerusalem",
    "Africa/Johannesburg", "Pacific/Johnston", "Africa/Juba", "America/Jujuy", "America/Juneau",
    "Asia/Kabul", "Europe/Kaliningrad", "Asia/Kamchatka", "Africa/Kampala", "Pacific/Kanton",
    "Asia/Karachi", "Asia/Kashgar", "Asia/Kathmandu", "Asia/Katmandu", "Indian/Kerguelen",
    "Asia/Khandyga", "Africa/Khartoum", "Europe/Kiev", "Africa/Kigali", "Africa/Kinshasa",
    "Pacific/Kiritimati", "Europe/Kirov", "America/Indiana/Knox", "America/Knox_IN", "Asia/Kolkata",
    "Pacific/Kosrae", "America/Kralendijk", "Asia/Krasnoyarsk", "Asia/Kuala_Lumpur", "Asia/Kuching",
    "Asia/Kuwait", "Pacific/Kwajalein", "Europe/Kyiv", "America/La_Paz",
    "America/Argentina/La_Rioja", "Africa/Lagos", "Africa/Libreville", "America/Lima",
    "Australia/Lindeman", "Europe/Lisbon", "Europe/Ljubljana", "Africa/Lome", "Europe/London",
    "Arctic/Longyearbyen", "Australia/Lord_Howe", "America/Los_Angeles", "America/Louisville",
    "America/Lower_Princes", "Africa/Luanda", "Africa/Lubumbashi", "Africa/Lusaka",
    "Europe/Luxembourg", "Asia/Macao", "Asia/Macau", "America/Maceio", "Antarctica/Macquarie",
    "Atlantic/Madeira", "Europe/Madrid", "Asia/Magadan", "Indian/Mahe", "Pacific/Majuro",
    "Asia/Makassar", "Africa/Malabo", "Indian/Maldives", "Europe/Malta", "America/Managua",
    "America/Manaus", "Asia/Manila", "Africa/Maputo", "America/Indiana/Marengo", "Europe/Mariehamn",
    "America/Marigot", "Pacific/Marquesas", "America/Martinique", "Africa/Maseru",
    "America/Matamoros", "Indian/Mauritius", "Antarctica/Mawson", "Indian/Mayotte",
    "America/Mazatlan", "Africa/Mbabane", "Antarctica/McMurdo", "Australia/Melbourne",
    "America/Mendoza", "America/Menominee", "America/Merida", "America/Metlakatla",
    "America/Mexico_City", "Pacific/Midway", "Europe/Minsk", "America/Miquelon", "Africa/Mogadishu",
    "Europe/Monaco", "America/Moncton", "Africa/Monrovia", "America/Monterrey",
    "America/Montevideo", "America/Kentucky/Monticello", "America/Montreal", "America/Montserrat",
    "Europe/Moscow", "Asia/Muscat", "Africa/Nairobi", "America/Nassau", "Pacific/Nauru",
    "Africa/Ndjamena", "America/North_Dakota/New_Salem", "America/New_York", "Africa/Niamey",
    "Asia/Nicosia", "America/Nipigon", "Pacific/Niue", "America/Nome", "Pacific/Norfolk",
    "America/Noronha", "Africa/Nouakchott", "Pacific/Noumea", "Asia/Novokuznetsk",
    "Asia/Novosibirsk", "America/Nuuk", "America/Ojinaga", "Asia/Omsk", "Asia/Oral", "Europe/Oslo",
    "Africa/Ouagadougou", "Pacific/Pago_Pago", "Pacific/Palau", "Antarctica/Palmer",
    "America/Panama", "America/Pangnirtung", "America/Paramaribo", "Europe/Paris",
    "Australia/Perth", "America/Indiana/Petersburg", "Asia/Phnom_Penh", "America/Phoenix",
    "Pacific/Pitcairn", "Europe/Podgorica", "Pacific/Pohnpei", "Pacific/Ponape", "Asia/Pontianak",
    "America/Port-au-Prince", "Pacific/Port_Moresby", "America/Port_of_Spain", "America/Porto_Acre",
    "Africa/Porto-Novo", "America/Porto_Velho", "Europe/Prague", "America/Puerto_Rico",
    "America/Punta_Arenas", "Asia/Pyongyang", "Asia/Qatar", "Asia/Qostanay", "Asia/Qyzylorda",
    "America/Rainy_River", "Asia/Rangoon", "America/Rankin_Inlet", "Pacific/Rarotonga",
    "America/Recife", "America/Regina", "America/Resolute", "Indian/Reunion", "Atlantic/Reykjavik",
    "Europe/Riga", "America/Rio_Branco", "America/Argentina/Rio_Gallegos", "Asia/Riyadh",
    "Europe/Rome", "America/Rosario", "Antarctica/Rothera", "Asia/Saigon", "Pacific/Saipan",
    "Asia/Sakhalin", "America/Argentina/Salta", "Europe/Samara", "Asia/Samarkand",
    "America/Argentina/San_Juan", "America/Argentina/San_Luis", "Europe/San_Marino",
    "America/Santa_Isabel", "America/Santarem", "America/Santiago", "America/Santo_Domingo",
    "America/Sao_Paulo", "Africa/Sao_Tome", "Europe/Sarajevo", "Europe/Saratov",
    "America/Scoresbysund", "Asia/Seoul", "Asia/Shanghai", "America/Shiprock", "Europe/Simferopol",
    "Asia/Singapore", "America/Sitka", "Europe/Skopje", "Europe/Sofia", "Atlantic/South_Georgia",
    "Asia/Srednekolymsk", "America/St_Barthelemy", "Atlantic/St_Helena", "America/St_Johns",
    "America/St_Kitts", "America/St_Lucia", "America/St_Thomas", "America/St_Vincent",
    "Atlantic/Stanley", "Europe/Stockholm", "America/Swift_Current", "Australia/Sydney",
    "Antarctica/Syowa", "Pacific/Tahiti", "Asia/Taipei", "Europe/Tallinn", "Pacific/Tarawa",
    "Asia/Tashkent", "Asia/Tbilisi", "America/Tegucigalpa", "Asia/Tehran", "Asia/Tel_Aviv",
    "America/Indiana/Tell_City", "Asia/Thimbu", "Asia/Thimphu", "America/Thule",
    "America/Thunder_Bay", "America/Tijuana", "Africa/Timbuktu", "Europe/Tirane", "Europe/Tiraspol",
    "Asia/Tokyo", "Asia/Tomsk", "Pacific/Tongatapu", "America/Toronto", "America/Tortola",
    "Africa/Tripoli", "Antarctica/Troll", "Pacific/Truk", "America/Argentina/Tucuman",
    "Africa/Tunis", "Asia/Ujung_Pandang", "Asia/Ulaanbaatar", "Asia/Ulan_Bator", "Europe/Ulyanovsk",
    "Asia/Urumqi", "America/Argentina/Ushuaia", "Asia/Ust-Nera", "Europe/Uzhgorod", "Europe/Vaduz",
    "America/Vancouver", "Europe/Vatican", "America/Indiana/Vevay", "Europe/Vienna",
    "Asia/Vientiane", "Europe/Vilnius", "America/Indiana/Vincennes", "America/Virgin",
    "Asia/Vladivostok", "Europe/Volgograd", "Antarctica/Vostok", "Pacific/Wake", "Pacific/Wallis",
    "Europe/Warsaw", "America/Whitehorse", "America/Indiana/Winamac", "Africa/Windhoek",
    "America/Winnipeg", "America/Yakutat", "Asia/Yakutsk", "Australia/Yancowinna", "Asia/Yangon",
    "Asia/Yekaterinburg", "America/Yellowknife", "Asia/Yerevan", "Europe/Zagreb",
    "Europe/Zaporozhye", "Europe/Zurich",
};
/* clang-format on */

/* Short and long names that mean the clock of one region. */
static const struct {
    const char *words, *zone;
} regions[] = {
    {"et", "America/New_York"},
    {"est", "America/New_York"},
    {"edt", "America/New_York"},
    {"pt", "America/Los_Angeles"},
    {"pst", "America/Los_Angeles"},
    {"pdt", "America/Los_Angeles"},
    {"mt", "America/Denver"},
    {"mst", "America/Denver"},
    {"mdt", "America/Denver"},
    {"ct", "America/Chicago"},
    {"cdt", "America/Chicago"},
    {"akst", "America/Anchorage"},
    {"akdt", "America/Anchorage"},
    {"hst", "Pacific/Honolulu"},
    {"cet", "Europe/Paris"},
    {"cest", "Europe/Paris"},
    {"eet", "Europe/Helsinki"},
    {"eest", "Europe/Helsinki"},
    {"wet", "Europe/Lisbon"},
    {"west", "Europe/Lisbon"},
    {"bst", "Europe/London"},
    {"msk", "Europe/Moscow"},
    {"jst", "Asia/Tokyo"},
    {"kst", "Asia/Seoul"},
    {"sgt", "Asia/Singapore"},
    {"hkt", "Asia/Hong_Kong"},
    {"aest", "Australia/Sydney"},
    {"aedt", "Australia/Sydney"},
    {"acst", "Australia/Adelaide"},
    {"acdt", "Australia/Adelaide"},
    {"awst", "Australia/Perth"},
    {"nzst", "Pacific/Auckland"},
    {"nzdt", "Pacific/Auckland"},
    {"sast", "Africa/Johannesburg"},
    {"utc", "UTC"},
    {"gmt", "UTC"},
    {"zulu", "UTC"},
    {"z", "UTC"},
    {"uk", "Europe/London"},
    {"nyc", "America/New_York"},
};

/* Before "time", or as "eastern" alone after a time of the day. */
static const struct {
    const char *words, *zone;
} long_names[] = {
    {"eastern", "America/New_York"},
    {"pacific", "America/Los_Angeles"},
    {"mountain", "America/Denver"},
    {"central", "America/Chicago"},
    {"us eastern", "America/New_York"},
    {"us pacific", "America/Los_Angeles"},
    {"us mountain", "America/Denver"},
    {"us central", "America/Chicago"},
    {"central european", "Europe/Paris"},
    {"eastern european", "Europe/Helsinki"},
    {"western european", "Europe/Lisbon"},
    {"greenwich", "UTC"},
    {"greenwich mean", "UTC"},
    {"british", "Europe/London"},
    {"british summer", "Europe/London"},
    {"uk", "Europe/London"},
    {"england", "Europe/London"},
    {"britain", "Europe/London"},
    {"japan", "Asia/Tokyo"},
    {"japanese", "Asia/Tokyo"},
    {"india", "Asia/Kolkata"},
    {"indian", "Asia/Kolkata"},
    {"germany", "Europe/Berlin"},
    {"german", "Europe/Berlin"},
    {"france", "Europe/Paris"},
    {"french", "Europe/Paris"},
    {"italy", "Europe/Rome"},
    {"ireland", "Europe/Dublin"},
    {"irish", "Europe/Dublin"},
    {"israel", "Asia/Jerusalem"},
    {"austria", "Europe/Vienna"},
    {"switzerland", "Europe/Zurich"},
    {"swiss", "Europe/Zurich"},
    {"poland", "Europe/Warsaw"},
    {"sweden", "Europe/Stockholm"},
    {"norway", "Europe/Oslo"},
    {"denmark", "Europe/Copenhagen"},
    {"finland", "Europe/Helsinki"},
    {"greece", "Europe/Athens"},
    {"turkey", "Europe/Istanbul"},
    {"korea", "Asia/Seoul"},
    {"korean", "Asia/Seoul"},
    {"hawaii", "Pacific/Honolulu"},
    {"kolkata", "Asia/Kolkata"},
    {"kyiv", "Europe/Kyiv"},
};

/* Names with several meanings; each is the user's own zone when that has this offset then. */
static const struct {
    const char *word, *area;
    int offset_min;
} several[] = {
    {"ist", "Asia/Kolkata", 330},
    {"ist", "Asia/Calcutta", 330},
    {"ist", "Europe/Dublin", 60},
    {"ist", "Asia/Jerusalem", 120},
    {"ist", "Asia/Tel_Aviv", 120},
    {"cst", "America/", -360},
    {"cst", "Asia/Shanghai", 480},
    {"cst", "Asia/Taipei", 480},
    {"cst", "America/Havana", -300},
    {"ast", "America/", -240},
    {"ast", "Atlantic/Bermuda", -240},
    {"gst", "Asia/Dubai", 240},
    {"sst", "Pacific/", -660},
    {"amt", "America/", -240},
    {"amt", "Asia/Yerevan", 240},
    {"wst", "Pacific/Apia", 780},
    {"ect", "America/Guayaquil", -300},
    {"bdt", "Asia/Dhaka", 360},
    {"cat", "Africa/", 120},
};

/* Words before "time" that are no place: "focus time", "bath time". */
static const char *const no_places[] = {
    "focus",     "quiet",    "story",    "play",    "tea",      "bath",    "bed",      "lunch",
    "dinner",    "family",   "screen",   "free",    "me",       "nap",     "snack",    "reading",
    "homework",  "quality",  "break",    "prep",    "travel",   "study",   "movie",    "work",
    "own",       "personal", "spare",    "down",    "school",   "game",    "supper",   "breakfast",
    "deep",      "practice", "practise", "circle",  "tummy",    "cuddle",  "couch",    "tv",
    "alone",     "gym",      "coding",   "writing", "thinking", "piano",   "garden",   "craft",
    "full",      "part",     "real",     "same",    "first",    "last",    "next",     "this",
    "that",      "any",      "some",     "all",     "party",    "show",    "crunch",   "half",
    "extra",     "over",     "long",     "short",   "good",     "big",     "the",      "a",
    "run",       "response", "up",       "load",    "boot",     "start",   "end",      "arrival",
    "departure", "flight",   "opening",  "closing", "cook",     "waiting", "build",    "lead",
    "bonding",   "date",     "beer",     "coffee",  "hammer",   "prime",   "kick-off", "wake-up",
    "billable",  "buffer",   "office",   "meeting", "training", "cleanup", "clean-up", "log",
};

static int compare(struct str city, const char *zone)
{
    const char *name = strrchr(zone, '/') + 1;
    for (size_t i = 0;; i++) {
        char ch = name[i] == '_' || name[i] == '-' ? ' ' : name[i];
        ch = ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
        if (i >= city.len) {
            return ch == '\0' ? 0 : -1;
        }
        if (city.ptr[i] != ch) {
            return (unsigned char)city.ptr[i] < (unsigned char)ch ? -1 : 1;
        }
    }
}

/* Zones with the name of something else. */
static bool is_a_word(struct str city)
{
    static const char *const words[] = {"wake",      "midway",  "easter",
                                        "christmas", "reunion", "center"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_is(city, words[i])) {
            return true;
        }
    }
    return false;
}

static const char *find_city(struct str city)
{
    if (is_a_word(city)) {
        return NULL;
    }
    size_t low = 0, high = ARRAY_LEN(cities);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(city, cities[middle]);
        if (order == 0) {
            return cities[middle];
        }
        if (order > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* The tokens as one name in lower case: "New York", "port-au-prince". */
static struct str name_of(const struct tokens *t, size_t from, size_t to, char *name)
{
    size_t n = 0;
    for (size_t at = from; at < to && at < t->count; at++) {
        struct str text = t->at[at].text;
        if (at > from && n < CITY_MAX) {
            name[n++] = ' ';
        }
        for (size_t i = 0; i < text.len && n < CITY_MAX; i++) {
            char ch = text.ptr[i];
            ch = ch == '-' ? ' ' : ch;
            name[n++] = ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
        }
    }
    return n < CITY_MAX ? (struct str){name, n} : STR("");
}

static const char *find_long_name(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(long_names); i++) {
        if (str_is(name, long_names[i].words)) {
            return long_names[i].zone;
        }
    }
    return NULL;
}

static const char *find_region(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(regions); i++) {
        if (str_is(name, regions[i].words)) {
            return regions[i].zone;
        }
    }
    return NULL;
}

static bool has_several_meanings(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(several); i++) {
        if (str_is(name, several[i].word)) {
            return true;
        }
    }
    return false;
}

bool place_is_users(struct str name, const struct zone *zone, int64_t at_s)
{
    struct zone_span span;
    char lower[CITY_MAX];
    struct tokens one = {.at = &(struct token){.text = name}, .count = 1};
    struct str word = name_of(&one, 0, 1, lower);
    zone_span_at(zone, at_s, &span);
    for (size_t i = 0; i < ARRAY_LEN(several); i++) {
        if (str_is(word, several[i].word) &&
            str_starts(str_of(zone_name(zone)), str_of(several[i].area)) &&
            span.offset_s == several[i].offset_min * 60) {
            return true;
        }
    }
    return false;
}

/* ---- Offsets ---- */

const char *place_of_offset(int minutes, struct arena *arena)
{
    if (minutes == 0) {
        return "UTC";
    }
    if (minutes % 60 != 0 || minutes > HOUR_MAX * 60 || minutes < -12 * 60) {
        return NULL;
    }
    SCOPED(buf_fini) struct buf name = BUF_INIT(32);
    buf_printf(&name, "Etc/GMT%c%d", minutes > 0 ? '-' : '+', abs(minutes / 60));
    return arena_c_text(arena, buf_view(&name));
}

/* UTC+2, GMT-5, UTC +02:00. */
static size_t by_offset(const struct tokens *t, size_t at, const char **zone)
{
    char name[CITY_MAX];
    struct str word = name_of(t, at, at + 1, name);
    if (word.len < 3 || (memcmp(word.ptr, "utc", 3) != 0 && memcmp(word.ptr, "gmt", 3) != 0)) {
        return at;
    }
    struct str sum = str_from(t->at[at].text, 3);
    size_t to = at + 1;
    if (sum.len == 0 && to + 1 < t->count && t->at[to + 1].glued &&
        (str_is(t->at[to].text, "+") || token_is(t, to, WORD_DASH))) {
        const char *from = t->at[to].text.ptr;
        sum = (struct str){from, (size_t)(t->at[to + 1].text.ptr - from) + t->at[to + 1].text.len};
        to += 2;
    } else if (sum.len == 0 && to < t->count && t->at[to].text.ptr[0] == '-' && t->at[to].digits) {
        sum = t->at[to++].text;
    }
    int hours = 0, minutes = 0;
    size_t i = 1;
    if (sum.len < 2 || (sum.ptr[0] != '+' && sum.ptr[0] != '-')) {
        return at;
    }
    for (; i < sum.len && i <= 2 && sum.ptr[i] >= '0' && sum.ptr[i] <= '9'; i++) {
        hours = hours * 10 + sum.ptr[i] - '0';
    }
    i += i < sum.len && sum.ptr[i] == ':';
    for (; i < sum.len && sum.ptr[i] >= '0' && sum.ptr[i] <= '9'; i++) {
        minutes = MIN(minutes * 10 + sum.ptr[i] - '0', 99);
    }
    if (i < sum.len) {
        return at;
    }
    *zone = place_of_offset((hours * 60 + minutes) * (sum.ptr[0] == '-' ? -1 : 1), t->arena);
    return to;
}

/* ---- The phrase ---- */

static bool is_no_place(const struct tokens *t, size_t at)
{
    for (size_t i = 0; i < ARRAY_LEN(no_places); i++) {
        if (token_is_word(t, at, no_places[i])) {
            return true;
        }
    }
    return false;
}

static size_t zone_noun(const struct tokens *t, size_t at)
{
    size_t to = at;
    to += token_is_word(t, to, "standard") || token_is_word(t, to, "daylight") ||
          token_is_word(t, to, "local");
    return token_is(t, to, WORD_TIME) && !t->at[to].possessive ? to + 1 : at;
}

/* "Tokyo time", "New York time", "US Eastern standard time". */
static size_t named_time(const struct tokens *t, size_t at, bool after_clock, struct phrase *out)
{
    char name[CITY_MAX];
    for (size_t words = CITY_WORDS_MAX; words > 0; words--) {
        size_t noun = at + words, end = zone_noun(t, noun);
        struct str place = end > noun ? name_of(t, at, noun, name) : STR("");
        const char *zone = place.len == 0 ? NULL : find_city(place);
        zone = zone != NULL || place.len == 0 ? zone : find_long_name(place);
        zone = zone != NULL || place.len == 0 ? zone : find_region(place);
        if (zone != NULL) {
            out->said.zone = zone;
            return end;
        }
        if (words == 1 && end > noun && has_several_meanings(place)) {
            out->said.unsure_zone = t->at[at].text;
            return end;
        }
    }
    size_t end = zone_noun(t, at + 1);
    bool word = token_is_plain(t, at) && !t->at[at].quoted && !is_no_place(t, at);
    if (after_clock && word && end > at + 1) { /* "springfield time" */
        out->said.fault = FAULT_PLACE;
        return end;
    }
    return at;
}

/* "(Madrid)". */
static size_t in_brackets(const struct tokens *t, size_t at, struct phrase *out)
{
    char name[CITY_MAX];
    if (at >= t->count || !str_is(t->at[at].text, "(")) {
        return at;
    }
    for (size_t end = at + 2; end <= at + 1 + CITY_WORDS_MAX && end < t->count; end++) {
        if (str_is(t->at[end].text, ")")) {
            struct phrase inner = {.said = said_nothing()};
            struct str place = name_of(t, at + 1, end, name);
            const char *zone = find_city(place);
            zone = zone != NULL ? zone : find_region(place);
            zone = zone != NULL ? zone : find_long_name(place);
            if (zone == NULL && phrase_zone(t, at + 1, true, &inner) == end) {
                out->said = inner.said;
                return end + 1;
            }
            out->said.zone = zone;
            return zone != NULL ? end + 1 : at;
        }
    }
    return at;
}

bool place_is_city(const struct tokens *t, size_t at, size_t *to)
{
    char name[CITY_MAX];
    for (size_t words = CITY_WORDS_MAX; words > 0; words--) {
        if (at + words <= t->count && find_city(name_of(t, at, at + words, name)) != NULL) {
            *to = at + words;
            return true;
        }
    }
    return false;
}

static bool is_capital(const struct tokens *t, size_t at)
{
    return at < t->count && t->at[at].text.ptr[0] >= 'A' && t->at[at].text.ptr[0] <= 'Z';
}

size_t phrase_zone(const struct tokens *t, size_t at, bool after_clock, struct phrase *out)
{
    char name[CITY_MAX];
    out->kind = PHRASE_ZONE;
    out->force = FORCE_LED;
    if (at >= t->count || t->at[at].quoted) {
        return at;
    }
    if (token_is(t, at, WORD_ZONE)) { /* Europe/Paris */
        out->said.zone = arena_c_text(t->arena, t->at[at].text);
        return at + 1;
    }
    bool own = token_is(t, at, WORD_MY) || token_is_word(t, at, "local");
    if (own && zone_noun(t, at + 1) > at + 1) {
        bool users =
            !token_is(t, at, WORD_MY) || token_is_word(t, at, "my") || token_is_word(t, at, "our");
        out->kind = users ? PHRASE_FILLER : PHRASE_ZONE; /* "his time": where is he? */
        out->said.fault = users || !after_clock ? FAULT_NONE : FAULT_PLACE;
        return users || after_clock ? zone_noun(t, at + 1) : at;
    }
    size_t in = after_clock && token_is(t, at, WORD_IN);
    size_t to = by_offset(t, at, &out->said.zone);
    if (to > at) {
        out->said.fault = out->said.zone == NULL ? FAULT_PLACE : FAULT_NONE;
        return to;
    }
    to = named_time(t, at + in, after_clock, out);
    if (to > at + in) {
        return to;
    }
    bool after_comma = at > 0 && token_is(t, at - 1, WORD_COMMA) && str_is(t->at[at].text, "UTC");
    if (!after_clock && !after_comma) {
        return at;
    }
    to = in_brackets(t, at, out);
    if (to > at) {
        return to;
    }
    if (in > 0 && is_capital(t, at + 1) && place_is_city(t, at + 1, &to)) { /* "9am in Tokyo" */
        out->said.zone = find_city(name_of(t, at + 1, to, name));
        return to;
    }
    struct str word = name_of(t, at, at + 1, name);
    bool long_word = str_is(word, "eastern") || str_is(word, "pacific") ||
                     str_is(word, "mountain") || str_is(word, "central");
    const char *zone = long_word ? find_long_name(word) : find_region(word);
    if (zone != NULL && !(str_is(word, "west") && t->at[at].text.ptr[0] != 'W')) {
        out->said.zone = zone;
        return at + 1;
    }
    if (has_several_meanings(word) && word.len == 3) {
        out->said.unsure_zone = t->at[at].text;
        return at + 1;
    }
    return at;
}

void place_take_offsets(const struct tokens *t, struct phrase *p)
{
    for (size_t at = p->from; at < p->to; at++) {
        if (t->at[at].has_offset) {
            p->said.zone = place_of_offset(t->at[at].offset_min, t->arena);
            p->said.fault = p->said.zone == NULL ? FAULT_PLACE : p->said.fault;
        }
    }
}
