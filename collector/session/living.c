/* SPDX-License-Identifier: MIT */
#include "collector/session/living.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "collector/host/build_id.h"
#include "collector/host/mapped.h"
#include "collector/host/procfs.h"
#include "collector/session/kept.h"

#define CROWD_MIN 1024 /* processes: fewer are not worth a look */

struct file_key { uint64_t inode; uint32_t major, minor; };

static void init_pids(struct gus_living *l)
{
	gus_index_init(&l->pids, sizeof(uint32_t));
}

void gus_living_init(struct gus_living *l)
{
	*l = (struct gus_living){ .process_most = GUS_LIMIT_PROCESS_MAPPINGS, .most = GUS_LIMIT_ALL_MAPPINGS };
	init_pids(l);
	gus_index_init(&l->files, sizeof(struct file_key));
}

void gus_living_free(struct gus_living *l)
{
	gus_index_free(&l->pids);
	gus_index_free(&l->files);
	gus_vec_free(&l->ids);
	gus_sideband_free(&l->past);
}

/* Where all that is wanted of them is who lives, those that do not are forgotten each time there are twice as many: so
 * memory does not grow with the births, and a birth costs one look. */
static void forget_dead(struct gus_living *l)
{
	struct gus_index all = l->pids;

	init_pids(l);
	for (uint32_t i = 0; i < all.n; i++) {
		uint32_t pid = *(const uint32_t *)gus_index_key(&all, i);

		if (kill((pid_t)pid, 0) == 0 || errno == EPERM)
			gus_index_add(&l->pids, &pid, NULL);
	}
	gus_index_free(&all);
	l->crowd = 2 * l->pids.n;
}

void gus_living_add(struct gus_living *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	gus_index_add(&l->pids, &key, NULL);
	if (!l->remembers && l->pids.n > CROWD_MIN && l->pids.n > l->crowd)
		forget_dead(l);
}

/* For the next file; forks, names and mappings can come as long as the file grows. */
static void remember(struct gus_living *l, const Gusprof__Record *r)
{
	if (l->past.bytes < l->most)
		gus_sideband_copy(&l->past, r);
	else
		l->left_out++;
}

void gus_living_note(struct gus_living *l, const Gusprof__Record *r)
{
	if (r->kind_case == GUSPROF__RECORD__KIND_FORK && r->fork->pid != r->fork->ppid)
		gus_living_add(l, (pid_t)r->fork->pid);
	if (l->remembers && (r->kind_case == GUSPROF__RECORD__KIND_MMAP || r->kind_case == GUSPROF__RECORD__KIND_COMM ||
			     r->kind_case == GUSPROF__RECORD__KIND_FORK))
		remember(l, r);
}

/* A cgroup and those below it. */
static void add_cgroup(struct gus_living *l, const char *path)
{
	char *members = gus_format("%s/cgroup.procs", path), *text, *at, *end;
	struct gus_texts below = { 0 };
	size_t size;

	text = at = gus_procfs_read(members, &size);
	for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end)
		gus_living_add(l, (pid_t)pid);
	free(text);
	free(members);
	gus_folders_below(path, &below);
	for (size_t i = 0; i < below.n; i++) {
		add_cgroup(l, below.v[i]);
		free(below.v[i]);
	}
	gus_vec_free(&below);
}

void gus_living_add_target(struct gus_living *l, const struct gus_target *t)
{
	struct gus_tids pids = { 0 };

	if (t->kind == GUS_TARGET_SYSTEM)
		gus_pids_all(&pids);
	if (t->kind == GUS_TARGET_CGROUP)
		add_cgroup(l, t->cgroup_path);
	for (size_t i = 0; i < pids.n; i++)
		gus_living_add(l, pids.v[i]);
	gus_vec_free(&pids);
	for (size_t i = 0; i < t->watches.n; i++) {
		struct gus_task task;

		if (gus_task_read(t->watches.v[i].id, &task))
			gus_living_add(l, task.tgid);
	}
}

/* Build ids. */

static const struct gus_file_id *file_id(struct gus_living *l, pid_t pid, const struct gus_mapping *m)
{
	struct file_key key = { m->inode, m->major, m->minor };
	bool is_new;
	uint32_t number = gus_index_add(&l->files, &key, &is_new);

	if (is_new) {
		struct gus_file_id id = { .size = 0 };
		const struct gus_mapped mapped = { .start = m->start, .end = m->end, .path = m->path,
						   .path_length = m->path_length,
						   .identity = { m->inode, m->major, m->minor } };
		int fd = gus_mapped_open(pid, &mapped);

		if (fd >= 0)
			id.size = (uint8_t)gus_file_build_id(fd, id.bytes);
		if (fd >= 0 && l->kept)
			gus_kept_give(l->kept, fd, id.bytes, id.size, m->inode, m->major, m->minor);
		else if (fd >= 0)
			close(fd);
		gus_vec_push(&l->ids, id);
	}
	return &l->ids.v[number];
}

/* Records. */

static void add_comm(struct gus_sideband *s, pid_t pid, pid_t tid, const char *comm, uint64_t time)
{
	size_t length = strlen(comm);
	Gusprof__Comm *m = gus_sideband_add(s, GUSPROF__RECORD__KIND_COMM, length + 1)->comm;

	*m = (Gusprof__Comm){ .base = m->base, .pid = (uint32_t)pid, .tid = (uint32_t)tid, .time = time,
			      .name = gus_sideband_text(s, comm, length) };
}

