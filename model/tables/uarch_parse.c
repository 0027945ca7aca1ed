/* SPDX-License-Identifier: MIT */
/* Tables from text: finds the text of a table, of its overlay and of what they include, and takes the lines through the
 * parser to a table that is settled, or to an error. */
#include "model/tables/uarch_parse.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "model/tables/uarch_private.h"

#include "base/error.h"
#include "model/tables/uarch.h"

#define DEPTH_MAX 8            /* of likes and includes: deeper is a circle */

/* What is left of a calibration is a table as well, which says less than it did and looks whole. So one has to end with
 * `end`; in front of that it may be cut anywhere, its last line included, whatever is wrong with that then. */
static int refuse_cut(struct gus_uarch_parser *p, const char *file)
{
	if (p->err)
		*p->err = (struct gus_error){ 0 };
	return gus_fail(p->err, GUS_E_CORRUPT, "cannot use the calibration %s: it does not end with `end`, so a part "
			"of it is missing; run 'gusprof calibrate' again", file);
}

static bool is_cut(const struct gus_uarch_parser *p)
{
	return p->ends.wanted && !p->ends.said;
}

int gus_parse_text(struct gus_uarch_parser *p, const char *file, const char *text, size_t size)
{
	const char *end = text + size, *at = p->at, *line_end = p->end;
	uint32_t old_file = p->file, old_line = p->line;
	struct gus_text_end old_ends = p->ends;

	if (p->depth == DEPTH_MAX)
		return gus_parse_wrong(p, "%s is more than %d deep: a table includes or is like itself", file,
				       DEPTH_MAX);
	if (p->file_list.n == GUS_UARCH_TEXTS_MAX)
		return gus_parse_wrong(p, "%s is one text too many: %d are the most that a table is like or includes",
				       file, GUS_UARCH_TEXTS_MAX);
	p->depth++;
	p->file = (uint32_t)p->file_list.n;
	p->line = 0;
	p->ends = (struct gus_text_end){ 0 };
	gus_vec_push(&p->file_list, file);
	p->u->digest = XXH3_64bits_withSeed(text, size, p->u->digest);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		p->line++;
		p->at = text;
		p->end = stop ? stop : end;
		if (gus_parse_line(p) != 0)
			return !stop && is_cut(p) ? refuse_cut(p, file) : -1;
		text = stop ? stop + 1 : end;
	}
	if (is_cut(p))
		return refuse_cut(p, file);
	p->depth--;
	p->file = old_file;
	p->line = old_line;
	p->ends = old_ends;
	p->at = at;
	p->end = line_end;
	return 0;
}

static const char *with_suffix(struct gus_uarch_parser *p, const char *called, const char *suffix)
{
	char *whole = gus_format("%s%s", called, suffix);
	uint32_t kept = gus_strings_add(&p->u->own->strings, whole);

	free(whole);
	return gus_parse_string(p, kept);
}

int gus_parse_table(struct gus_uarch_parser *p, const char *called, const char *text, size_t size)
{
	const char *overlay;

	if (text)
		return gus_parse_text(p, called, text, size);
	text = p->texts ? p->texts->get(p->texts->context, called, &size) : NULL;
	if (!text)
		return gus_fail(p->err, GUS_E_NOT_FOUND, "there is no table of a CPU called %s; see gusprof uarch list",
				called);
	if (gus_parse_text(p, with_suffix(p, called, ".uarch"), text, size) != 0)
		return -1;
	if (p->flags & GUS_UARCH_PLAIN)
		return 0;
	overlay = with_suffix(p, called, ".overlay");
	text = p->texts->get(p->texts->context, overlay, &size);
	if (!text)
		return 0;
	p->layer++;
	return gus_parse_text(p, overlay, text, size);
}

static void drop_rest(struct gus_uarch_parser *p)
{
	gus_keys_free(&p->sources);
	gus_index_free(&p->named);
	gus_keys_free(&p->units);
	gus_keys_free(&p->groups);
	gus_keys_free(&p->params);
	gus_keys_free(&p->rows);
	gus_keys_free(&p->opcodes);
	gus_keys_free(&p->classes);
	gus_keys_free(&p->valids);
	gus_keys_free(&p->fits);
	gus_vec_free(&p->group_list);
	gus_vec_free(&p->group_ids);
	gus_vec_free(&p->opcode_rows);
	gus_vec_free(&p->opcode_names);
	gus_vec_free(&p->form_names);
}

struct gus_uarch *gus_uarch_parse(const char *called, const char *text, size_t size,
				  const struct gus_uarch_texts *texts, unsigned flags, struct gus_error *err)
{
	struct gus_uarch *u = gus_zalloc(sizeof(*u));
	struct gus_uarch_parser p = { .u = u, .texts = texts, .err = err, .flags = flags };
	struct gus_keys *by_string[] = { &p.sources, &p.units, &p.groups, &p.params, &p.rows, &p.opcodes, &p.classes,
					 &p.valids };
	uint32_t kept;
	int status;

	u->own = gus_zalloc(sizeof(*u->own));
	gus_strings_init(&u->own->strings);
	for (size_t i = 0; i < sizeof(by_string) / sizeof(*by_string); i++)
		gus_keys_init(by_string[i], sizeof(uint32_t));
	gus_keys_init(&p.forms, sizeof(uint64_t));
	gus_keys_init(&p.fits, 2 * sizeof(uint32_t));
	gus_index_init(&p.named, sizeof(uint32_t));
	kept = gus_strings_add(&u->own->strings, called);
	status = gus_parse_table(&p, gus_parse_string(&p, kept), text, size);
	if (status == 0)
		status = gus_parse_settle(&p);
	gus_parse_hand_over(&p);
	drop_rest(&p);
	if (status == 0)
		return u;
	gus_uarch_free(u);
	return NULL;
}
