/* SPDX-License-Identifier: MIT */
#include "collector/trial/self.h"

#include "base/error.h"
#include "collector/events/attr.h"
#include "collector/events/event.h"
#include "collector/kernel/perf.h"

#define RING_RECORDS 16           /* with stacks; half a millisecond of probing has some six */

int gus_self_open(struct gus_self *self, const struct gus_event *event, uint64_t period,
		  const struct gus_cargo *cargo)
{
	size_t ring_bytes = GUS_SELF_RING_BYTES;
	struct gus_attr_plan plan = { .features = 0, .cargo = *cargo };
	struct gus_event e = *event;
	struct gus_error why = { 0 };
	union gus_attr a;

	while (cargo->stack_bytes && ring_bytes < RING_RECORDS * (cargo->stack_bytes + 1024))
		ring_bytes *= 2;
	plan.wakeup_bytes = (uint32_t)ring_bytes;
	*self = (struct gus_self){ 0 };
	e.period = period;
	e.bare = false;
	gus_attr_fill(&a, &e, &plan, true);
	a.kernel.read_format = 0;
	self->fd = gus_attr_open(&a, 0, -1, -1);
	if (self->fd < 0)
		return self->fd;
	if (gus_ring_map(&self->ring, self->fd, 0, ring_bytes, &why) == 0)
		return 0;
	gus_perf.close(self->fd);
	return -why.sys;
}

void gus_self_close(struct gus_self *self)
{
	gus_ring_unmap(&self->ring);
	gus_perf.close(self->fd);
}

int gus_self_try(const struct gus_event *event, bool inherit, int group_fd)
{
	const struct gus_attr_plan plan = { .inherit = inherit };
	struct gus_event rare = *event;
	union gus_attr a;

	if (!rare.period && !rare.counts)
		rare.period = 1000003; /* it is never switched on */
	gus_attr_fill(&a, &rare, &plan, group_fd < 0);
	return gus_attr_open(&a, 0, -1, group_fd);
}
