/* SPDX-License-Identifier: MIT */
/* When all lines of a table are read: what only the whole can be asked is checked, names become rows, groups get their
 * final numbers, and the lists become the table. */

#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/error.h"
#include "model/tables/uarch.h"
#include "model/tables/uarch_parse.h"
#include "model/tables/uarch_private.h"

static char *port_names(const struct gus_uarch_parser *p, uint64_t mask)
{
	char *list = gus_strdup("");

	for (size_t i = 0; i < p->port_list.n; i++)
		if (mask >> i & 1) {
			char *longer = gus_format("%s%s%s", list, *list ? "+" : "", p->port_list.v[i].name);

			free(list);
			list = longer;
		}
	return list;
}

/* Two groups that overlap need their union: else the conjunctive bound is too low. */
static int check_closed(struct gus_uarch_parser *p)
{
	size_t n = p->group_list.n;
	uint64_t *masks = gus_alloc((n + 1) * sizeof(*masks));
	int status = 0;

	for (size_t i = 0; i < n; i++)
		masks[i] = p->group_list.v[i].ports;
	qsort(masks, n, sizeof(*masks), gus_ascending_u64);
	for (size_t i = 0; i < n && status == 0; i++)
		for (size_t k = 0; k < i && status == 0; k++) {
			const struct gus_uarch_group *a = &p->group_list.v[k], *b = &p->group_list.v[i];
			uint64_t both = a->ports | b->ports;
			char *names;

			if (!(a->ports & b->ports) || bsearch(&both, masks, n, sizeof(*masks), gus_ascending_u64))
				continue;
			names = port_names(p, both);
			status = gus_fail(p->err, GUS_E_CORRUPT,
					  "cannot use the table %s: the groups %s and %s overlap, so "
					  "their union must be a group: add `group NAME = %s`", p->u->name, a->name,
						  b->name, names);
			free(names);
		}
	free(masks);
	return status;
}

/* An opcode class that no form goes by is a name that was mistyped, or is from before the forms were made anew. */
static int check_opcodes(struct gus_uarch_parser *p)
{
	for (uint32_t i = 0; i < p->opcode_names.n; i++)
		if (gus_index_find(&p->named, gus_index_key(&p->opcodes.ix, i)) == GUS_INDEX_NONE)
			return gus_fail(p->err, GUS_E_CORRUPT,
					"cannot use the table %s: no form goes by the opcode class %s, which "
					"has the row %s", p->u->name, p->opcode_names.v[i],
					p->opcode_rows.v[i] == GUS_UARCH_NONE ? "-" :
						p->row_list.v[p->opcode_rows.v[i]].id);
	return 0;
}

/* A form that goes by a name gets the row of that name, or of that opcode class. */
static int resolve_forms(struct gus_uarch_parser *p)
{
	for (size_t i = 0; i < p->form_list.n; i++) {
		struct gus_uarch_form *form = &p->form_list.v[i];
		uint32_t by = p->form_names.v[i], n;

		if (!by)
			continue;
		form->row = gus_keys_find(&p->rows, by);
		if (form->row != GUS_INDEX_NONE)
			continue;
		n = gus_keys_find(&p->opcodes, by);
		if (n == GUS_INDEX_NONE)
			return gus_fail(p->err, GUS_E_CORRUPT,
					"cannot use the table %s, line %u: the form %s has neither a row "
					"nor an opcode class called %s", p->file_list.v[form->file], form->line,
						form->text,
					gus_parse_string(p, by));
		form->opcode = p->opcode_names.v[n];
		form->row = p->opcode_rows.v[n];
	}
	return check_opcodes(p);
}

/* Groups get their final numbers, behind the ports. */
static void number_groups(struct gus_uarch_parser *p, bool *is_unit)
{
	uint32_t shift = GUS_GROUP_BASE - (uint32_t)p->port_list.n;

	for (size_t i = 0; i < p->row_list.n; i++)
		for (uint32_t k = 0; k < p->row_list.v[i].units_n; k++)
			is_unit[p->row_list.v[i].units + k] = true;
	for (size_t i = 0; i < p->use_list.n; i++)
		if (!is_unit[i] && p->use_list.v[i].group >= GUS_GROUP_BASE)
			p->use_list.v[i].group -= shift;
	for (size_t i = 0; i < p->group_ids.n; i++)
		if (p->group_ids.v[i] >= GUS_GROUP_BASE)
			p->group_ids.v[i] -= shift;
	gus_vec_append(&p->port_list, p->group_list.v, p->group_list.n);
}

int gus_parse_settle(struct gus_uarch_parser *p)
{
	bool *is_unit;

	if (!p->u->name)
		return gus_fail(p->err, GUS_E_CORRUPT,
				"cannot use the table %s: it does not begin with `uarch NAME isa ISA "
				"\"TITLE\"`", p->file_list.v[0]);
	if (p->port_list.n == 0 || p->row_list.n == 0)
		return gus_fail(p->err, GUS_E_CORRUPT, "cannot use the table %s: it has no %s", p->u->name,
				p->port_list.n ? "rows" : "ports");
	if (check_closed(p) != 0 || resolve_forms(p) != 0)
		return -1;
	is_unit = gus_zalloc(p->use_list.n + 1);
	p->u->ports_n = (uint32_t)p->port_list.n;
	number_groups(p, is_unit);
	free(is_unit);
	return 0;
}

#define HAND_OVER(field, list) (u->field = (list).v, u->field##_n = (uint32_t)(list).n)

void gus_parse_hand_over(struct gus_uarch_parser *p)
{
	struct gus_uarch *u = p->u;

	HAND_OVER(aliases, p->alias_list);
	HAND_OVER(likes, p->like_list);
	HAND_OVER(files, p->file_list);
	HAND_OVER(units, p->unit_list);
	HAND_OVER(sources, p->source_list);
	HAND_OVER(params, p->param_list);
	HAND_OVER(groups, p->port_list);
	HAND_OVER(rows, p->row_list);
	HAND_OVER(forms, p->form_list);
	HAND_OVER(classes, p->class_list);
	HAND_OVER(uses, p->use_list);
	HAND_OVER(pairs, p->pair_list);
	HAND_OVER(valids, p->valid_list);
	HAND_OVER(fits, p->fit_list);
	u->own->forms = p->forms.ix;
	gus_vec_free(&p->forms.layer);
}
