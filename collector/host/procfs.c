/* SPDX-License-Identifier: MIT */
#include "collector/host/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/foreign_file.h"
#include "base/limits.h"
#include "collector/host/text.h"

#define KERNEL_THREAD 0x200000 /* PF_KTHREAD: the kernel shows its flags in stat, and has never moved this one */
#define STAT_START 22          /* fields of stat, counted from 1 as in proc(5) */
#define STAT_FLAGS 9
#define STAT_PPID 4
#define NOBODY 65534u          /* the kernel's overflow id */
#define IDS 4                  /* in status: real, effective, saved, of the file system */

char *gus_procfs_read_most(const char *path, size_t most, size_t *size)
{
	struct gus_vec(char) text = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), sys = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	do {
		gus_vec_reserve(&text, text.n + 4097);
		n = read(fd, text.v + text.n, text.room - text.n - 1);
		text.n += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && text.n <= most) || (n < 0 && errno == EINTR));
	if (n < 0 || text.n > most)
		sys = n < 0 ? errno : EFBIG;
	close(fd);
	if (sys) {
		gus_vec_free(&text);
		errno = sys;
		return NULL;
	}
	text.v[text.n] = '\0';
	*size = text.n;
	return text.v;
}

char *gus_procfs_read(const char *path, size_t *size)
{
	return gus_procfs_read_most(path, GUS_LIMIT_PROC_FILE, size);
}

static char *read_of(pid_t tid, const char *file)
{
	char path[64];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, file);
	return gus_procfs_read(path, &size);
}

/* Field n of stat, n > 2, as a number. The name in field 2 may hold blanks and brackets, so fields are counted from the
 * last bracket. */
static uint64_t stat_field(const char *rest, unsigned n)
{
	for (unsigned i = 3; i < n && *rest; i++) {
		rest += strcspn(rest, " ");
		rest += *rest == ' ';
	}
	return strtoull(rest, NULL, 10);
}

static bool parse_stat(char *text, struct gus_task *t)
{
	char *name = strchr(text, '('), *end = strrchr(text, ')');

	if (!name || !end || end < name || end[1] != ' ')
		return false;
	*end = '\0';
	snprintf(t->comm, sizeof(t->comm), "%s", name + 1);
	t->state = end[2];
	t->ppid = (pid_t)stat_field(end + 2, STAT_PPID);
	t->kernel_thread = stat_field(end + 2, STAT_FLAGS) & KERNEL_THREAD;
	t->start = stat_field(end + 2, STAT_START);
	return true;
}

/* "Name:\tvalue" of status. */
static uint64_t status_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

bool gus_task_parse(char *stat, const char *status, struct gus_task *t)
{
	if (!parse_stat(stat, t))
		return false;
	t->tgid = (pid_t)status_field(status, "\nTgid:");
	t->uid = (unsigned)status_field(status, "\nUid:");
	return t->tgid > 0;
}

bool gus_task_read(pid_t tid, struct gus_task *t)
{
	char *stat = read_of(tid, "stat"), *status = stat ? read_of(tid, "status") : NULL;
	bool good;

	*t = (struct gus_task){ .tid = tid };
	good = stat && status && gus_task_parse(stat, status, t);
	free(stat);
	free(status);
	return good;
}

/* Numbers behind "Name:" of status, at most n; how many there are. */
static size_t status_fields(const char *text, const char *name, unsigned *numbers, size_t n)
{
	const char *at = strstr(text, name);
	size_t found = 0;
	char *end;

	for (at = at ? at + strlen(name) : ""; found < n && *at && *at != '\n'; at = end) {
		numbers[found] = (unsigned)strtoul(at, &end, 10);
		if (end == at)
			break;
		found++;
		end += strspn(end, " \t");
	}
	return found;
}

bool gus_task_rights_parse(const char *status, struct gus_rights *rights)
{
	unsigned users[IDS], groups[IDS];
	size_t which = 0;

	*rights = (struct gus_rights){ .limited = true, .uid = NOBODY, .gid = NOBODY, .whose = "the process's owner" };
	if (status_fields(status, "\nUid:", users, IDS) != IDS || status_fields(status, "\nGid:", groups, IDS) != IDS)
		return false;
	while (which < IDS - 1 && users[which] == 0)
		which++;
	rights->uid = users[which];
	rights->gid = groups[which];
	rights->groups_n = status_fields(status, "\nGroups:", rights->groups, GUS_RIGHTS_GROUPS);
	rights->limited = rights->uid != geteuid();
	return true;
}

