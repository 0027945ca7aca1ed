/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* What has the name already: nothing, something that is kept as .old, or something that is not ours to rename. */
static int look(const struct gus_output *o, bool *keep, struct gus_error *err)
{
	struct stat st;

	*keep = lstat(o->path, &st) == 0;
	/* A link that leads nowhere is only a link; one to a device stands for the device. */
	if (*keep && S_ISLNK(st.st_mode) && stat(o->path, &st) != 0)
		return 0;
	if (*keep && !S_ISREG(st.st_mode))
		return gus_fail(err, GUS_E_USAGE, "cannot write the %s %s: it exists and is not a regular file",
				o->what, o->path);
	return 0;
}

static void forget(struct gus_output *o)
{
	free(o->path);
	free(o->hidden);
	o->path = o->hidden = NULL;
}

int gus_output_create(struct gus_output *o, const char *path, const char *what, struct gus_error *err)
{
	bool keep;

	*o = (struct gus_output){ -1, gus_strdup(path), gus_format("%s.XXXXXX", path), what };
	if (look(o, &keep, err) == 0) {
		o->fd = mkostemp(o->hidden, O_CLOEXEC);
		if (o->fd >= 0)
			return 0;
		gus_fail_errno(err, errno, "cannot create the %s %s", what, path);
	}
	forget(o);
	return -1;
}

static int keep_old(const struct gus_output *o, struct gus_error *err)
{
	char *old;
	bool keep;
	int rc = look(o, &keep, err);

	if (rc != 0 || !keep)
		return rc;
	old = gus_format("%s.old", o->path);
	if (rename(o->path, old) != 0)
		rc = gus_fail_errno(err, errno, "cannot keep the previous %s %s as %s", o->what, o->path, old);
	free(old);
	return rc;
}

int gus_output_name(struct gus_output *o, struct gus_error *err)
{
	int rc = keep_old(o, err);

	if (rc == 0 && rename(o->hidden, o->path) != 0)
		rc = gus_fail_errno(err, errno, "cannot name the %s %s", o->what, o->path);
	if (rc != 0)
		unlink(o->hidden);
	forget(o);
	return rc;
}

void gus_output_drop(struct gus_output *o)
{
	if (o->hidden)
		unlink(o->hidden);
	forget(o);
}
