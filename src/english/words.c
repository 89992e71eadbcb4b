/* english/words.c: the lexicon: which words speak of time, and what they may mean.
 *
 * A word that is not in it may be one of it with a letter missing, doubled or two swapped; words
 * that are English by themselves ("though", "early") are never taken for a typing mistake.
 *
 * SPDX-License-Identifier: MIT */
#include "english/token.h"

#define FREQ(unit, interval) ((unit)*16 + (interval))
#define WORKDAYS             0x1f
#define WEEKEND              0x60
#define MISSING_MIN          5 /* letters that a word must have for one of them to be missing */
#define DOUBLED_MIN          7 /* or for one to be too many */
#define SWAPPED_MIN          4

struct entry {
    const char *word;
    enum word_class is;
    int value;
};

/* Sorted by word; one that means several things has several rows. */
/* clang-format off */
static const struct entry entries[] = {
    {"a", WORD_A, 0}, {"about", WORD_ABOUT, 0}, {"after", WORD_AFTER, 0},
    {"afternoon", WORD_PART, PART_AFTERNOON},
    {"afternoons", WORD_PART, PART_AFTERNOON | TOKEN_PLURAL}, {"ago", WORD_AGO, 0},
    {"alternate", WORD_OTHER, 0}, {"alternating", WORD_OTHER, 0}, {"am", WORD_HALF_OF_DAY, 0},
    {"an", WORD_A, 0}, {"and", WORD_AND, 0}, {"anniversary", WORD_EVENT, 0},
    {"annual", WORD_FREQ, FREQ(UNIT_YEAR, 1)}, {"annually", WORD_FREQ, FREQ(UNIT_YEAR, 1)},
    {"anytime", WORD_VAGUE, 0}, {"approx", WORD_ABOUT, 0}, {"approximately", WORD_ABOUT, 0},
    {"apr", WORD_MONTH, 4}, {"april", WORD_MONTH, 4}, {"around", WORD_ABOUT, 0},
    {"asap", WORD_VAGUE, 0}, {"at", WORD_AT, 0}, {"aug", WORD_MONTH, 8}, {"august", WORD_MONTH, 8},
    {"barring", WORD_EXCEPT, 0}, {"bedtime", WORD_EVENT, 0}, {"befor", WORD_BEFORE, 0},
    {"before", WORD_BEFORE, 0}, {"begin", WORD_START, 0}, {"beginning", WORD_START, 0},
    {"beginning", WORD_BEGIN, 0}, {"begins", WORD_START, 0}, {"between", WORD_BETWEEN, 0},
    {"biannual", WORD_FREQ, FREQ_AMBIGUOUS}, {"biannually", WORD_FREQ, FREQ_AMBIGUOUS},
    {"biennially", WORD_FREQ, FREQ(UNIT_YEAR, 2)}, {"bimonthly", WORD_FREQ, FREQ_AMBIGUOUS},
    {"birthday", WORD_EVENT, 0}, {"birthdays", WORD_EVENT, 0},
    {"biweekly", WORD_FREQ, FREQ(UNIT_WEEK, 2)}, {"biyearly", WORD_FREQ, FREQ_AMBIGUOUS},
    {"breakfast", WORD_EVENT, 0}, {"business", WORD_WORK, 0}, {"by", WORD_BY, 0},
    {"circa", WORD_ABOUT, 0}, {"cob", WORD_MOMENT, 17}, {"coming", WORD_COMING, 0},
    {"commencing", WORD_START, 0}, {"d", WORD_UNIT, UNIT_DAY},
    {"daily", WORD_FREQ, FREQ(UNIT_DAY, 1)}, {"dawn", WORD_EVENT, 0}, {"day", WORD_UNIT, UNIT_DAY},
    {"daybreak", WORD_EVENT, 0}, {"days", WORD_UNIT, UNIT_DAY | TOKEN_PLURAL},
    {"dec", WORD_MONTH, 12}, {"december", WORD_MONTH, 12}, {"dinnertime", WORD_EVENT, 0},
    {"dozen", WORD_NUMBER, 12}, {"dusk", WORD_EVENT, 0}, {"dya", WORD_UNIT, UNIT_DAY},
    {"each", WORD_EVERY, 0}, {"effective", WORD_START, 0}, {"eight", WORD_NUMBER, 8},
    {"eighteen", WORD_NUMBER, 18}, {"eighteenth", WORD_ORDINAL, 18}, {"eighth", WORD_ORDINAL, 8},
    {"eighty", WORD_NUMBER, 80}, {"eleven", WORD_NUMBER, 11}, {"eleventh", WORD_ORDINAL, 11},
    {"end", WORD_END, 0}, {"ending", WORD_END, 0}, {"endofday", WORD_MOMENT, 17},
    {"endoftheday", WORD_MOMENT, 17}, {"ends", WORD_END, 0}, {"eod", WORD_MOMENT, 17},
    {"ev", WORD_EVERY, 0}, {"evening", WORD_PART, PART_EVENING},
    {"evenings", WORD_PART, PART_EVENING | TOKEN_PLURAL}, {"eventually", WORD_VAGUE, 0},
    {"every", WORD_EVERY, 0}, {"everyday", WORD_FREQ, FREQ(UNIT_DAY, 1)}, {"evry", WORD_EVERY, 0},
    {"exactly", WORD_SHARP, 0}, {"except", WORD_EXCEPT, 0}, {"excepting", WORD_EXCEPT, 0},
    {"excl", WORD_EXCEPT, 0}, {"excluding", WORD_EXCEPT, 0}, {"feb", WORD_MONTH, 2},
    {"february", WORD_MONTH, 2}, {"febuary", WORD_MONTH, 2}, {"few", WORD_FEW, 0},
    {"fifteen", WORD_NUMBER, 15}, {"fifteenth", WORD_ORDINAL, 15}, {"fifth", WORD_ORDINAL, 5},
    {"fifty", WORD_NUMBER, 50}, {"final", WORD_ORDINAL, -1}, {"first", WORD_ORDINAL, 1},
    {"five", WORD_NUMBER, 5}, {"for", WORD_FOR, 0}, {"forever", WORD_FOREVER, 0},
    {"fortnight", WORD_UNIT, UNIT_FORTNIGHT}, {"fortnightly", WORD_FREQ, FREQ(UNIT_WEEK, 2)},
    {"fortnights", WORD_UNIT, UNIT_FORTNIGHT | TOKEN_PLURAL},
    {"fortnite", WORD_UNIT, UNIT_FORTNIGHT}, {"forty", WORD_NUMBER, 40}, {"four", WORD_NUMBER, 4},
    {"fourteen", WORD_NUMBER, 14}, {"fourteenth", WORD_ORDINAL, 14}, {"fourth", WORD_ORDINAL, 4},
    {"frequently", WORD_VAGUE, 0}, {"fri", WORD_WEEKDAY, 4}, {"friday", WORD_WEEKDAY, 4},
    {"fridays", WORD_WEEKDAY, 4 | TOKEN_PLURAL}, {"fridy", WORD_WEEKDAY, 4},
    {"from", WORD_START, 0}, {"from", WORD_FROM, 0}, {"h", WORD_UNIT, UNIT_HOUR},
    {"half", WORD_HALF, 0}, {"halfyearly", WORD_FREQ, FREQ(UNIT_MONTH, 6)}, {"her", WORD_MY, 0},
    {"his", WORD_MY, 0}, {"holiday", WORD_EVENT, 0}, {"holidays", WORD_EVENT, 0},
    {"hour", WORD_UNIT, UNIT_HOUR}, {"hourly", WORD_FREQ, FREQ(UNIT_HOUR, 1)},
    {"hours", WORD_UNIT, UNIT_HOUR | TOKEN_PLURAL}, {"hr", WORD_UNIT, UNIT_HOUR},
    {"hrs", WORD_UNIT, UNIT_HOUR | TOKEN_PLURAL}, {"hundred", WORD_NUMBER, 100}, {"if", WORD_IF, 0},
    {"in", WORD_IN, 0}, {"indefinitely", WORD_FOREVER, 0}, {"ish", WORD_SHARP, 0},
    {"its", WORD_MY, 0}, {"jan", WORD_MONTH, 1}, {"january", WORD_MONTH, 1},
    {"janurary", WORD_MONTH, 1}, {"jul", WORD_MONTH, 7}, {"july", WORD_MONTH, 7},
    {"jun", WORD_MONTH, 6}, {"june", WORD_MONTH, 6}, {"last", WORD_ORDINAL, -1},
    {"later", WORD_VAGUE, 0}, {"lunchtime", WORD_MOMENT, 12}, {"m", WORD_UNIT, UNIT_MINUTE},
    {"mar", WORD_MONTH, 3}, {"march", WORD_MONTH, 3}, {"may", WORD_MONTH, 5},
    {"maybe", WORD_VAGUE, 0}, {"mf", WORD_DAYSET, WORKDAYS | TOKEN_PLURAL},
    {"midday", WORD_MOMENT, 12}, {"midmorning", WORD_VAGUE, 0}, {"midnight", WORD_MOMENT, 0},
    {"midnite", WORD_MOMENT, 0}, {"min", WORD_UNIT, UNIT_MINUTE},
    {"mins", WORD_UNIT, UNIT_MINUTE | TOKEN_PLURAL}, {"minus", WORD_EXCEPT, 0},
    {"minute", WORD_UNIT, UNIT_MINUTE}, {"minutes", WORD_UNIT, UNIT_MINUTE | TOKEN_PLURAL},
    {"mo", WORD_UNIT, UNIT_MONTH}, {"mon", WORD_WEEKDAY, 0}, {"monday", WORD_WEEKDAY, 0},
    {"mondays", WORD_WEEKDAY, 0 | TOKEN_PLURAL}, {"mondy", WORD_WEEKDAY, 0},
    {"mons", WORD_WEEKDAY, 0 | TOKEN_PLURAL}, {"month", WORD_UNIT, UNIT_MONTH},
    {"monthly", WORD_FREQ, FREQ(UNIT_MONTH, 1)}, {"months", WORD_UNIT, UNIT_MONTH | TOKEN_PLURAL},
    {"morning", WORD_PART, PART_MORNING}, {"mornings", WORD_PART, PART_MORNING | TOKEN_PLURAL},
    {"mos", WORD_UNIT, UNIT_MONTH | TOKEN_PLURAL}, {"mth", WORD_UNIT, UNIT_MONTH},
    {"mths", WORD_UNIT, UNIT_MONTH | TOKEN_PLURAL}, {"mwf", WORD_DAYSET, 0x15 | TOKEN_PLURAL},
    {"my", WORD_MY, 0}, {"n", WORD_AND, 0}, {"never", WORD_NOT, 0}, {"next", WORD_NEXT, 0},
    {"night", WORD_PART, PART_NIGHT}, {"nightfall", WORD_EVENT, 0},
    {"nightly", WORD_FREQ, FREQ_NIGHTLY}, {"nights", WORD_PART, PART_NIGHT | TOKEN_PLURAL},
    {"nine", WORD_NUMBER, 9}, {"nineteen", WORD_NUMBER, 19}, {"nineteenth", WORD_ORDINAL, 19},
    {"ninety", WORD_NUMBER, 90}, {"ninth", WORD_ORDINAL, 9}, {"nite", WORD_PART, PART_NIGHT},
    {"noon", WORD_MOMENT, 12}, {"noonish", WORD_MOMENT, 12}, {"noontime", WORD_MOMENT, 12}, {"not", WORD_NOT, 0},
    {"nov", WORD_MONTH, 11}, {"november", WORD_MONTH, 11}, {"now", WORD_NOW, 0},
    {"occasionally", WORD_VAGUE, 0}, {"occurrences", WORD_TIMES, 0}, {"oclock", WORD_OCLOCK, 0},
    {"oct", WORD_MONTH, 10}, {"october", WORD_MONTH, 10}, {"of", WORD_OF, 0},
    {"often", WORD_VAGUE, 0}, {"omitting", WORD_EXCEPT, 0}, {"on", WORD_ON, 0},
    {"once", WORD_ONCE, 1}, {"one", WORD_NUMBER, 1}, {"only", WORD_ONLY, 0}, {"or", WORD_OR, 0},
    {"other", WORD_OTHER, 0}, {"our", WORD_MY, 0}, {"past", WORD_PAST, 0},
    {"payday", WORD_EVENT, 0}, {"penultimate", WORD_ORDINAL, -2}, {"per", WORD_PER, 0},
    {"perhaps", WORD_VAGUE, 0}, {"periodically", WORD_VAGUE, 0}, {"plus", WORD_AND, 0},
    {"pm", WORD_HALF_OF_DAY, 1}, {"precisely", WORD_SHARP, 0}, {"quarter", WORD_QUARTER, 0},
    {"quarter", WORD_UNIT, UNIT_QUARTER}, {"quarterly", WORD_FREQ, FREQ(UNIT_MONTH, 3)},
    {"quarters", WORD_UNIT, UNIT_QUARTER | TOKEN_PLURAL}, {"quarters", WORD_QUARTER, 0},
    {"regularly", WORD_VAGUE, 0}, {"repetitions", WORD_TIMES, 0}, {"roughly", WORD_ABOUT, 0},
    {"runs", WORD_TIMES, 0}, {"s", WORD_UNIT, UNIT_SECOND}, {"sat", WORD_WEEKDAY, 5},
    {"saterday", WORD_WEEKDAY, 5}, {"satuday", WORD_WEEKDAY, 5}, {"saturday", WORD_WEEKDAY, 5},
    {"saturdays", WORD_WEEKDAY, 5 | TOKEN_PLURAL}, {"saturdy", WORD_WEEKDAY, 5},
    {"sec", WORD_UNIT, UNIT_SECOND}, {"second", WORD_UNIT, UNIT_SECOND},
    {"second", WORD_ORDINAL, 2}, {"seconds", WORD_UNIT, UNIT_SECOND | TOKEN_PLURAL},
    {"secs", WORD_UNIT, UNIT_SECOND | TOKEN_PLURAL}, {"semiannually", WORD_FREQ, FREQ_AMBIGUOUS},
    {"semimonthly", WORD_FREQ, FREQ_AMBIGUOUS}, {"semiweekly", WORD_FREQ, FREQ_AMBIGUOUS},
    {"sep", WORD_MONTH, 9}, {"sept", WORD_MONTH, 9}, {"september", WORD_MONTH, 9},
    {"sessions", WORD_TIMES, 0}, {"seven", WORD_NUMBER, 7}, {"seventeen", WORD_NUMBER, 17},
    {"seventeenth", WORD_ORDINAL, 17}, {"seventh", WORD_ORDINAL, 7}, {"seventy", WORD_NUMBER, 70},
    {"several", WORD_FEW, 0}, {"sharp", WORD_SHARP, 0}, {"shortly", WORD_VAGUE, 0},
    {"single", WORD_SINGLE, 0}, {"six", WORD_NUMBER, 6}, {"sixteen", WORD_NUMBER, 16},
    {"sixteenth", WORD_ORDINAL, 16}, {"sixth", WORD_ORDINAL, 6}, {"sixty", WORD_NUMBER, 60},
    {"skipping", WORD_EXCEPT, 0}, {"some", WORD_FEW, 0},
    {"someday", WORD_VAGUE, 0}, {"sometime", WORD_VAGUE, 0}, {"sometimes", WORD_VAGUE, 0},
    {"soon", WORD_VAGUE, 0}, {"sporadically", WORD_VAGUE, 0}, {"start", WORD_BEGIN, 0},
    {"start", WORD_START, 0}, {"starting", WORD_START, 0}, {"starts", WORD_START, 0},
    {"sun", WORD_WEEKDAY, 6}, {"sunday", WORD_WEEKDAY, 6},
    {"sundays", WORD_WEEKDAY, 6 | TOKEN_PLURAL}, {"sundown", WORD_EVENT, 0},
    {"sunrise", WORD_EVENT, 0}, {"sunset", WORD_EVENT, 0}, {"sunup", WORD_EVENT, 0},
    {"suppertime", WORD_EVENT, 0}, {"teatime", WORD_EVENT, 0}, {"ten", WORD_NUMBER, 10},
    {"tenth", WORD_ORDINAL, 10}, {"the", WORD_THE, 0}, {"their", WORD_MY, 0},
    {"thereafter", WORD_VAGUE, 0}, {"third", WORD_ORDINAL, 3}, {"thirsday", WORD_WEEKDAY, 3},
    {"thirteen", WORD_NUMBER, 13}, {"thirteenth", WORD_ORDINAL, 13},
    {"thirtieth", WORD_ORDINAL, 30}, {"thirty", WORD_NUMBER, 30}, {"this", WORD_THIS, 0},
    {"three", WORD_NUMBER, 3}, {"thrice", WORD_ONCE, 3}, {"through", WORD_THROUGH, 0},
    {"thru", WORD_THROUGH, 0}, {"thrusday", WORD_WEEKDAY, 3}, {"thu", WORD_WEEKDAY, 3},
    {"thur", WORD_WEEKDAY, 3}, {"thurs", WORD_WEEKDAY, 3}, {"thursday", WORD_WEEKDAY, 3},
    {"thursdays", WORD_WEEKDAY, 3 | TOKEN_PLURAL}, {"til", WORD_UNTIL, 0}, {"till", WORD_UNTIL, 0},
    {"time", WORD_TIME, 0}, {"times", WORD_TIMES, 0}, {"tmr", WORD_TODAY, 1},
    {"tmrw", WORD_TODAY, 1}, {"tmw", WORD_TODAY, 1}, {"to", WORD_TO, 0}, {"today", WORD_TODAY, 0},
    {"tommorow", WORD_TODAY, 1}, {"tommorrow", WORD_TODAY, 1}, {"tommorrows", WORD_TODAY, 1},
    {"tomo", WORD_TODAY, 1}, {"tomorow", WORD_TODAY, 1}, {"tomorro", WORD_TODAY, 1},
    {"tomorrow", WORD_TODAY, 1}, {"tomorrrow", WORD_TODAY, 1}, {"tonight", WORD_TONIGHT, 0},
    {"tonite", WORD_TONIGHT, 0}, {"triweekly", WORD_FREQ, FREQ_AMBIGUOUS}, {"tue", WORD_WEEKDAY, 1},
    {"tues", WORD_WEEKDAY, 1}, {"tuesday", WORD_WEEKDAY, 1},
    {"tuesdays", WORD_WEEKDAY, 1 | TOKEN_PLURAL}, {"tusday", WORD_WEEKDAY, 1},
    {"tuseday", WORD_WEEKDAY, 1}, {"twelfth", WORD_ORDINAL, 12}, {"twelve", WORD_NUMBER, 12},
    {"twentieth", WORD_ORDINAL, 20}, {"twenty", WORD_NUMBER, 20}, {"twice", WORD_ONCE, 2},
    {"two", WORD_NUMBER, 2}, {"unless", WORD_WHEN, 0}, {"until", WORD_UNTIL, 0},
    {"untill", WORD_UNTIL, 0}, {"untl", WORD_UNTIL, 0}, {"upcoming", WORD_COMING, 0},
    {"w", WORD_UNIT, UNIT_WEEK}, {"wed", WORD_WEEKDAY, 2}, {"wednesday", WORD_WEEKDAY, 2},
    {"wednesdays", WORD_WEEKDAY, 2 | TOKEN_PLURAL}, {"wednesdy", WORD_WEEKDAY, 2},
    {"weds", WORD_WEEKDAY, 2}, {"week", WORD_UNIT, UNIT_WEEK}, {"weekday", WORD_DAYSET, WORKDAYS},
    {"weekdays", WORD_DAYSET, WORKDAYS | TOKEN_PLURAL}, {"weekdy", WORD_DAYSET, WORKDAYS},
    {"weekend", WORD_DAYSET, WEEKEND}, {"weekends", WORD_DAYSET, WEEKEND | TOKEN_PLURAL},
    {"weekly", WORD_FREQ, FREQ(UNIT_WEEK, 1)}, {"weeknight", WORD_DAYSET, WORKDAYS},
    {"weeknight", WORD_PART, PART_NIGHT}, {"weeknights", WORD_DAYSET, WORKDAYS | TOKEN_PLURAL},
    {"weeknights", WORD_PART, PART_NIGHT | TOKEN_PLURAL},
    {"weeks", WORD_UNIT, UNIT_WEEK | TOKEN_PLURAL}, {"wendsday", WORD_WEEKDAY, 2},
    {"wensday", WORD_WEEKDAY, 2}, {"wensdays", WORD_WEEKDAY, 2 | TOKEN_PLURAL},
    {"whatever", WORD_VAGUE, 0}, {"when", WORD_WHEN, 0}, {"whenever", WORD_WHEN, 0},
    {"while", WORD_WHEN, 0}, {"whose", WORD_MY, 0}, {"within", WORD_IN, 0},
    {"without", WORD_EXCEPT, 0}, {"wk", WORD_UNIT, UNIT_WEEK},
    {"wks", WORD_UNIT, UNIT_WEEK | TOKEN_PLURAL}, {"work", WORD_WORK, 0},
    {"workday", WORD_DAYSET, WORKDAYS}, {"workdays", WORD_DAYSET, WORKDAYS | TOKEN_PLURAL},
    {"working", WORD_WORK, 0}, {"y", WORD_UNIT, UNIT_YEAR}, {"year", WORD_UNIT, UNIT_YEAR},
    {"yearly", WORD_FREQ, FREQ(UNIT_YEAR, 1)}, {"years", WORD_UNIT, UNIT_YEAR | TOKEN_PLURAL},
    {"yesterday", WORD_TODAY, -1}, {"your", WORD_MY, 0}, {"yr", WORD_UNIT, UNIT_YEAR},
    {"yrs", WORD_UNIT, UNIT_YEAR | TOKEN_PLURAL}, {"zero", WORD_NUMBER, 0},
};
/* clang-format on */

