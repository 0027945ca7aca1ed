/* SPDX-License-Identifier: MIT */
#include "tracing/replay/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign_file.h"
#include "collector/snapshot/registers.h"
#include "tracing/replay/image_format.h"

/* QEMU notes each page that is mapped. So of what was only reserved, no more is mapped than what lies around the pages
 * that are in use: what a window touches for the first time is near them. */
#define WHOLE (256ull << 20)
#define AROUND (4ull << 20)
#define STACK_MORE (128ull << 10)       /* that a stack may grow by */
#define LOWEST 0x10000                  /* that the kernel lets anybody map */

/* Of x86-64. */
#define STATE_COMPONENTS 512            /* which there are: offset in an XSAVE area, its header's first integer */
#define STATE_HEADER_REST 520
#define STATE_HEADER_END 576
#define STATE_OLD 7                     /* x87, SSE, AVX: what QEMU has */
#define EFLAGS 18                       /* in user_regs_struct */
#define EFLAGS_TRAP 0x100
/* Of arm64. */
#define PSTATE 33                       /* in user_pt_regs */
#define PSTATE_FLAGS 0xf0000000u        /* N, Z, C, V: the rest is the kernel's */

struct image {
	bool native;
	const struct gus_rights *rights;
	struct gus_replay_image head;
	struct gus_vec(struct gus_replay_mapping) mappings;
	struct gus_vec(struct gus_replay_run) runs;
	struct gus_vec(const char *) paths;     /* borrowed; those of files' descriptors */
	struct gus_replay_image_files *files;
	int own[2];                     /* of the snapshot's own files; -1: there is none */
};

