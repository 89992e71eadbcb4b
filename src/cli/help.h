/* cli/help.h: texts about the verbs, all written from their tables.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_HELP_H
#define ERRAND_CLI_HELP_H

#include <stdio.h>

#include "cli/verb.h"

void help_overview(FILE *out);
/* The commands that begin with this word: "token" has create, ls and revoke. False: none does. */
bool help_group(struct str word, FILE *out);
void help_verb_text(const struct verb *verb, FILE *out);
void help_settings(FILE *out); /* every row of errand.conf */

void man_page(FILE *out); /* man.c: errand.1 */

#endif
