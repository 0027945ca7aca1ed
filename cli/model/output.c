/* SPDX-License-Identifier: MIT */
#include "cli/model/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool is_standard_output(const struct gus_model_output *o)
{
	return o->path && strcmp(o->path, "-") == 0;
}

/* What has no name that a new file could take: a device, such as a terminal, and what is open already. */
static bool is_written_as_it_is(const char *path)
{
	struct stat st;

	return gus_output_is_open(path) || (stat(path, &st) == 0 && S_ISCHR(st.st_mode));
}

/* Its mode is that of any text. */
static int create(struct gus_model_output *o, struct gus_error *err)
{
	mode_t mask = umask(0);

	umask(mask);
	if (gus_output_create(&o->file, o->path, "report", err) != 0)
		return -1;
	fchmod(o->file.fd, 0666 & ~mask);
	o->made = true;
	o->fd = o->file.fd;
	return 0;
}

int gus_model_output_open(struct gus_model_output *o, struct gus_error *err)
{
	o->fd = -1;
	if (is_standard_output(o) || (!o->path && !o->command))
		return 0;
	if (o->path && !is_written_as_it_is(o->path))
		return create(o, err);
	if (o->path)
		o->fd = gus_output_open(o->path, "cannot write the report to", err);
	/* None that the command has as well; the lowest one would be its standard output, if that is closed. */
	else if ((o->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0)
		gus_fail_errno(err, errno, "cannot write the report to standard error; name a file with -o");
	return o->fd < 0 ? -1 : 0;
}

bool gus_model_output_moves_command(const struct gus_model_output *o)
{
	return o->command && is_standard_output(o);
}

bool gus_model_output_is_alone(const struct gus_model_output *o)
{
	return o->command && o->json && !o->path;
}

int gus_model_output_begin(struct gus_model_output *o, struct gus_error *err)
{
	fflush(stdout);
	if (o->fd < 0 || dup2(o->fd, STDOUT_FILENO) >= 0)
		return 0;
	return gus_fail_errno(err, errno, "cannot write the report to %s", o->path ? o->path : "standard error");
}

/* Whether all that was printed is there. A failure is said here, with its name, and not again when the program ends. */
static int flush(const struct gus_model_output *o, struct gus_error *err)
{
	bool bad = fflush(stdout) != 0 || ferror(stdout);
	int sys = errno;

	if (!bad)
		return 0;
	__fpurge(stdout);
	clearerr(stdout);
	return gus_fail_errno(err, sys, "cannot write the report to %s", o->path ? o->path : "standard error");
}

int gus_model_output_end(struct gus_model_output *o, int rc, struct gus_error *err)
{
	if (o->fd < 0)
		return rc;
	if (flush(o, rc == 0 ? err : NULL) != 0)
		rc = -1;
	if (o->made && rc == 0)
		rc = gus_output_name(&o->file, err);
	else if (o->made)
		gus_output_drop(&o->file);
	close(o->fd);
	o->fd = -1;
	return rc;
}
