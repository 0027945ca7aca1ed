/* SPDX-License-Identifier: MIT */
/* What a branch costs that was predicted wrong: a pass with a branch of a pattern at random, half of which go wrong,
 * beside passes whose branch always goes one way. */
#ifndef GUS_MODEL_CALIBRATION_MISPREDICT_H
#define GUS_MODEL_CALIBRATION_MISPREDICT_H

struct gus_calibration;
struct gus_error;
struct gus_fit;

/* Puts mispredict_penalty; what the fit knows of macro_fusion already is believed. -1 with err: the host could not run
 * something. */
int gus_mispredict_find(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);

#endif