static bool is_same_file(const struct stat *st, const Gusprof__SnapshotMapping *m)
{
	return (uint64_t)st->st_size == m->file_size && st->st_ino == m->inode &&
		(uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec == m->file_mtime_ns;
}

/* Its descriptor; -1 with err. The name is the snapshot's, and it may name anything today. */
static int open_file(const struct image *i, const Gusprof__SnapshotMapping *m, struct gus_error *err)
{
	struct stat st;
	int fd = gus_foreign_open(m->path, i->rights, &st, NULL);

	if (fd < 0 && errno != EINVAL)
		return gus_fail_errno(err, errno, "cannot replay the snapshot: %s was mapped and cannot be opened%s%s",
				      m->path, i->rights && i->rights->limited ? " with the rights of " : "",
				      i->rights && i->rights->limited ? i->rights->whose : "");
	if (fd >= 0 && is_same_file(&st, m))
		return fd;
	if (fd >= 0)
		close(fd);
	return gus_fail(err, GUS_E_NOT_FOUND, "cannot replay the snapshot: %s has changed since it was taken", m->path);
}

/* Each file is opened once; most are mapped several times in a row. */
static int file_of(struct image *i, const Gusprof__SnapshotMapping *m, struct gus_error *err)
{
	int fd;

	for (size_t k = i->paths.n; k-- > 0;)
		if (strcmp(i->paths.v[k], m->path) == 0)
			return i->files->fds.v[k];
	if (i->paths.n == GUS_REPLAY_FILES_MAX)
		return gus_fail(err, GUS_E_UNSUPPORTED,
				"cannot replay the snapshot: it has more than %d files mapped", GUS_REPLAY_FILES_MAX);
	fd = open_file(i, m, err);
	if (fd >= 0) {
		gus_vec_push(&i->paths, m->path);
		gus_vec_push(&i->files->fds, fd);
	}
	return fd;
}

static void add_mapping(struct image *i, uint64_t start, uint64_t end, uint32_t protection)
{
	struct gus_replay_mapping *last = i->mappings.n ? &i->mappings.v[i->mappings.n - 1] : NULL;

	if (last && last->address + last->size > start && end > start) /* pieces of one mapping, around runs */
		last->size = end - last->address > last->size ? end - last->address : last->size;
	else
		gus_vec_push(&i->mappings, (struct gus_replay_mapping){ start, end - start, 0, -1, protection });
}

/* The parts of a large mapping that are in use. */
static void add_parts(struct image *i, const struct gus_snapshot *s, const Gusprof__SnapshotMapping *m)
{
	uint64_t end = m->start + m->length;

	for (size_t k = 0; k < s->runs.n; k++) {
		uint64_t from = s->runs.v[k].address, to = from + s->runs.v[k].size;

		if (to <= m->start || from >= end)
			continue;
		from = from < m->start + AROUND ? m->start : from - AROUND;
		to = to > end - AROUND ? end : to + AROUND;
		add_mapping(i, from, to, m->protection);
	}
}

/* Where gusprof-replay itself lies nothing else may: what is mapped there would be executed before it has forbidden
 * itself anything. */
static bool is_in_the_way(uint64_t start, uint64_t end)
{
	return start < GUS_REPLAY_BASE + GUS_REPLAY_SIZE && end > GUS_REPLAY_BASE;
}

static int fail_in_the_way(uint64_t address, struct gus_error *err)
{
	return gus_fail(err, GUS_E_UNSUPPORTED,
			"cannot replay the snapshot: it has memory at %#llx, where what replays it lies",
			(unsigned long long)address);
}

static int add_one(struct image *i, const struct gus_snapshot *s, const Gusprof__SnapshotMapping *m, uint64_t start,
		   struct gus_error *err)
{
	uint64_t end = m->start + m->length;
	int fd;

	if (is_in_the_way(start, end))
		return fail_in_the_way(m->start, err);
	if (m->from_file) {
		fd = file_of(i, m, err);
		if (fd < 0)
			return -1;
		gus_vec_push(&i->mappings,
			     (struct gus_replay_mapping){ start, end - start, m->offset, fd, m->protection });
	} else if (m->length <= WHOLE) {
		add_mapping(i, start, end, m->protection);
	} else {
		add_parts(i, s, m);
	}
	return 0;
}

static int add_mappings(struct image *i, const struct gus_snapshot *s, struct gus_error *err)
{
	uint64_t before = LOWEST;       /* the end of what is mapped below */

	for (size_t k = 0; k < s->about->n_mappings; k++) {
		const Gusprof__SnapshotMapping *m = s->about->mappings[k];
		uint64_t start = m->start;

		if (strcmp(m->path, "[stack]") == 0 && start > before)
			start -= start - before < STACK_MORE ? start - before : STACK_MORE;
		before = m->start + m->length > before ? m->start + m->length : before;
		if (m->protection & (PROT_READ | PROT_WRITE | PROT_EXEC) && add_one(i, s, m, start, err) != 0)
			return -1;
	}
	for (size_t k = 0; k < i->mappings.n; k++)
		i->files->memory += i->mappings.v[k].size;
	return 0;
}

static void fit_x86(struct image *i)
{
	uint64_t mask = i->native ? UINT64_MAX : STATE_OLD, components;

	i->head.registers[EFLAGS] &= ~(uint64_t)EFLAGS_TRAP;
	memcpy(&components, i->head.state + STATE_COMPONENTS, sizeof(components));
	components &= mask;
	memcpy(i->head.state + STATE_COMPONENTS, &components, sizeof(components));
	memset(i->head.state + STATE_HEADER_REST, 0, STATE_HEADER_END - STATE_HEADER_REST);
	i->head.state_mask = mask;
}

static void fill_head(struct image *i, const struct gus_snapshot *s)
{
	const Gusprof__Snapshot *a = s->about;

	i->head.magic = GUS_REPLAY_MAGIC;
	i->head.mappings = sizeof(i->head);
	i->head.mappings_n = i->mappings.n;
	i->head.runs = sizeof(i->head) + i->mappings.n * sizeof(*i->mappings.v);
	i->head.runs_n = s->runs.n;
	memcpy(i->head.registers, a->registers.data, a->registers.len);
	i->head.state_size = a->state.len;
	memcpy(i->head.state, a->state.data, a->state.len);
	if (strcmp(a->machine, GUS_SNAPSHOT_X86_64) == 0)
		fit_x86(i);
	else
		i->head.registers[PSTATE] &= PSTATE_FLAGS;
}

static int write_all(int fd, const void *bytes, size_t size, struct gus_error *err)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gus_fail_errno(err, n < 0 ? errno : ENOSPC, "cannot write the image of a snapshot");
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Registers and files are this machine's. */
static int check_machine(const struct gus_snapshot *s, struct gus_error *err)
{
	const char *own = gus_registers_machine(), *its = s->about->machine;

	if (own && strcmp(own, its) == 0)
		return 0;
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot replay the snapshot: it is of a machine '%s', and can be "
			"replayed on one only", its);
}

