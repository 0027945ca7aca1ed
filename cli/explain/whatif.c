/* SPDX-License-Identifier: MIT */
#include "cli/explain/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/verdicts/verdict.h"
#include "base/error.h"
#include "cli/common/json.h"
#include "cli/common/option_table.h"
#include "cli/common/print.h"
#include "cli/common/wording.h"
#include "cli/explain/gain.h"
#include "cli/explain/vectorise.h"
#include "cli/screen/screen.h"

/* How far the estimate of squash may be off beside the model's own error, see gusprof-explain(1). */
static const double SQUASH_OFF = 0.25;

/* Questions. */

static int add_contention(struct gus_explain_whatif *w, double percent, enum gus_hit level, struct gus_error *err)
{
	struct gus_explain_contention *c = &w->contentions[w->contentions_n];

	if (w->contentions_n == GUS_EXPLAIN_CONTENTIONS)
		return gus_fail(err, GUS_E_USAGE, "--what-if contention: %d of them are too many",
				GUS_EXPLAIN_CONTENTIONS + 1);
	w->contentions_n++;
	w->contention = true;
	*c = (struct gus_explain_contention){ .of = { .level = level, .share = percent / 100 }, .set = -1 };
	snprintf(c->name, sizeof(c->name), "%.4g %% of %s taken", percent, gus_contention_level_name(level));
	return 0;
}

static int parse_level(const char *text, enum gus_hit *level, struct gus_error *err)
{
	static const struct { const char *word; enum gus_hit level; } words[] = { { "memory", GUS_HIT_MEMORY },
		{ "l3", GUS_HIT_L3 }, { "L3", GUS_HIT_L3 } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i].word) == 0) {
			*level = words[i].level;
			return 0;
		}
	return gus_fail(err, GUS_E_USAGE, "--what-if contention: '%s' is no level of memory that others share; it is "
			"memory or l3", text);
}

/* [=SHARE[@LEVEL]]: behind the word. */
static int parse_contention(struct gus_explain_whatif *w, const char *value, struct gus_error *err)
{
	static const struct { double percent; enum gus_hit level; } usual[] = { { 25, GUS_HIT_MEMORY },
		{ 50, GUS_HIT_MEMORY }, { 75, GUS_HIT_MEMORY }, { 50, GUS_HIT_L3 } };
	enum gus_hit level = GUS_HIT_MEMORY;
	char *end;
	double percent;

	if (!value) {
		for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
			if (add_contention(w, usual[i].percent, usual[i].level, err) != 0)
				return -1;
		return 0;
	}
	percent = strtod(value, &end);
	end += end > value && *end == '%';
	if (end == value || (*end && *end != '@') || !(percent > 0) || percent > 100 * GUS_CONTENTION_MOST)
		return gus_fail(err, GUS_E_USAGE, "--what-if contention: '%s' is no share that others may take; it is "
				"a number of percent above 0 and up to %.0f, and @memory or @l3 behind it", value,
				100 * GUS_CONTENTION_MOST);
	if (*end == '@' && parse_level(end + 1, &level, err) != 0)
		return -1;
	return add_contention(w, percent, level, err);
}

static int parse_squash(struct gus_explain_whatif *w, const char *value, struct gus_error *err)
{
	if (value)
		return gus_fail(err, GUS_E_USAGE, "--what-if squash takes no value, and '%s' is one", value);
	w->squash = true;
	return 0;
}

static int parse_vectorise(struct gus_explain_whatif *w, const char *value, struct gus_error *err)
{
	if (value)
		return gus_fail(err, GUS_E_USAGE, "--what-if vectorise takes no value, and '%s' is one", value);
	w->vectorise = true;
	return 0;
}

static const struct question {
	const char *word;
	int (*parse)(struct gus_explain_whatif *w, const char *value, struct gus_error *err);
} questions[] = {
	{ "contention", parse_contention },
	{ "squash", parse_squash },
	{ "vectorise", parse_vectorise },
};
#define QUESTIONS (sizeof(questions) / sizeof(*questions))

static int parse(struct gus_explain_whatif *w, const char *word, struct gus_error *err)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < QUESTIONS; i++)
		if (strlen(questions[i].word) == n && strncmp(word, questions[i].word, n) == 0)
			return questions[i].parse(w, word[n] ? word + n + 1 : NULL, err);
	return gus_fail(err, GUS_E_USAGE, "--what-if: '%s' is no question; there are contention[=SHARE[@LEVEL]], "
			"squash and vectorise", word);
}

