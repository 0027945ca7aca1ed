/* SPDX-License-Identifier: MIT */
/* gusprof record for other verbs. */
#ifndef GUS_CLI_RECORD_RECORD_H
#define GUS_CLI_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* gusprof record -q -p PID, by this very process and into what is open as fd, which is closed. It lasts until the
 * process has ended, or SIGINT comes. Returns the exit status. */
int gus_record_process(int pid, int fd);
/* The same of a command, as gusprof record -q -- COMMAND does it. hz: samples a second of CPU time; 0: as many as may
 * be for so many per cent of that time. windows: of what it does, as record takes them by itself. */
int gus_record_command(char **command, uint64_t hz, double overhead, bool windows, int fd);

#endif