/* Memory that may not be accessed is not mapped, so it may lie anywhere; its pages would be read to where it lies. */
static int check_runs(const struct gus_snapshot *s, struct gus_error *err)
{
	for (size_t k = 0; k < s->runs.n; k++)
		if (is_in_the_way(s->runs.v[k].address, s->runs.v[k].address + s->runs.v[k].size))
			return fail_in_the_way(s->runs.v[k].address, err);
	return 0;
}

/* pages: where in the image those are that are in it. */
static struct gus_replay_run replay_run(const struct image *i, const struct gus_snapshot *s,
					const struct gus_snapshot_run *run, uint64_t pages)
{
	const struct gus_snapshot_file *f = s->file;
	size_t k = run->at >= f[1].from && f[1].size;

	if (!f[0].size && !f[1].size)
		return (struct gus_replay_run){ run->address, run->size, pages + run->at, -1 };
	return (struct gus_replay_run){ run->address, run->size, run->at - f[k].from, i->own[k] };
}

static int write_image(struct image *i, const struct gus_snapshot *s, int fd, struct gus_error *err)
{
	uint64_t pages;

	fill_head(i, s);
	pages = i->head.runs + s->runs.n * sizeof(*i->runs.v);
	for (size_t k = 0; k < s->runs.n; k++)
		gus_vec_push(&i->runs, replay_run(i, s, &s->runs.v[k], pages));
	if (write_all(fd, &i->head, sizeof(i->head), err) != 0 ||
	    write_all(fd, i->mappings.v, i->mappings.n * sizeof(*i->mappings.v), err) != 0 ||
	    write_all(fd, i->runs.v, i->runs.n * sizeof(*i->runs.v), err) != 0)
		return -1;
	return s->file[0].size || s->file[1].size ? 0 : write_all(fd, s->bytes, (size_t)s->about->bytes, err);
}

/* The snapshot's own files, which are open for writing here: what is replayed shall not write into them. */
static int open_own_files(struct image *i, const struct gus_snapshot *s, struct gus_error *err)
{
	for (size_t k = 0; k < 2; k++) {
		char path[64];

		i->own[k] = -1;
		if (!s->file[k].size)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", s->file[k].fd);
		i->own[k] = open(path, O_RDONLY | O_CLOEXEC);
		if (i->own[k] < 0)
			return gus_fail_errno(err, errno, "cannot open the pages of a snapshot");
		gus_vec_push(&i->files->fds, i->own[k]);
	}
	return 0;
}

int gus_replay_image_make(const struct gus_snapshot *s, bool native, const struct gus_rights *rights,
			  struct gus_replay_image_files *files, struct gus_error *err)
{
	struct image i = { .native = native, .rights = rights, .files = files };
	int rc = -1;

	*files = (struct gus_replay_image_files){ .image = memfd_create("gusprof-replay",
									MFD_CLOEXEC | MFD_ALLOW_SEALING) };
	if (files->image < 0)
		return gus_fail_errno(err, errno, "cannot make an image of a snapshot");
	if (check_machine(s, err) == 0 && check_runs(s, err) == 0 && add_mappings(&i, s, err) == 0 &&
	    open_own_files(&i, s, err) == 0 && write_image(&i, s, files->image, err) == 0)
		rc = fcntl(files->image, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0 ?
			0 : gus_fail_errno(err, errno, "cannot seal the image of a snapshot");
	gus_vec_push(&files->fds, files->image);
	gus_vec_free(&i.mappings);
	gus_vec_free(&i.runs);
	gus_vec_free(&i.paths);
	return rc;
}

void gus_replay_image_close(struct gus_replay_image_files *files)
{
	for (size_t k = 0; k < files->fds.n; k++)
		close(files->fds.v[k]);
	gus_vec_free(&files->fds);
}
