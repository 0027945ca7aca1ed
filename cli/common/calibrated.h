/* SPDX-License-Identifier: MIT */
/* Whatever rests on a calibration names it: which file, which table it began from, for which host it is valid, and
 * whether that is this one. What is printed of another table is nothing, null, or an empty field. */
#ifndef GUS_CLI_COMMON_CALIBRATED_H
#define GUS_CLI_COMMON_CALIBRATED_H

#include <jansson.h>

struct gus_uarch;

/* Lines of text. */
void gus_calibrated_text(const struct gus_uarch *u);
/* An object, or null. */
json_t *gus_calibrated_json(const struct gus_uarch *u);
/* The file's name, for a field of CSV; NULL: it is no calibration. */
const char *gus_calibrated_file(const struct gus_uarch *u);
/* How many days ago it was written; -1: it is no calibration, or its file is gone. After GUS_CALIBRATED_OLD of them
 * microcode and kernels are likely to be others. */
enum { GUS_CALIBRATED_OLD = 90 };
long gus_calibrated_days(const struct gus_uarch *u);

#endif