static void add_mapping(struct gus_living *l, struct gus_sideband *s, pid_t pid, const struct gus_mapping *map,
			uint64_t time)
{
	static const struct gus_file_id none;
	char *own = map->path_length ? gus_alloc(map->path_length + 1) : NULL;
	size_t length = own ? gus_mapping_path(map, own) : strlen("//anon");
	const char *path = own ? own : "//anon"; /* the kernel's own word in its records */
	const struct gus_file_id *id = *path == '/' && map->inode ? file_id(l, pid, map) : &none;
	Gusprof__Mmap *m = gus_sideband_add(s, GUSPROF__RECORD__KIND_MMAP, length + 1 + GUS_BUILD_ID_MAX + 1)->mmap;

	*m = (Gusprof__Mmap){ .base = m->base, .pid = (uint32_t)pid, .tid = (uint32_t)pid, .time = time,
			      .start = map->start, .length = map->end - map->start, .offset = map->offset,
			      .protection = map->protection, .flags = map->flags,
			      .path = gus_sideband_text(s, path, length) };
	if (id->size) {
		m->build_id.len = id->size;
		m->build_id.data = (uint8_t *)gus_sideband_text(s, id->bytes, id->size);
	} else {
		m->major = map->major;
		m->minor = map->minor;
		m->inode = map->inode;
	}
	free(own);
}

static void add_mappings(struct gus_living *l, struct gus_sideband *s, pid_t pid, uint64_t time)
{
	struct gus_mapping map;
	char path[64], *text;
	const char *at;
	size_t size, before = s->bytes;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	at = text = gus_procfs_read(path, &size);
	while (at && gus_mapping_next(&at, &map))
		if (map.protection & PROT_EXEC) {
			if (s->bytes - before < l->process_most && s->bytes < l->most)
				add_mapping(l, s, pid, &map, time);
			else
				l->left_out++;
		}
	free(text);
}

static void add_threads(struct gus_sideband *s, pid_t pid, uint64_t time)
{
	struct gus_tids tids = { 0 };
	char comm[64];

	gus_tids_of(pid, &tids);
	for (size_t i = 0; i < tids.n; i++)
		if (tids.v[i] != pid && gus_task_comm(tids.v[i], comm, sizeof(comm)))
			add_comm(s, pid, tids.v[i], comm, time);
	gus_vec_free(&tids);
}

/* Nothing that was seen is believed to live on: who has gone is dropped. */
static struct gus_tids take_pids(struct gus_living *l)
{
	struct gus_tids pids = { 0 };

	for (uint32_t i = 0; i < l->pids.n; i++)
		gus_vec_push(&pids, (pid_t)*(const uint32_t *)gus_index_key(&l->pids, i));
	gus_index_free(&l->pids);
	init_pids(l);
	return pids;
}

/* What is known of the ones that have gone: a child has its parent's mappings. */
static void recall(const struct gus_sideband *past, struct gus_index *gone, struct gus_sideband *s)
{
	for (size_t i = past->records.n; i-- > 0;) {
		const Gusprof__Record *r = past->records.v[i];

		if (r->kind_case == GUSPROF__RECORD__KIND_FORK &&
		    gus_index_find(gone, &r->fork->pid) != GUS_INDEX_NONE)
			gus_index_add(gone, &r->fork->ppid, NULL);
	}
	for (size_t i = 0; i < past->records.n; i++) {
		const Gusprof__Record *r = past->records.v[i];
		uint32_t pid = r->kind_case == GUSPROF__RECORD__KIND_MMAP ? r->mmap->pid :
			       r->kind_case == GUSPROF__RECORD__KIND_COMM ? r->comm->pid : r->fork->pid;

		if (gus_index_find(gone, &pid) != GUS_INDEX_NONE)
			gus_sideband_copy(s, r);
	}
}

void gus_living_describe(struct gus_living *l, uint64_t start_ns, uint64_t boot_ns, uint64_t now_ns,
			 struct gus_sideband *s)
{
	uint64_t start_ticks = boot_ns / (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	struct gus_tids pids = take_pids(l);
	struct gus_sideband past = l->past;
	struct gus_index gone;
	size_t first = s->records.n;

	l->past = (struct gus_sideband){ 0 };
	gus_index_init(&gone, sizeof(uint32_t));
	for (size_t i = 0; i < pids.n; i++) {
		struct gus_task task;
		uint64_t time;

		if (!gus_task_read(pids.v[i], &task) || gus_task_ended(&task) || task.tgid != task.tid) {
			gus_index_add(&gone, &(uint32_t){ (uint32_t)pids.v[i] }, NULL);
			continue;
		}
		gus_living_add(l, task.tid);
		time = task.start <= start_ticks ? start_ns : now_ns;
		add_comm(s, task.tid, task.tid, task.comm, time);
		add_threads(s, task.tid, time);
		if (!task.kernel_thread)
			add_mappings(l, s, task.tid, time);
	}
	recall(&past, &gone, s);
	for (size_t i = first; l->remembers && i < s->records.n; i++)
		remember(l, s->records.v[i]);
	gus_sideband_free(&past);
	gus_index_free(&gone);
	gus_vec_free(&pids);
}

bool gus_living_threads(struct gus_tids *tids, void *living)
{
	struct gus_living *l = living;
	struct gus_tids pids = take_pids(l);
	bool any = false;

	for (size_t i = 0; i < pids.n; i++)
		if (gus_tids_of(pids.v[i], tids)) {
			gus_living_add(l, pids.v[i]);
			any = true;
		}
	gus_vec_free(&pids);
	return any;
}
