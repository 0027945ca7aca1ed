/* SPDX-License-Identifier: MIT */
/* How a verb that runs a command ends: as the command did, so that whoever started us sees what it would have seen. */
#ifndef GUS_CLI_COMMON_ENDING_H
#define GUS_CLI_COMMON_ENDING_H

/* Ends this process by the signal, without a core: the command has dumped its own. Returns the status that a shell
 * would show if the signal does not end us. */
int gus_die_by(int sig);

#endif
