/* SPDX-License-Identifier: MIT */
/* gusprof record for other verbs. */
#ifndef GUS_CLI_RECORD_RECORD_H
#define GUS_CLI_RECORD_RECORD_H

/* gusprof record -q -p PID, by this very process and into what is open as fd, which is closed. It lasts until the
 * process has ended, or SIGINT comes. Returns the exit status. */
int gus_record_process(int pid, int fd);

#endif
