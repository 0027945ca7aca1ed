/* SPDX-License-Identifier: MIT */
#include "cli/report/flame_file.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define DOING "cannot write the flame graph to"

/* What has no name that a new file could take: a device, such as a terminal, and what is open already. */
static bool is_written_as_it_is(const char *path)
{
	struct stat st;

	return gus_output_is_open(path) || (stat(path, &st) == 0 && S_ISCHR(st.st_mode));
}

/* Its mode is that of any page: what a recording is kept from others for, the user gives away by making it. */
static int create(struct gus_flame_file *f, struct gus_error *err)
{
	mode_t mask = umask(0);

	umask(mask);
	if (gus_output_create(&f->file, f->path, "flame graph", err) != 0)
		return -1;
	fchmod(f->file.fd, 0666 & ~mask);
	f->made = true;
	return f->file.fd;
}

/* What programs would take by its name for something else than it is. */
static bool is_called_otherwise(const char *path)
{
	static const char *const suffixes[] = { ".svg", ".png", ".json" };
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (length >= strlen(suffixes[i]) && strcasecmp(path + length - strlen(suffixes[i]), suffixes[i]) == 0)
			return true;
	return false;
}

int gus_flame_file_open(struct gus_flame_file *f, const char *path, struct gus_error *err)
{
	int fd;

	if (is_called_otherwise(path))
		return gus_fail(err, GUS_E_USAGE, DOING " %s: it is a page of HTML, with a script; give it a name that "
				"ends in .html", path);
	*f = (struct gus_flame_file){ .path = path, .out = stdout };
	if (strcmp(path, "-") == 0)
		return 0;
	fd = is_written_as_it_is(path) ? gus_output_open(path, DOING, err) : create(f, err);
	if (fd < 0)
		return -1;
	f->out = fdopen(fd, "w");
	if (f->out)
		return 0;
	gus_fail_errno(err, errno, DOING " %s", path);
	if (f->made)
		gus_output_drop(&f->file);
	close(fd);
	return -1;
}

/* Of standard output the end of the program says whether all went out. */
int gus_flame_file_end(struct gus_flame_file *f, int rc, struct gus_error *err)
{
	if (f->out == stdout)
		return rc;
	if (rc == 0 && (fflush(f->out) != 0 || ferror(f->out)))
		rc = gus_fail_errno(err, errno, DOING " %s", f->path);
	if (f->made && rc == 0)
		rc = gus_output_name(&f->file, err);
	else if (f->made)
		gus_output_drop(&f->file);
	fclose(f->out);
	f->out = NULL;
	return rc;
}