/* Words one mistake away from an entry that mean what they say. */
static const char *const innocent[] = {
    "arch",    "ears",   "early", "ever",     "firs",     "fist",   "forth", "knight",
    "mach",    "marc",   "moth",  "moths",    "mourning", "nigh",   "ours",  "staring",
    "stating", "tent",   "thee",  "thorough", "though",   "ties",   "toady", "tree",
    "trough",  "very",   "yeas",  "form",     "evens",    "tens",   "weeds", "minuet",
    "heaven",  "sevens", "salt",  "hose",     "monthy",   "untie",  "hears", "shout",
    "sort",    "last's", "firth", "north",    "march's",  "tenths", "fort",
};

static int compare(struct str word, const char *other)
{
    return str_cmp(word, str_of(other));
}

static size_t find(struct str word)
{
    size_t low = 0, high = ARRAY_LEN(entries);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(word, entries[middle].word) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void take(const char *word, size_t at, struct token *token)
{
    struct str text = str_of(word);
    for (; at < ARRAY_LEN(entries) && str_is(text, entries[at].word); at++) {
        if (token->count < TOKEN_READINGS) {
            token->readings[token->count++] = (struct reading){entries[at].is, entries[at].value};
            token->number = entries[at].is == WORD_NUMBER ? entries[at].value : token->number;
        }
    }
}

static bool is_innocent(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(innocent); i++) {
        if (str_is(word, innocent[i])) {
            return true;
        }
    }
    return false;
}

