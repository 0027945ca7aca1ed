/* SPDX-License-Identifier: MIT */
#include "collector/snapshot/stored.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "collector/snapshot/late.h"

#define PAGE GUS_SNAPSHOT_PAGE

struct gus_stored_base {
	unsigned users;                 /* snapshots, and the store */
	int file;
	uint64_t size;
	const uint8_t *bytes;           /* of the file, from when it is whole on */
	struct gus_vec(struct gus_snapshot_run) runs;   /* ascending */
	uint32_t pid;                   /* whose memory it is, and where that has its program */
	uint64_t program;
};

/* Files. */

static int open_file(uint64_t bytes, unsigned times, struct gus_error *err)
{
	int file = gus_scratch_open("a snapshot", err);
	struct statvfs fs;
	uint64_t free_bytes;

	if (file < 0 || fstatvfs(file, &fs) != 0 || !fs.f_blocks) /* a file in memory */
		return file;
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free_bytes / times >= bytes)
		return file;
	close(file);
	return gus_fail(err, GUS_E_FULL, "cannot keep a snapshot of %llu MB: there are %llu MB left where temporary "
			"files are ($TMPDIR or /tmp)", (unsigned long long)(bytes >> 20),
			(unsigned long long)(free_bytes >> 20));
}

static int write_all(int file, const uint8_t *bytes, uint64_t size, struct gus_error *err)
{
	while (size) {
		ssize_t n = write(file, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gus_fail_errno(err, errno, "cannot keep a snapshot where temporary files are ($TMPDIR "
					      "or /tmp)");
		bytes += n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* Bases. */

static void release(struct gus_stored_base *b)
{
	if (!b || --b->users)
		return;
	if (b->bytes)
		munmap((void *)(uintptr_t)b->bytes, b->size);
	close(b->file);
	gus_vec_free(&b->runs);
	free(b);
}

static int map_base(struct gus_stored_base *b, struct gus_error *err)
{
	void *bytes = b->size ? mmap(NULL, b->size, PROT_READ, MAP_SHARED, b->file, 0) : NULL;

	if (bytes == MAP_FAILED)
		return gus_fail_errno(err, errno, "cannot read a snapshot that was kept");
	b->bytes = bytes;
	return 0;
}

/* The run that the address is in; NULL if there is none. */
static const struct gus_snapshot_run *run_at(const struct gus_stored_base *b, uint64_t address)
{
	size_t low = 0, high = b->runs.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->runs.v[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - b->runs.v[low - 1].address >= b->runs.v[low - 1].size)
		return NULL;
	return &b->runs.v[low - 1];
}

/* Where in the base the page is, with these bytes; UINT64_MAX: nowhere. */
static uint64_t find(const struct gus_stored_base *b, uint64_t address, const uint8_t *bytes)
{
	const struct gus_snapshot_run *run = run_at(b, address);
	uint64_t at = run ? run->at + (address - run->address) : 0;

	return run && memcmp(b->bytes + at, bytes, PAGE) == 0 ? at : UINT64_MAX;
}

/* Putting. */

int gus_shelf_begin(struct gus_shelf *s, uint64_t bytes, unsigned times, struct gus_error *err)
{
	int file = open_file(bytes, times, err);

	if (file < 0)
		return -1;
	s->begins_base = !s->base;
	if (s->begins_base) {
		s->base = gus_zalloc(sizeof(*s->base));
		*s->base = (struct gus_stored_base){ .users = 1, .file = file };
		file = -1;
	}
	s->base->users++;
	s->now = (struct gus_stored){ .base = s->base, .file = file };
	return 0;
}

static void push_run(struct gus_stored *to, uint64_t address, uint64_t size, uint64_t at)
{
	struct gus_snapshot_run *last = to->snapshot.runs.n ? &to->snapshot.runs.v[to->snapshot.runs.n - 1] : NULL;

	if (last && last->address + last->size == address && last->at + last->size == at)
		last->size += size;
	else
		gus_vec_push(&to->snapshot.runs, (struct gus_snapshot_run){ address, size, (size_t)at });
}

/* Where its own bytes begin: a page behind those of the base, so that no run is of both. */
static uint64_t own_from(const struct gus_stored *s)
{
	return s->base->size + PAGE;
}

static int put_own(struct gus_stored *to, uint64_t address, const uint8_t *bytes, uint64_t size, struct gus_error *err)
{
	if (!size)
		return 0;
	push_run(to, address, size, own_from(to) + to->own_bytes);
	to->own_bytes += size;
	return write_all(to->file, bytes, size, err);
}

/* Pages that differ are written as many at a time as follow each other. */
static int put_beside(struct gus_stored *to, uint64_t address, const uint8_t *bytes, uint64_t size,
		      struct gus_error *err)
{
	uint64_t own = 0;               /* bytes before done that differ */

	for (uint64_t done = 0; done < size; done += PAGE) {
		uint64_t at = find(to->base, address + done, bytes + done);

		if (at == UINT64_MAX) {
			own += PAGE;
			continue;
		}
		if (put_own(to, address + done - own, bytes + done - own, own, err) != 0)
			return -1;
		own = 0;
		push_run(to, address + done, PAGE, at);
	}
	return put_own(to, address + size - own, bytes + size - own, own, err);
}

int gus_shelf_pages(struct gus_shelf *s, uint64_t address, const uint8_t *bytes, uint64_t size,
		    struct gus_error *err)
{
	struct gus_stored_base *b = s->base;

	if (!s->begins_base)
		return put_beside(&s->now, address, bytes, size, err);
	push_run(&s->now, address, size, b->size);
	b->size += size;
	return write_all(b->file, bytes, size, err);
}

/* The first code of the first file: where that lies changes with each execution, but where addresses are not random. */
static uint64_t program_of(const Gusprof__Snapshot *about)
{
	for (size_t i = 0; i < about->n_mappings; i++)
		if (about->mappings[i]->inode && about->mappings[i]->protection & PROT_EXEC)
			return about->mappings[i]->start ^ about->mappings[i]->inode;
	return 0;
}

bool gus_shelf_is_of(const struct gus_shelf *s, uint32_t pid)
{
	return s->base && !s->begins_base && s->base->pid == pid;
}

bool gus_shelf_knows(const struct gus_shelf *s, const Gusprof__Snapshot *about)
{
	return gus_shelf_is_of(s, about->pid) && s->base->program == program_of(about);
}

bool gus_shelf_has(const struct gus_shelf *s, uint64_t address, const uint8_t *bytes)
{
	return s->base && !s->begins_base && find(s->base, address, bytes) != UINT64_MAX;
}

bool gus_shelf_old(struct gus_shelf *s, uint64_t address, uint64_t size)
{
	const struct gus_stored_base *b = s->base;
	const struct gus_snapshot_run *run;
	uint64_t done;

	if (!b || s->begins_base)
		return false;
	for (done = 0; done < size; done += run->address + run->size - (address + done))
		if (!(run = run_at(b, address + done)))
			return false;
	for (done = 0; done < size;) {
		uint64_t within = address + done, part;

		run = run_at(b, within);
		part = run->address + run->size - within;
		part = part < size - done ? part : size - done;
		push_run(&s->now, within, part, run->at + (within - run->address));
		done += part;
	}
	return true;
}

/* A base that most pages differ from is none for the next one. */
static void judge_base(struct gus_shelf *s, uint64_t bytes)
{
	if (s->now.own_bytes <= bytes / 2)
		return;
	release(s->base);
	s->base = NULL;
}

int gus_shelf_end(struct gus_shelf *s, struct gus_snapshot *snapshot, struct gus_stored *to, struct gus_error *err)
{
	struct gus_stored_base *b = s->base;
	uint64_t bytes = 0;

	gus_late_sort(s->now.snapshot.runs.v, s->now.snapshot.runs.n);
	if (s->begins_base) {
		gus_vec_append(&b->runs, s->now.snapshot.runs.v, s->now.snapshot.runs.n);
		b->pid = snapshot->about->pid;
		b->program = program_of(snapshot->about);
		if (map_base(b, err) != 0)
			return -1;
	}
	for (size_t i = 0; i < s->now.snapshot.runs.n; i++)
		bytes += s->now.snapshot.runs.v[i].size;
	*to = s->now;
	to->snapshot.about = snapshot->about;
	to->snapshot.about->bytes = bytes;
	snapshot->about = NULL;
	gus_snapshot_free(snapshot);
	s->begins_base = false;
	judge_base(s, bytes);
	s->now = (struct gus_stored){ .file = -1 };
	return 0;
}

void gus_shelf_cancel(struct gus_shelf *s)
{
	if (!s->now.base)
		return;
	gus_stored_free(&s->now);
	if (s->begins_base) {
		release(s->base);
		s->base = NULL;
	}
	s->begins_base = false;
	s->now = (struct gus_stored){ .file = -1 };
}

void gus_shelf_forget(struct gus_shelf *s)
{
	gus_shelf_cancel(s);
	release(s->base);
	s->base = NULL;
}

void gus_shelf_free(struct gus_shelf *s)
{
	gus_shelf_forget(s);
}

/* What was put. */

uint64_t gus_stored_bytes(const struct gus_stored *v, size_t n)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += v[i].own_bytes + (!i || v[i].base != v[i - 1].base ? v[i].base->size : 0);
	return bytes;
}

static bool map_file(uint8_t *bytes, const struct gus_snapshot_file *f)
{
	return !f->size || mmap(bytes + f->from, f->size, PROT_READ, MAP_SHARED | MAP_FIXED, f->fd, 0) != MAP_FAILED;
}

int gus_stored_open(struct gus_stored *stored, struct gus_error *err)
{
	const struct gus_snapshot_file base = { stored->base->file, 0, stored->base->size };
	const struct gus_snapshot_file own = { stored->file, own_from(stored), stored->own_bytes };
	uint64_t size = own.from + own.size;
	uint8_t *bytes = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return gus_fail_errno(err, errno, "cannot read a snapshot that was kept");
	if (!map_file(bytes, &base) || !map_file(bytes, &own)) {
		munmap(bytes, size);
		return gus_fail_errno(err, errno, "cannot read a snapshot that was kept");
	}
	stored->snapshot.bytes = bytes;
	stored->snapshot.mapped = size;
	stored->snapshot.file[0] = base;
	stored->snapshot.file[1] = own;
	return 0;
}

void gus_stored_close(struct gus_stored *stored)
{
	if (stored->snapshot.mapped)
		munmap(stored->snapshot.bytes, stored->snapshot.mapped);
	stored->snapshot.bytes = NULL;
	stored->snapshot.mapped = 0;
}

void gus_stored_free(struct gus_stored *stored)
{
	gus_stored_close(stored);
	gus_snapshot_free(&stored->snapshot);
	if (stored->file >= 0)
		close(stored->file);
	release(stored->base);
	stored->base = NULL;
}
