/* SPDX-License-Identifier: MIT */
#include "collector/trial/callers.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/events/attr.h"
#include "collector/trial/branches.h"

#define PERIOD 1000000007 /* so long that nothing is sampled: whether it opens is the question */

/* Returns 0 or -errno. */
static int open_self(const struct gus_event *event, const struct gus_attr_plan *plan, bool kernel)
{
	struct gus_event e = *event;
	union gus_attr a;
	int fd;

	e.period = PERIOD;
	if (!kernel)
		gus_event_exclude_kernel(&e);
	gus_attr_fill(&a, &e, plan, true);
	fd = gus_attr_open(&a, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static bool is_refused(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

/* An event that opens without the cargo and not with it. */
static int check_event(const struct gus_event *e, const struct gus_cargo *cargo, struct gus_error *err)
{
	const struct gus_attr_plan loaded = { .cargo = *cargo }, empty = { .cargo.chain = cargo->chain };
	bool kernel = !is_refused(open_self(e, &empty, true));
	int rc = open_self(e, &loaded, kernel);

	if (rc == 0 || is_refused(rc) || open_self(e, &empty, kernel) != 0)
		return 0;
	return gus_fail_errno(err, -rc, "cannot have the registers and %u bytes of the stack with each sample of %s; "
			      "callers can be found by frame pointers (--call-graph fp)", cargo->stack_bytes, e->name);
}

int gus_callers_check(const struct gus_events *events, const struct gus_cargo *cargo, struct gus_pmus *pmus,
		      const char *uarch, struct gus_error *err)
{
	if (cargo->calls)
		return gus_branches_check_calls(events, cargo->branch_type, pmus, uarch, err);
	if (cargo->stack_bytes && !cargo->regs)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot have registers with samples: this program knows those "
				"of x86-64 and arm64 alone; callers can be found by frame pointers (--call-graph fp)");
	for (size_t i = 0; cargo->stack_bytes && i < events->n; i++)
		if (!events->v[i].cpus && check_event(&events->v[i], cargo, err) != 0)
			return -1;
	return 0;
}