int gus_explain_whatif_parse(struct gus_explain_whatif *w, const struct gus_list *words, struct gus_error *err)
{
	for (size_t i = 0; i < words->n; i++)
		if (parse(w, words->v[i], err) != 0)
			return -1;
	return 0;
}

int gus_explain_whatif_sets(struct gus_explain_whatif *w, const struct gus_core_config *config,
			    struct gus_traced_set sets[GUS_STREAM_LANES], int n, struct gus_error *err)
{
	int room = GUS_STREAM_LANES - 1 - n;

	if (w->squash)
		gus_squashes_init(&w->squashes, config);
	for (size_t i = 0; i < w->contentions_n; i++) {
		struct gus_explain_contention *c = &w->contentions[i];

		gus_contention_make(&c->of, c->of.level, c->of.share, config);
		if (!(c->of.line > 0))
			continue;
		if (n == GUS_STREAM_LANES - 1)
			return gus_fail(err, GUS_E_USAGE, "--what-if contention: %zu machines are too many; there is "
					"room for %d beside those of the tree", w->contentions_n, room);
		c->set = n;
		sets[n++] = (struct gus_traced_set){ .name = c->name, .has = gus_contention_has, .context = &c->of,
			.weight = gus_contention_weight };
	}
	return n;
}

const struct gus_traced_timed *gus_explain_whatif_timed(struct gus_explain_whatif *w)
{
	w->timed = (struct gus_traced_timed){ &w->squashes, gus_squashes_steps };
	return w->squash ? &w->timed : NULL;
}

void gus_explain_whatif_free(struct gus_explain_whatif *w)
{
	gus_squashes_free(&w->squashes);
}

/* Answers. */

static void answer_squash(const struct gus_explain_whatif *w, const struct gus_traced_region *r, uint32_t region,
			  const struct gus_causal_node *mispredicts, double model, struct gus_explain_squash *out)
{
	double off = hypot(model, SQUASH_OFF);

	*out = (struct gus_explain_squash){ .of = gus_squashes_of(&w->squashes, region),
		.speedup = mispredicts->speedup, .speedup_low = mispredicts->low,
		.speedup_high = mispredicts->high };
	if (!(out->of.cycles > 0))
		return;
	/* A branch's loss is of its region, and the time until the right path is there may be of the next one's. */
	out->share = fmin(out->of.lost / w->squashes.width / out->of.cycles, 1);
	out->cycles = out->share * r->cycles[0];
	out->low = out->share * fmax(1 - off, 0);
	out->high = fmin(out->share * (1 + off), 1); /* no more than all of it */
}

void gus_explain_whatif_answer(const struct gus_explain_whatif *w, const struct gus_traced *t, uint32_t region,
			       const struct gus_causal_node *mispredicts, double model,
			       struct gus_explain_answers *out)
{
	const struct gus_traced_region *r = &t->regions.v[region];

	for (size_t i = 0; i < w->contentions_n; i++) {
		int set = w->contentions[i].set;

		if (set >= 0)
			gus_contention_judge(r->cycles[0], r->cycles[set + 1], r->errors[set + 1], model,
					     &out->losses[i]);
	}
	if (w->squash)
		answer_squash(w, r, region, mispredicts, model, &out->squash);
	if (w->vectorise)
		gus_vectorised_find(&out->vectorised, t, region, model);
}

void gus_explain_answers_free(struct gus_explain_answers *a)
{
	gus_vectorised_free(&a->vectorised);
}

/* As text. */

/* Numbers of a level in one line: "25 % taken: 3 % longer (1 to 5), ...". */
static void print_level(const struct gus_explain_whatif *w, const struct gus_explain_answers *a, enum gus_hit level,
			const struct gus_screen *screen)
{
	struct gus_wording t = { 0 };

	for (size_t i = 0; i < w->contentions_n; i++) {
		const struct gus_explain_contention *c = &w->contentions[i];

		if (c->of.level != level)
			continue;
		if (!t.n)
			gus_wording_add(&t, "others on %s: ", gus_contention_level_name(level));
		else
			gus_wording_add(&t, ", ");
		if (c->set < 0) {
			gus_wording_add(&t, "not known, as the table has no bandwidth of it (gusprof calibrate --full "
					"measures it)");
			break;
		}
		gus_wording_add(&t, "%.4g %% taken: %.1f %% longer (%.1f to %.1f)", 100 * c->of.share,
				100 * a->losses[i].loss, 100 * a->losses[i].low, 100 * a->losses[i].high);
	}
	if (t.n)
		gus_screen_fold(screen, stdout, "  what if   ", "            ", gus_wording_done(&t));
	gus_vec_free(&t);
}

