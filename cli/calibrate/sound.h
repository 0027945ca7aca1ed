/* SPDX-License-Identifier: MIT */
/* Whether a machine can be made of what was found. Each figure may be right within its interval and all of them
 * together none that the model takes: a cache whose ways do not divide it. Then the table's figures stay for those that
 * do not fit in with the others. */
#ifndef GUS_CLI_CALIBRATE_SOUND_H
#define GUS_CLI_CALIBRATE_SOUND_H

struct gus_calibration_about;
struct gus_error;
struct gus_fit;

/* Takes the confidence of parameters that no machine can be made of, and says so in why. -1 with err: even without any
 * there is none. */
int gus_calibrate_sound(const struct gus_calibration_about *about, struct gus_fit *f, struct gus_error *err);

#endif
