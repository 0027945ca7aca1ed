/* SPDX-License-Identifier: MIT */
#include "cli/explain/vectorise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/whatif/vectorised.h"
#include "base/alloc.h"
#include "cli/common/json.h"
#include "cli/common/wording.h"
#include "cli/screen/screen.h"

static const char *const ways[GUS_PACKING_WAYS] = { "beside", "apart", "same", "anywhere" };

static void say(const struct gus_screen *screen, struct gus_wording *t)
{
	gus_screen_fold(screen, stdout, "  vectors   ", "            ", gus_wording_done(t));
	gus_vec_free(t);
}

static void add_gain(struct gus_wording *t, const struct gus_vector_gain *g)
{
	gus_wording_add(t, "%.2f times as fast (%.2f to %.2f)", g->gain, g->low, g->high);
}

static void print_whole(const struct gus_vectorised *v, const struct gus_screen *screen)
{
	struct gus_wording t = { 0 };

	add_gain(&t, &v->whole[GUS_MOCKUP_PARTIAL]);
	gus_wording_add(&t, " with vectors of %u bytes, %u turns at once", v->bytes, v->turns);
	if (v->differs[GUS_MOCKUP_FULL])
		gus_wording_add(&t, ", elements one by one; %.2f times if all lay side by side",
				v->whole[GUS_MOCKUP_FULL].gain);
	if (v->differs[GUS_MOCKUP_GATHER] && isfinite(v->whole[GUS_MOCKUP_GATHER].gain))
		gus_wording_add(&t, ", %.2f times with gathers", v->whole[GUS_MOCKUP_GATHER].gain);
	say(screen, &t);
}

static void print_halves(const struct gus_vectorised *v, const struct gus_screen *screen)
{
	struct gus_wording t = { 0 };

	gus_wording_add(&t, "arithmetic alone ");
	add_gain(&t, &v->fp);
	gus_wording_add(&t, ", memory alone ");
	add_gain(&t, &v->ls);
	gus_wording_add(&t, ": %s", gus_quadrant_advice(v->quadrant));
	say(screen, &t);
}

static void print_conditions(const struct gus_vectorised *v, const struct gus_screen *screen)
{
	struct gus_wording t = { 0 };

	if (v->reorders_fp)
		gus_wording_add(&t, "sums of floating point have to be made in another order (-ffast-math); ");
	if (v->masked)
		gus_wording_add(&t, "branches in it become masks; ");
	if (v->crowded)
		gus_wording_add(&t, "more values live in it than there are registers, and what storing them takes is "
				"not in these figures; ");
	if (t.n)
		gus_wording_add(&t, "it goes round %.0f times a stay", v->turns_a_stay);
	if (t.n)
		say(screen, &t);
	gus_vec_free(&t);
}

void gus_explain_vectorise_text(const struct gus_vectorised *v, const struct gus_screen *screen)
{
	struct gus_wording t = { 0 };

	if (v->why_not) {
		gus_wording_add(&t, "no: %s", v->why_not);
		say(screen, &t);
		return;
	}
	print_whole(v, screen);
	print_halves(v, screen);
	print_conditions(v, screen);
}

static json_t *gain_of(const struct gus_vector_gain *g)
{
	json_t *o;

	if (!isfinite(g->gain))
		return json_null();
	o = json_object();
	json_object_set_new(o, "gain", gus_json_real(g->gain));
	json_object_set_new(o, "ci95", gus_json_pair(g->low, g->high));
	return o;
}

static json_t *accesses_of(const struct gus_vectorised *v)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < GUS_PACKING_WAYS; i++)
		json_object_set_new(o, ways[i], json_integer(v->ways[i]));
	return o;
}

json_t *gus_explain_vectorise_json(const struct gus_vectorised *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "in_the_way", v->why_not ? gus_json_text(v->why_not) : json_null());
	json_object_set_new(o, "evidence", json_string("modelled"));
	if (v->why_not)
		return o;
	json_object_set_new(o, "bytes", json_integer(v->bytes));
	json_object_set_new(o, "turns", json_integer(v->turns));
	json_object_set_new(o, "turns_a_stay", gus_json_real(v->turns_a_stay));
	json_object_set_new(o, "instructions", json_integer(v->instructions));
	json_object_set_new(o, "packed", json_integer(v->packed));
	json_object_set_new(o, "accesses", accesses_of(v));
	json_object_set_new(o, "reorders_fp", json_boolean(v->reorders_fp));
	json_object_set_new(o, "masked", json_boolean(v->masked));
	json_object_set_new(o, "crowded", json_boolean(v->crowded));
	for (unsigned m = 0; m < GUS_MOCKUP_MODES; m++)
		json_object_set_new(o, gus_mockup_mode_name((enum gus_mockup_mode)m), gain_of(&v->whole[m]));
	json_object_set_new(o, "fp", gain_of(&v->fp));
	json_object_set_new(o, "memory", gain_of(&v->ls));
	json_object_set_new(o, "memory_by_table", gus_json_real(v->ls_by_table));
	json_object_set_new(o, "theta", json_real(GUS_VECTORISED_THETA));
	json_object_set_new(o, "quadrant", gus_json_text(gus_quadrant_name(v->quadrant)));
	return o;
}
