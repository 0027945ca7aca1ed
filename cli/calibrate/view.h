/* SPDX-License-Identifier: MIT */
/* What gusprof calibrate shows when it is done: each figure beside the one that the nearest table has, as text or JSON
 * (schema gusprof.calibration/1); and what --check finds (gusprof.calibrated/1). */
#ifndef GUS_CLI_CALIBRATE_VIEW_H
#define GUS_CLI_CALIBRATE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct gus_calibrate_noise;
struct gus_fit;
struct gus_fit_param;
struct gus_calibrated_key;
struct gus_screen;
struct gus_uarch;

struct gus_calibrate_view {
	const struct gus_calibrated_key *key;
	const struct gus_uarch *nearest;
	bool own, asked;                /* the nearest is this CPU's own table; or one that was asked for */
	const struct gus_fit *fit;
	const char *how;                /* "gusprof calibrate --quick" */
	const char *path;               /* where the table is */
	bool kept;                      /* there --uarch host finds it */
	const char *recording;          /* whose forms were measured; NULL: there was none */
	const char *const *notes;       /* what is to be known before the figures are believed */
	size_t notes_n;
	const struct gus_calibrate_noise *noise;
	const struct gus_screen *screen;
};

/* What --check finds, without having measured anything. */
struct gus_calibrate_check {
	const struct gus_calibrated_key *key;
	const struct gus_uarch *kept;   /* this machine's calibration; NULL: there is none */
	const char *path;               /* where it is or would be; NULL: nowhere */
	const char *why;                /* what is wrong with those that there are, or NULL */
};

void gus_calibrate_check_text(const struct gus_calibrate_check *c);
int gus_calibrate_check_json(const struct gus_calibrate_check *c);

void gus_calibrate_text(const struct gus_calibrate_view *v);
int gus_calibrate_json(const struct gus_calibrate_view *v);

/* Parameters in the order of gus_uarch_params, then others by name: front to back, as people think of a core. An array
 * of v->fit->params.n numbers, which the caller frees. */
size_t *gus_calibrate_order(const struct gus_fit *fit);

#endif
