/* SPDX-License-Identifier: MIT */
/* What /proc says of a process or thread. Everything in it can be out of date when it has been read, and a name or a
 * path in it can hold any byte. */
#ifndef GUS_COLLECTOR_HOST_PROCFS_H
#define GUS_COLLECTOR_HOST_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"

struct gus_rights;
struct gus_texts;
struct gus_tids;

struct gus_task {
	pid_t tid, tgid, ppid;
	unsigned uid;       /* the real one */
	char state;         /* R, S, D, T (stopped), t (traced), Z (zombie), X */
	bool kernel_thread;
	uint64_t start;     /* when it was born, in clock ticks since boot: tells two holders of one number apart */
	char comm[64];
};

struct gus_tids gus_vec(pid_t);

/* What the texts of a task's stat and status say; stat is written into. False if they are none of the kernel's. */
bool gus_task_parse(char *stat, const char *status, struct gus_task *task);
/* False if there is no such task. */
bool gus_task_read(pid_t tid, struct gus_task *task);
/* Its name alone, which costs a third. False if there is no such task. */
bool gus_task_comm(pid_t tid, char *comm, size_t size);
/* Bytes of memory that the process has, of files, too; 0 if that is not known. */
uint64_t gus_task_resident(pid_t pid);
/* Whether the task has ended: a zombie has. */
bool gus_task_ended(const struct gus_task *task);

/* With whose rights files are opened that a process names: its user's, group's and groups', as they are now. Of several
 * users (a program that is set-user-ID, or has dropped its rights for a while) the first that is not root. False if
 * there is no such process; then nobody's. */
bool gus_task_rights(pid_t pid, struct gus_rights *rights);
/* The same of the text of /proc/PID/status. */
bool gus_task_rights_parse(const char *status, struct gus_rights *rights);

/* The same, and its number in its own PID namespace, 0 if that is not known. */
bool gus_task_view(pid_t pid, struct gus_rights *rights, pid_t *inner);
/* The innermost number of the text of /proc/PID/status; 0 if there is none. */
pid_t gus_task_inner_parse(const char *status);

/* The numbers of all processes, or, with a process, of its threads as they are now; appended. Threads that come or go
 * while the folder is read may be missed: read again until nothing new turns up. False if there is no such process. */
bool gus_tids_of(pid_t pid, struct gus_tids *tids);
bool gus_pids_all(struct gus_tids *pids);

/* The names in a folder that are numbers. */
bool gus_numbers_in(const char *path, struct gus_tids *numbers);

/* The folders within a folder, as paths that the caller frees; appended. */
struct gus_texts gus_vec(char *);
void gus_folders_below(const char *path, struct gus_texts *folders);

/* A whole file of /proc, terminated; the caller frees it. NULL, with errno, if it cannot be read, or is longer than any
 * honest one: how long its maps are, a process decides itself. */
char *gus_procfs_read(const char *path, size_t *size);
/* The same, of at most so many bytes; EFBIG if there are more. */
char *gus_procfs_read_most(const char *path, size_t most, size_t *size);

/* One line of a process's maps. The path is as it stands there: gus_mapping_path says what it is. */
struct gus_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	uint32_t protection, flags; /* PROT_*, MAP_SHARED or MAP_PRIVATE */
	const char *path;           /* "" for none; not terminated */
	size_t path_length;
};

/* Takes apart the line at *text and moves behind it; false at the end, or if the line is none. */
bool gus_mapping_next(const char **text, struct gus_mapping *mapping);

/* The path of a mapping, whose newlines the kernel writes as \012, terminated; to has room for path_length bytes and
 * one more. Returns its length. */
size_t gus_mapping_path(const struct gus_mapping *m, char *to);

/* The state of a thread in /proc; '\0' if it is not there. */
char gus_thread_state(pid_t pid, pid_t tid);

#endif
