/* english/foreign.c: is a text in another language? Known by its words of when, by its small words
 * or by its script.
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

#define FOREIGN_SMALL_MIN 3 /* so many small words make a text foreign */

/* Words of when in other languages that English does not have. */
/* clang-format off */
static const char *const foreign[] = {
    /* German */
    "jeden", "jede", "jedes", "jedem", "täglich", "taeglich", "wöchentlich", "woechentlich",
    "monatlich", "jährlich", "jaehrlich", "stündlich", "montag", "montags", "dienstag",
    "dienstags", "mittwoch", "mittwochs", "donnerstag", "donnerstags", "freitag", "freitags",
    "samstag", "samstags", "sonnabend", "sonntag", "sonntags", "uhr", "übermorgen", "heute",
    "morgens", "abends", "mittags", "nachmittags", "nächsten", "nächste", "naechsten", "woche",
    "wochen", "tage", "stunden", "stunde", "minuten", "erinnere", "werktags", "wochenende",
    "januar", "februar", "märz", "juni", "juli", "oktober", "dezember", "bis", "zum",
    /* French */
    "lundi", "lundis", "mardi", "mardis", "mercredi", "mercredis", "jeudi", "jeudis", "vendredi",
    "vendredis", "samedi", "samedis", "dimanche", "dimanches", "demain", "aujourd'hui", "tous",
    "chaque", "heures", "heure", "jours", "semaine", "semaines", "mois", "matin", "soir",
    "après-midi", "janvier", "février", "avril", "juin", "juillet", "août", "septembre",
    "octobre", "novembre", "décembre", "prochain", "prochaine", "rappelle-moi", "quotidien",
    /* Spanish */
    "lunes", "martes", "miércoles", "miercoles", "jueves", "viernes", "sábado", "sabado",
    "sábados", "domingo", "domingos", "mañana", "manana", "cada", "todos", "todas", "días",
    "dias", "semana", "semanas", "mes", "meses", "hoy", "hora", "horas", "tarde", "noche",
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
    "octubre", "noviembre", "diciembre", "recuérdame", "recuerdame", "diario", "próximo",
    /* Portuguese */
    "amanhã", "amanha", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira",
    "sexta-feira", "às", "toda", "hoje", "noite", "manhã", "lembre-me", "diariamente",
    "janeiro", "fevereiro", "março", "maio", "junho", "julho", "setembro", "outubro", "novembro",
    "dezembro", "próxima",
    /* Italian */
    "domani", "oggi", "lunedì", "lunedi", "martedì", "martedi", "mercoledì", "mercoledi",
    "giovedì", "giovedi", "venerdì", "venerdi", "sabato", "domenica", "ogni", "alle", "ore",
    "giorno", "giorni", "settimana", "settimane", "mattina", "sera", "ricordami", "gennaio",
    "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre",
    /* Dutch */
    "elke", "iedere", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag",
    "zondag", "overmorgen", "dagelijks", "wekelijks", "maandelijks", "uur", "vandaag", "volgende",
    "maart", "augustus", "herinner",
    /* Danish, Norwegian, Swedish */
    "hver", "hverdag", "varje", "måndag", "mandag", "tirsdag", "tisdag", "onsdag", "torsdag",
    "fredag", "lørdag", "lördag", "søndag", "söndag", "imorgen", "imorgon", "klokken",
    "klockan", "dagligen", "daglig",
    /* Finnish, Polish, Czech, Turkish, Hungarian, Romanian, Indonesian */
    "joka", "maanantai", "maanantaisin", "huomenna", "päivä", "codziennie", "jutro", "każdy",
    "poniedziałek", "wtorek", "środa", "czwartek", "piątek", "sobota", "niedziela", "każdego",
    "každý", "každé", "pondělí", "úterý", "středa", "čtvrtek", "pátek", "neděle",
    "zítra", "denně", "pazartesi", "salı", "çarşamba", "perşembe", "cuma", "cumartesi",
    "yarın", "hergün", "saat", "minden", "hétfő", "holnap", "fiecare", "mâine", "luni",
    "marți", "setiap", "besok", "senin",
};
/* clang-format on */

/* Small words: three of them make a text foreign. */
/* clang-format off */
static const char *const foreign_small[] = {
    "der", "das", "den", "dem", "und", "für", "mit", "nach", "ein", "eine", "einen", "le",
    "la", "les", "des", "du", "une", "à", "et", "pour", "el", "los", "las", "un", "una", "que",
    "por", "para", "con", "il", "lo", "gli", "che", "di", "da", "het", "een", "de", "van", "om",
    "voor", "zu", "zur", "os", "em", "og", "på", "och", "att", "jag", "mig", "mich", "mir",
    "moi", "mi", "por", "favor", "ist", "nicht", "auf", "bei", "dans", "sur", "avec",
    "conta", "fuori",
};
/* clang-format on */

/* Letters that no Latin alphabet has: Greek, Cyrillic, Arabic, Indian, Chinese, Korean … */
static bool has_other_script(struct str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        unsigned char ch = (unsigned char)text.ptr[i];
        if ((ch >= 0xce && ch <= 0xe0) || (ch >= 0xe3 && ch <= 0xed)) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const struct tokens *t, size_t at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (token_is_word(t, at, words[i])) {
            return true;
        }
    }
    return false;
}

bool foreign_find(const struct tokens *t, size_t *from, size_t *to)
{
    size_t small = 0, scripts = 0, plain = 0, first_small = 0;
    for (size_t at = 0; at < t->count; at++) {
        if (t->at[at].quoted) {
            continue;
        }
        if (is_one_of(t, at, foreign, ARRAY_LEN(foreign))) {
            *from = at;
            *to = at + 1;
            return true;
        }
        bool is_small = is_one_of(t, at, foreign_small, ARRAY_LEN(foreign_small));
        first_small = small == 0 && is_small ? at : first_small;
        small += is_small;
        scripts += has_other_script(t->at[at].text);
        plain += token_is_plain(t, at);
    }
    *from = small >= FOREIGN_SMALL_MIN ? first_small : 0;
    *to = small >= FOREIGN_SMALL_MIN ? first_small + 1 : t->count;
    return small >= FOREIGN_SMALL_MIN || (scripts > 0 && scripts * 2 >= plain);
}
