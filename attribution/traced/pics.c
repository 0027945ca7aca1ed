/* SPDX-License-Identifier: MIT */
#include "attribution/traced/pics.h"

#include <stdlib.h>

void gus_traced_pics_add(struct gus_traced_pics *pics, const struct gus_pics_cell *cells, size_t n)
{
	if (n)
		gus_vec_append(pics, cells, n);
}

void gus_traced_pics_settle(struct gus_traced_pics *pics)
{
	size_t n = 0;

	if (!pics->n)
		return;
	qsort(pics->v, pics->n, sizeof(*pics->v), gus_pics_cell_compare);
	for (size_t i = 1; i < pics->n; i++) {
		if (gus_pics_cell_compare(&pics->v[n], &pics->v[i]) == 0)
			pics->v[n].ticks += pics->v[i].ticks;
		else
			pics->v[++n] = pics->v[i];
	}
	pics->n = n + 1;
}

const struct gus_pics_cell *gus_traced_pics_of(const struct gus_traced_pics *pics, uint32_t op, size_t *n)
{
	size_t low = 0, high = pics->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pics->v[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < pics->n && pics->v[end].op == op; end++)
		;
	*n = end - low;
	return pics->v + low;
}