bool gus_task_rights(pid_t pid, struct gus_rights *rights)
{
	char *status = read_of(pid, "status");
	bool good = gus_task_rights_parse(status ? status : "", rights);

	free(status);
	return good;
}

pid_t gus_task_inner_parse(const char *status)
{
	const char *at = strstr(status, "\nNSpid:");
	long pid = 0;
	char *end;

	for (at = at ? at + strlen("\nNSpid:") : ""; *at && *at != '\n'; at = end + strspn(end, " \t")) {
		long next = strtol(at, &end, 10);

		if (end == at || next <= 0 || next > INT32_MAX)
			return 0;
		pid = next;
	}
	return (pid_t)pid;
}

bool gus_task_view(pid_t pid, struct gus_rights *rights, pid_t *inner)
{
	char *status = read_of(pid, "status");
	bool good = gus_task_rights_parse(status ? status : "", rights);

	*inner = gus_task_inner_parse(status ? status : "");
	free(status);
	return good;
}

bool gus_task_comm(pid_t tid, char *comm, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	return gus_read_text(path, comm, size);
}

uint64_t gus_task_resident(pid_t pid)
{
	char path[64], text[128];
	unsigned long long pages;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (!gus_read_text(path, text, sizeof(text)) || sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool gus_task_ended(const struct gus_task *t)
{
	return t->state == 'Z' || t->state == 'X' || t->state == 'x';
}

bool gus_numbers_in(const char *path, struct gus_tids *tids)
{
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return false;
	while ((e = readdir(d)))
		if (isdigit((unsigned char)*e->d_name))
			gus_vec_push(tids, (pid_t)strtol(e->d_name, NULL, 10));
	closedir(d);
	return true;
}

bool gus_tids_of(pid_t pid, struct gus_tids *tids)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return gus_numbers_in(path, tids);
}

bool gus_pids_all(struct gus_tids *pids)
{
	return gus_numbers_in("/proc", pids);
}

void gus_folders_below(const char *path, struct gus_texts *folders)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			gus_vec_push(folders, gus_format("%s/%s", path, e->d_name));
	if (d)
		closedir(d);
}

static bool take_hex(const char **text, uint64_t *value, char end)
{
	char *after;

	*value = strtoull(*text, &after, 16);
	if (after == *text || *after != end)
		return false;
	*text = after + 1;
	return true;
}

/* "START-END PERM OFFSET MAJOR:MINOR INODE    PATH": a newline in the path is written as \012 by the kernel. */
bool gus_mapping_next(const char **text, struct gus_mapping *m)
{
	const char *at = *text;
	uint64_t major, minor;
	char *after;

	*m = (struct gus_mapping){ 0 };
	if (!take_hex(&at, &m->start, '-') || !take_hex(&at, &m->end, ' ') || strnlen(at, 5) < 5 || m->end < m->start)
		return false;
	m->protection = (at[0] == 'r' ? PROT_READ : 0) | (at[1] == 'w' ? PROT_WRITE : 0) |
		(at[2] == 'x' ? PROT_EXEC : 0);
	m->flags = at[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	at += 5;
	if (!take_hex(&at, &m->offset, ' ') || !take_hex(&at, &major, ':') || !take_hex(&at, &minor, ' '))
		return false;
	m->major = (uint32_t)major;
	m->minor = (uint32_t)minor;
	m->inode = strtoull(at, &after, 10);
	at = after + strspn(after, " ");
	m->path = at;
	m->path_length = strcspn(at, "\n");
	*text = at + m->path_length + (at[m->path_length] == '\n');
	return true;
}

size_t gus_mapping_path(const struct gus_mapping *m, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < m->path_length; i++) {
		if (m->path_length - i >= 4 && memcmp(m->path + i, "\\012", 4) == 0) {
			to[n++] = '\n';
			i += 3;
		} else {
			to[n++] = m->path[i];
		}
	}
	to[n] = '\0';
	return n;
}

char gus_thread_state(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (!gus_read_text(path, text, sizeof(text)))
		return '\0';
	end = strrchr(text, ')'); /* the name before it is in brackets, and may have some itself */
	return end && end[1] == ' ' ? end[2] : '\0';
}
