/* SPDX-License-Identifier: MIT */
/* What was found out of a host, as a table of a CPU: text of model/tables' grammar that is like the nearest table and
 * corrects it. Figures that are believed become parameters and rows; of all there is a `fit` statement, those that
 * could not be told included, so that who reads the table can judge it. The same figures give the same bytes. */
#ifndef GUS_MODEL_CALIBRATION_WRITTEN_H
#define GUS_MODEL_CALIBRATION_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>

struct gus_fit;
struct gus_fit_form;
struct gus_uarch;
struct gus_uarch_valid;

/* The ID of the source that its figures have. */
#define GUS_CALIBRATION_SOURCE "calibrated"

struct gus_calibration_about {
	const struct gus_uarch *nearest;        /* what the fits began from */
	const char *host;                       /* whose figures they are, for people */
	const char *how;                        /* "gusprof calibrate --quick" */
	const struct gus_uarch_valid *key;      /* what the host is told by */
	size_t key_n;
};

/* The table's text, which the caller frees; terminated, and *size bytes without that. */
char *gus_calibration_text(const struct gus_calibration_about *about, const struct gus_fit *f, size_t *size);

/* Of a parameter whose values are words (flags, policies) the word that a value stands for, and its length; NULL if it
 * is a number, or no such word. */
const char *gus_calibration_word(const char *param, double value, size_t *size);

/* Whether what was found of a form is believed and differs from the nearest table's row, by more than what was measured
 * may be off. */
bool gus_calibration_corrects(const struct gus_uarch *nearest, const struct gus_fit_form *form);

#endif