/* Typing mistakes are looked for in the words that carry a schedule, not in "at" and "the". */
static bool may_be_mistyped(enum word_class is)
{
    switch (is) {
    case WORD_EVERY:
    case WORD_UNIT:
    case WORD_FREQ:
    case WORD_WEEKDAY:
    case WORD_DAYSET:
    case WORD_MONTH:
    case WORD_PART:
    case WORD_MOMENT:
    case WORD_TODAY:
    case WORD_TONIGHT:
    case WORD_ORDINAL:
    case WORD_NUMBER:
    case WORD_NEXT:
    case WORD_UNTIL:
    case WORD_START:
    case WORD_EXCEPT:
        return true;
    default:
        return false;
    }
}

static size_t same_start(struct str a, struct str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n]) {
        n++;
    }
    return n;
}

/* Is `longer` the same as `shorter` with one letter more? */
static bool one_more(struct str longer, struct str shorter)
{
    size_t n = same_start(longer, shorter);
    return longer.len == shorter.len + 1 && str_eq(str_from(longer, n + 1), str_from(shorter, n));
}

static bool swapped(struct str a, struct str b)
{
    size_t n = same_start(a, b);
    return a.len == b.len && n + 1 < a.len && a.ptr[n] == b.ptr[n + 1] &&
           a.ptr[n + 1] == b.ptr[n] && str_eq(str_from(a, n + 2), str_from(b, n + 2));
}

