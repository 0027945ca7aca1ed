/* SPDX-License-Identifier: MIT */
#include "collector/snapshot/denial.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/host/procfs.h"
#include "collector/host/text.h"

enum { YAMA_ATTACHED = 1, YAMA_ADMIN, YAMA_NOBODY }; /* Documentation/admin-guide/LSM/Yama.rst */

static bool may_trace(const struct gus_denial_side *we)
{
	return we->effective >> CAP_SYS_PTRACE & 1;
}

/* As __ptrace_may_access, the capability module and Yama ask, one after the other. */
void gus_denial_tell(const struct gus_denial_side *we, const struct gus_denial_side *it, int yama, char *out,
		      size_t size)
{
	uint64_t more = it->permitted & ~we->permitted;

	if (yama == YAMA_NOBODY)
		snprintf(out, size, "kernel.yama.ptrace_scope is 3, which keeps everybody from it until the next boot");
	else if (may_trace(we) && more)
		snprintf(out, size, "you have CAP_SYS_PTRACE, and it has capabilities that you have not (%#" PRIx64
			 "): a security module or the container that you are in guards it; try from outside", more);
	else if (may_trace(we))
		snprintf(out, size, "you have CAP_SYS_PTRACE: a security module or the container that you are in "
			 "guards it; try from outside");
	else if (it->uid != we->uid || it->several)
		snprintf(out, size, "it belongs to another user (%u) or has raised rights: run as root", it->uid);
	else if (more)
		snprintf(out, size, "it has capabilities that you have not (%#" PRIx64 "): run as root", more);
	else if (yama >= YAMA_ATTACHED)
		snprintf(out, size, "kernel.yama.ptrace_scope is %d, which lets only %s: run as root", yama,
			 yama == YAMA_ADMIN ? "administrators" : "a process's own parents");
	else
		snprintf(out, size, "it is yours, but has forbidden others to look at it (prctl PR_SET_DUMPABLE), or a "
			 "security module guards it: run as root");
}

static bool read_side(const char *path, struct gus_denial_side *side)
{
	size_t size;
	char *text = gus_procfs_read(path, &size);
	const char *uid = text ? strstr(text, "\nUid:") : NULL;
	const char *permitted = text ? strstr(text, "\nCapPrm:") : NULL;
	const char *effective = text ? strstr(text, "\nCapEff:") : NULL;
	unsigned ids[3] = { 0 };
	bool ok = uid && permitted && effective && sscanf(uid, "\nUid: %u %u %u", &ids[0], &ids[1], &ids[2]) == 3;

	if (ok)
		*side = (struct gus_denial_side){ ids[1], ids[0] != ids[1] || ids[1] != ids[2],
			strtoull(permitted + strlen("\nCapPrm:"), NULL, 16),
			strtoull(effective + strlen("\nCapEff:"), NULL, 16) };
	free(text);
	return ok;
}

void gus_denial_of(pid_t pid, char *out, size_t size)
{
	struct gus_denial_side we, it;
	char path[64], scope[16] = "0";

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!read_side("/proc/self/status", &we) || !read_side(path, &it)) {
		snprintf(out, size, "what it is cannot be read either");
		return;
	}
	gus_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	gus_denial_tell(&we, &it, (int)strtol(scope, NULL, 10), out, size);
}
