/* SPDX-License-Identifier: MIT */
/* Calibrations that a user keeps: tables that gusprof calibrate made, in $GUSPROF_DATA, else $XDG_DATA_HOME/gusprof,
 * else ~/.local/share/gusprof. There is one for each host that it was made on, told by a key: a home may be shared by
 * many machines, and one machine becomes another one to software with its next microcode. A calibration that does not
 * fit this host is never taken for it. */
#ifndef GUS_CLI_COMMON_CALIBRATIONS_H
#define GUS_CLI_COMMON_CALIBRATIONS_H

#include <stddef.h>

struct gus_calibrated_key;
struct gus_error;
struct gus_uarch;

/* This one's, read once: what is loaded by it and what is printed of it are to be the same. */
const struct gus_calibrated_key *gus_calibrated_key_here(void);

/* Where this host's is kept, or would be; NULL if there is no place to keep it. The caller frees it. */
char *gus_calibrated_path(const struct gus_calibrated_key *k);

/* The table that was calibrated on this host, or NULL. Then *why, which the caller frees, says what is wrong with what
 * there is; NULL: there is nothing, and nothing is wrong, or it is not known what there is, and err says why. */
struct gus_uarch *gus_calibrated_load(const struct gus_calibrated_key *k, char **why, struct gus_error *err);
/* Why a calibration is not for this host: "it is of microcode 1, and here it is 2"; NULL: it is. The caller
 * frees it. */
char *gus_calibrated_misfit(const struct gus_calibrated_key *k, const struct gus_uarch *u);

/* Whether one can be kept: the folder is made if need be. -1 with err. */
int gus_calibrated_prepare(struct gus_error *err);
/* Keeps the text of a table as this host's, in place of the one before. -1 with err, and nothing is changed. */
int gus_calibrated_write(const struct gus_calibrated_key *k, const char *text, size_t size, struct gus_error *err);
/* Removes this host's. 1: it is gone, 0: there was none, -1 with err. */
int gus_calibrated_forget(const struct gus_calibrated_key *k, struct gus_error *err);

#endif