bool lexicon_is_nearly(struct str word, struct str right)
{
    size_t most = MAX(word.len, right.len), least = MIN(word.len, right.len);
    if (str_eq(word, right)) {
        return true;
    }
    return most <= least + 1 && ((right.len >= SWAPPED_MIN && swapped(word, right)) ||
                                 (right.len >= MISSING_MIN && one_more(right, word)) ||
                                 (right.len >= DOUBLED_MIN && one_more(word, right)));
}

static bool is_near(struct str word, const struct entry *entry)
{
    const char *start = entry->word;
    /* The first letter is right, or missing, or swapped, or one too many. */
    if (word.ptr[0] != start[0] && word.ptr[0] != start[1] && word.ptr[1] != start[0]) {
        return false;
    }
    return may_be_mistyped(entry->is) && lexicon_is_nearly(word, str_of(entry->word));
}

bool lexicon_knows(struct str word)
{
    size_t at = find(word);
    return at < ARRAY_LEN(entries) && str_is(word, entries[at].word);
}

void lexicon_read(struct str word, struct token *token)
{
    size_t at = find(word);
    if (at < ARRAY_LEN(entries) && str_is(word, entries[at].word)) {
        take(entries[at].word, at, token);
        return;
    }
    for (at = 0; at < ARRAY_LEN(entries) && word.len >= SWAPPED_MIN; at++) {
        if (is_near(word, &entries[at]) && !is_innocent(word)) {
            take(entries[at].word, at, token);
            return;
        }
    }
}
