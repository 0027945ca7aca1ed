/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/group.h"

enum { MEMBERS_MOST = 64 };     /* more than any machine has counters */

bool gus_topdown_group_read(struct gus_topdown_group *r, const uint64_t *words, size_t n, uint64_t format)
{
	bool enabled = format & GUS_TOPDOWN_FORMAT_ENABLED, running = format & GUS_TOPDOWN_FORMAT_RUNNING;

	*r = (struct gus_topdown_group){
		.words = words, .times = (size_t)enabled + running,
		.each = format & GUS_TOPDOWN_FORMAT_LOST ? 3 : 2, .timed = enabled && running,
	};
	if (!gus_topdown_group_told(format) || n < r->times || (n - r->times) % r->each)
		return false;
	r->n = (n - r->times) / r->each;
	if (r->timed) {
		r->enabled_ns = words[0];
		r->running_ns = words[1];
	}
	return r->n && r->n <= MEMBERS_MOST;
}