static void print_squash(const struct gus_explain_squash *s, const struct gus_squashes *all,
			 const struct gus_screen *screen)
{
	struct gus_wording t = { 0 };
	char faster[GUS_EXPLAIN_GAIN_TEXT];

	gus_explain_gain_text(faster, 1, s->speedup, s->speedup_low, s->speedup_high);
	if (!s->of.branches)
		gus_wording_add(&t, "squashed: nothing, as nothing was mispredicted");
	else
		gus_wording_add(&t, "squashed: %.1f %% of its time is lost (%.1f to %.1f, estimated) by mispredicted "
				"branches, %.1f cycles each until they are executed and %" PRIu32 " until the right "
				"path is there; %.0f %% of these slots are thrown away; without any it would be "
				"faster by %s", 100 * s->share, 100 * s->low, 100 * s->high,
				s->of.resolution / (double)s->of.branches, all->depth,
				s->of.lost > 0 ? 100 * s->of.squashed / s->of.lost : 0, faster);
	gus_screen_fold(screen, stdout, "  what if   ", "            ", gus_wording_done(&t));
	gus_vec_free(&t);
}

void gus_explain_whatif_text(const struct gus_explain_whatif *w, const struct gus_explain_answers *a,
			     const struct gus_screen *screen)
{
	print_level(w, a, GUS_HIT_MEMORY, screen);
	print_level(w, a, GUS_HIT_L3, screen);
	if (w->squash)
		print_squash(&a->squash, &w->squashes, screen);
	if (w->vectorise)
		gus_explain_vectorise_text(&a->vectorised, screen);
}

/* As JSON. */

static json_t *contention_of(const struct gus_explain_contention *c, const struct gus_contention_loss *loss)
{
	json_t *o = json_object();

	json_object_set_new(o, "level", json_string(c->of.level == GUS_HIT_L3 ? "l3" : "memory"));
	json_object_set_new(o, "share", gus_json_real(c->of.share));
	json_object_set_new(o, "wait", c->set < 0 ? json_null() : gus_json_real(gus_contention_wait(&c->of)));
	json_object_set_new(o, "loss", c->set < 0 ? json_null() : gus_json_real(loss->loss));
	json_object_set_new(o, "ci95", c->set < 0 ? json_null() : gus_json_pair(loss->low, loss->high));
	return o;
}

static json_t *squash_of(const struct gus_explain_squash *s, const struct gus_squashes *all)
{
	bool any = s->of.branches != 0;
	json_t *o = json_object();

	json_object_set_new(o, "cycles", gus_json_real(s->cycles));
	json_object_set_new(o, "share", gus_json_real(s->share));
	json_object_set_new(o, "ci95", gus_json_pair(s->low, s->high));
	json_object_set_new(o, "squashed", any ? gus_json_real(s->of.squashed / s->of.lost) : json_null());
	json_object_set_new(o, "resolution", any ? gus_json_real(s->of.resolution / (double)s->of.branches) :
			    json_null());
	json_object_set_new(o, "refill", json_integer(all->depth));
	json_object_set_new(o, "speedup", gus_json_real(s->speedup));
	json_object_set_new(o, "speedup_ci95", gus_json_pair(s->speedup_low, s->speedup_high));
	json_object_set_new(o, "evidence", json_string("modelled"));
	return o;
}

json_t *gus_explain_whatif_json(const struct gus_explain_whatif *w, const struct gus_explain_answers *a)
{
	json_t *o, *list;

	if (!w->contention && !w->squash && !w->vectorise)
		return json_null();
	o = json_object();
	list = json_array();
	for (size_t i = 0; i < w->contentions_n; i++)
		json_array_append_new(list, contention_of(&w->contentions[i], &a->losses[i]));
	json_object_set_new(o, "contention", w->contention ? list : json_null());
	if (!w->contention)
		json_decref(list);
	json_object_set_new(o, "squash", w->squash ? squash_of(&a->squash, &w->squashes) : json_null());
	json_object_set_new(o, "vectorise", w->vectorise ? gus_explain_vectorise_json(&a->vectorised) : json_null());
	return o;
}
