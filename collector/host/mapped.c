/* SPDX-License-Identifier: MIT */
#include "collector/host/mapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/host/build_id.h"
#include "collector/host/procfs.h"

static bool is_it(int fd, const struct stat *st, const struct gus_mapped *m)
{
	uint8_t id[GUS_BUILD_ID_MAX];

	if (!m->build_id_size)
		return gus_foreign_is(fd, st, &m->identity);
	return gus_file_build_id(fd, id) == m->build_id_size && memcmp(id, m->build_id, m->build_id_size) == 0;
}

/* fd itself, if it is the file; else it is closed. */
static int checked(int fd, const struct stat *st, const struct gus_mapped *m)
{
	if (fd < 0 || is_it(fd, st, m))
		return fd;
	close(fd);
	return -1;
}

static int open_of_process(pid_t pid, const struct gus_mapped *m, const char *path, const struct gus_rights *rights)
{
	struct stat st;
	char name[80];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)m->start,
		 (unsigned long long)m->end);
	fd = checked(gus_foreign_open(name, rights, &st, NULL), &st, m);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	return checked(gus_foreign_open_below(name, path, rights, &st, NULL), &st, m);
}

int gus_mapped_open(pid_t pid, const struct gus_mapped *m)
{
	char *path = gus_strndup(m->path, m->path_length);
	struct gus_rights rights;
	struct gus_task task;
	struct stat st;
	int fd = -1;

	if (gus_task_rights(pid, &rights))
		fd = open_of_process(pid, m, path, &rights);
	if (fd < 0 && (!gus_task_read(pid, &task) || gus_task_ended(&task)))
		fd = checked(gus_foreign_open(path, NULL, &st, NULL), &st, m);
	free(path);
	return fd;
}
