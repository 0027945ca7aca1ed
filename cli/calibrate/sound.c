/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/sound.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/calibration/fitted.h"
#include "model/calibration/written.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

/* Of the table as it would be written, what both engines and the caches say to it. */
static bool makes_machine(const struct gus_calibration_about *about, const struct gus_fit *f, struct gus_error *err)
{
	struct gus_cache_config caches;
	struct gus_core_config core;
	struct gus_cache *cache = NULL;
	size_t size;
	char *text = gus_calibration_text(about, f, &size);
	struct gus_uarch *u;

	*err = (struct gus_error){ 0 };
	u = gus_uarch_parse("calibration", text, size, &gus_uarch_builtin, 0, err);
	if (u) {
		gus_core_config_of(&core, u);
		gus_cache_config_of(&caches, u);
		if (gus_core_config_check(&core, err) == 0)
			cache = gus_cache_new(&caches, err);
	}
	gus_cache_free(cache);
	gus_uarch_free(u);
	free(text);
	return !err->code;
}

/* One after the other, as often as that helps: a size may fit in only when the ways are there, too. */
static void add_what_fits(const struct gus_calibration_about *about, struct gus_fit *f, const enum gus_confidence *was)
{
	struct gus_error none;
	bool added;

	do {
		added = false;
		for (size_t i = 0; i < f->params.n; i++) {
			struct gus_fit_param *p = &f->params.v[i];

			if (p->confidence == was[i])
				continue;
			p->confidence = was[i];
			if (makes_machine(about, f, &none))
				added = true;
			else
				p->confidence = GUS_CONFIDENCE_LOW;
		}
	} while (added);
}

int gus_calibrate_sound(const struct gus_calibration_about *about, struct gus_fit *f, struct gus_error *err)
{
	enum gus_confidence *was;
	struct gus_error why;
	int rc = 0;

	if (makes_machine(about, f, &why))
		return 0;
	was = gus_zalloc((f->params.n + 1) * sizeof(*was));
	for (size_t i = 0; i < f->params.n; i++) {
		was[i] = f->params.v[i].confidence;
		if (was[i] > GUS_CONFIDENCE_LOW)
			f->params.v[i].confidence = GUS_CONFIDENCE_LOW;
	}
	if (makes_machine(about, f, &why))
		add_what_fits(about, f, was);
	else
		rc = gus_fail(err, GUS_E_UNSUPPORTED, "cannot calibrate: what was found makes no table: %s", why.text);
	for (size_t i = 0; i < f->params.n; i++)
		if (f->params.v[i].confidence != was[i])
			snprintf(f->params.v[i].why, sizeof(f->params.v[i].why),
				 "no machine has it together with what was found besides");
	free(was);
	return rc;
}
