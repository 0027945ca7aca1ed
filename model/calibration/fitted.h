/* SPDX-License-Identifier: MIT */
/* What was found out of a host: parameters and rows of a table, each with the interval it lies in, how far what was
 * measured is from what it explains, and how sure that is. */
#ifndef GUS_MODEL_CALIBRATION_FITTED_H
#define GUS_MODEL_CALIBRATION_FITTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

enum gus_confidence {
	GUS_CONFIDENCE_NONE,    /* it was tried and cannot be told: `why` says what hides it; there is no value */
	GUS_CONFIDENCE_LOW,     /* a guess that is better than none; the table's own figure is kept */
	GUS_CONFIDENCE_MEDIUM,  /* as clear as noise let it be, or inferred from others */
	GUS_CONFIDENCE_HIGH,    /* a clear break or slope that repeated */
	GUS_CONFIDENCES
};
const char *gus_confidence_name(enum gus_confidence c);

/* A parameter of gus_uarch_params. low and high: where it lies; equal to value if that is exact. residual: the mean
 * distance of what was measured from what the value explains, as a part of it. */
struct gus_fit_param {
	const char *name;               /* that of the table's parameter, constant */
	double value, low, high;
	double residual;
	enum gus_confidence confidence;
	char why[120];                  /* what it is from, or what hides it: a phrase */
};

/* A row of a form. NAN: not found. */
struct gus_fit_form {
	char form[96];                  /* its text */
	double latency, latency_low, latency_high; /* cycles: register to result */
	double load_latency;            /* from the address, of those that load */
	double throughput;              /* cycles an instruction, one after the other without dependence */
	char uses[96];                  /* as a row says, such as "p01:1 p23:1"; "": those of the table are right */
	double residual;                /* of throughput, together with instructions whose ports are known too */
	enum gus_confidence confidence; /* of throughput and ports */
	enum gus_confidence latency_confidence; /* of both latencies: ports that nothing explains leave these right */
	char why[120];
};

/* Something of the host that is no parameter: name, unit and where from; such as frequency, "core_ghz". */
struct gus_fit_fact {
	const char *name, *unit;
	double value, low, high;
	char why[120];
};

struct gus_fit {
	struct gus_vec(struct gus_fit_param) params; /* in the order of their names once sorted */
	struct gus_vec(struct gus_fit_form) forms;
	struct gus_vec(struct gus_fit_fact) facts;
};

void gus_fit_free(struct gus_fit *f);
/* Adds a figure; of one that is there already, the surer stays. */
void gus_fit_put(struct gus_fit *f, const struct gus_fit_param *p);
const struct gus_fit_param *gus_fit_get(const struct gus_fit *f, const char *name);
/* By its text. NULL: it was not timed. */
const struct gus_fit_form *gus_fit_get_form(const struct gus_fit *f, const char *text);

#endif
