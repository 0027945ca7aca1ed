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

/* What of a row is another one than the nearest table's. */
enum gus_calibration_part {
	GUS_CALIBRATION_LATENCY = 1 << 0,       /* from a register operand */
	GUS_CALIBRATION_LOAD_LATENCY = 1 << 1,  /* from the address */
	GUS_CALIBRATION_PORTS = 1 << 2,
	GUS_CALIBRATION_THROUGHPUT = 1 << 3,    /* of what is busy for longer than a port */
};
enum { GUS_CALIBRATION_PARTS = 4 };
/* "latency", "load latency", "ports", "throughput". */
const char *gus_calibration_part_name(enum gus_calibration_part part);

/* The parts of a form's row in which what was found is believed (of medium confidence at least, that of the part) and
 * differs from the nearest table's, by more than what was measured may be off; 0: the row stays as it is. */
unsigned gus_calibration_corrects(const struct gus_uarch *nearest, const struct gus_fit_form *form);

#endif
