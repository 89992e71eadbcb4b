/* cli/team.h: what the commands about teams share: a team as a graph of its tasks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_TEAM_H
#define ERRAND_CLI_TEAM_H

#include "cli/verb.h"

struct team_options {
    struct remote_options remote;
};

/* A line for the team, then one for each task behind those it depends on: indented by how many
 * steps come before it, with its state and who works on it. Returns how many lines. */
int team_graph(struct buf *out, const struct paper *paper, struct str team, struct arena *arena);

/* Follows a team until it has ended, drawing its graph; then its result. */
enum exit_status team_follow(const struct remote_options *options, struct str id);

/* Result on standard output, or what went wrong on standard error. */
enum exit_status team_report(struct remote *remote, struct str team);

#endif
