/* SPDX-License-Identifier: MIT */
/* The memory of another process: which pages it has, and copies of those that nobody else can give.
 *
 * The idea: what a replay can map again from the same file need not be copied. So of mappings of files that are
 * still what they were (is_same_file) only the pages are taken that the process has made its own by writing; of all
 * others, those that exist. Pages that were never touched are zeros, and left out. Which pages there are says
 * /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): since Linux 6.7 as ranges, before as eight bytes a
 * page. Who may not read it gets all that can be read of what may have been written.
 *
 * The result is a list of runs, pieces of addresses that follow each other, in ascending order; each knows where its
 * bytes are in the room, and they lie there without gaps in the order of the runs. The sum of their sizes is
 * about->bytes: that is the invariant of add_run, and what makes the room's size known before a byte is copied.
 *
 * Copying is process_vm_readv(2), as many runs a call as it takes. A page that cannot be read - behind the end of
 * its file, or a device's - ends a call early; then that page is left out, and copying goes on behind it. A run may
 * thereby become two. */
#include "collector/snapshot/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "collector/host/procfs.h"
#include "collector/snapshot/denial.h"
#include "collector/snapshot/late.h"

#define PAGE GUS_SNAPSHOT_PAGE
#define PIECE (1u << 20)        /* that is handed over at a time */

/* Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)
#define ENTRY_FILE (1ull << 61)         /* the page is a file's, or shared */
#define ENTRIES 8192

/* The newer way, since Linux 6.7, of the same document: ranges instead of pages. Declared here, as older headers
 * lack it. */
struct scan_argument {
	uint64_t size, flags, start, end, walk_end, vec, vec_n, max_pages, inverted, mask, any, returned;
};
struct scan_region { uint64_t start, end, categories; };
#define PAGEMAP_SCAN_CALL _IOWR('f', 16, struct scan_argument)
#define SCAN_FILE 4
#define SCAN_PRESENT 8
#define SCAN_SWAPPED 16
#define SCAN_ZERO 32
#define SCAN_REGIONS 512

/* Pages at the end of the list; those that follow the last run become a part of it. */
static void add_run(struct gus_snapshot *s, uint64_t address, uint64_t size)
{
	struct gus_snapshot_run *last = s->runs.n ? &s->runs.v[s->runs.n - 1] : NULL;

	if (last && last->address + last->size == address)
		last->size += size;
	else
		gus_vec_push(&s->runs, (struct gus_snapshot_run){ address, size, (size_t)s->about->bytes });
	s->about->bytes += size;
}

/* Which pages of a mapping there are. */

/* The pages from start to end. own: only those that the process has made its own. 0; -1 with errno. Pages that only
 * show zeros are left out. (A page is told if it has one category of `any`, and none of those in `mask`, which are
 * inverted.) A call ends where there is no room for further ranges, at walk_end. */
static int scan_regions(struct gus_snapshot *s, int pagemap, uint64_t start, uint64_t end, bool own)
{
	struct scan_region regions[SCAN_REGIONS];
	uint64_t without = SCAN_ZERO | (own ? SCAN_FILE : 0);

	while (start < end) {
		struct scan_argument a = {
			.size = sizeof(a), .start = start, .end = end, .vec = (uintptr_t)regions,
			.vec_n = SCAN_REGIONS, .inverted = without, .mask = without,
			.any = SCAN_PRESENT | SCAN_SWAPPED, .returned = SCAN_PRESENT | SCAN_SWAPPED,
		};
		int n = ioctl(pagemap, PAGEMAP_SCAN_CALL, &a);

		if (n < 0)
			return -1;
		for (int i = 0; i < n; i++)
			add_run(s, regions[i].start, regions[i].end - regions[i].start);
		if (a.walk_end <= start)
			break;
		start = a.walk_end;
	}
	return 0;
}

/* The same in the older way, page by page, *left of which may still be looked at; pages of zeros that were only ever
 * read cannot be told here. */
static int scan_entries(struct gus_snapshot *s, int pagemap, uint64_t start, uint64_t end, bool own, uint64_t *left)
{
	uint64_t entries[ENTRIES];

	if ((end - start) / PAGE > *left) {
		errno = EOVERFLOW;
		return -1;
	}
	*left -= (end - start) / PAGE;
	while (start < end) {
		uint64_t n = (end - start) / PAGE < ENTRIES ? (end - start) / PAGE : ENTRIES;
		ssize_t got = pread(pagemap, entries, n * sizeof(*entries), (off_t)(start / PAGE * sizeof(*entries)));

		if (got == 0)
			errno = ESRCH; /* its memory is gone */
		if (got <= 0)
			return -1;
		n = (uint64_t)got / sizeof(*entries);
		for (uint64_t i = 0; i < n; i++)
			if ((entries[i] & (ENTRY_PRESENT | ENTRY_SWAPPED)) && !(own && entries[i] & ENTRY_FILE))
				add_run(s, start + i * PAGE, PAGE);
		start += n * PAGE;
	}
	return 0;
}

/* Mappings. */

struct listing {
	pid_t pid;
	int pagemap;                    /* -1: not for us, so all that can be read is copied */
	bool regions;                   /* the newer way works */
	uint64_t left;                  /* pages that may be looked at in the older one */
	char path[PATH_MAX];            /* the file that was last looked at, ... */
	struct stat file;
	bool found;                     /* ... if it is there */
};

/* Whether the file of that name is the one that is mapped, so that it can be mapped again. Not in another mount
 * namespace, nor where the file was replaced, as by an update. */
static bool is_same_file(struct listing *l, const struct gus_mapping *m)
{
	char path[PATH_MAX];

	if (!m->inode || !m->path_length || *m->path != '/' || m->path_length >= sizeof(l->path))
		return false;
	gus_mapping_path(m, path);
	if (strcmp(l->path, path) != 0) {
		strcpy(l->path, path);
		l->found = stat(l->path, &l->file) == 0 && S_ISREG(l->file.st_mode);
	}
	return l->found && l->file.st_ino == m->inode && major(l->file.st_dev) == m->major &&
	       minor(l->file.st_dev) == m->minor;
}

static bool is_named(const struct gus_mapping *m, const char *name)
{
	return m->path_length >= strlen(name) && strncmp(m->path, name, strlen(name)) == 0;
}

static void add_mapping(struct listing *l, struct gus_snapshot *s, const struct gus_mapping *m, bool same, size_t *room)
{
	Gusprof__SnapshotMapping *to = gus_alloc(sizeof(*to));
	Gusprof__Snapshot *a = s->about;

	gusprof__snapshot_mapping__init(to);
	to->start = m->start;
	to->length = m->end - m->start;
	to->offset = m->offset;
	to->inode = m->inode;
	to->protection = m->protection;
	to->flags = m->flags;
	to->from_file = same;
	if (same) {
		to->file_size = (uint64_t)l->file.st_size;
		to->file_mtime_ns = (uint64_t)l->file.st_mtim.tv_sec * 1000000000 + (uint64_t)l->file.st_mtim.tv_nsec;
	}
	if (m->path_length) {
		to->path = gus_alloc(m->path_length + 1);
		gus_mapping_path(m, to->path);
	}
	if (a->n_mappings == *room) {
		*room = *room ? 2 * *room : 256;
		a->mappings = gus_resize(a->mappings, *room, sizeof(*a->mappings));
	}
	a->mappings[a->n_mappings++] = to;
}

/* Some are taken whole: the vdso, whose pages are the kernel's; code of a file that is not there any more, as a
 * replay may get anywhere in it; and all that may have been written, where nobody says which pages there are. Not
 * at all: what cannot be read, and the kernel's pages of the clock, which gus_memory_add_vvar has. */
static int add_pages(struct listing *l, struct gus_snapshot *s, const struct gus_mapping *m, bool same)
{
	bool whole = is_named(m, "[vdso]") || (!same && m->inode && (m->protection & PROT_EXEC)) || l->pagemap < 0;

	if (!(m->protection & PROT_READ) || is_named(m, "[vvar"))
		return 0;
	if (whole && !(l->pagemap < 0 && same && !(m->protection & PROT_WRITE))) {
		add_run(s, m->start, m->end - m->start);
		return 0;
	}
	if (l->pagemap < 0)
		return 0;
	return l->regions ? scan_regions(s, l->pagemap, m->start, m->end, same)
			  : scan_entries(s, l->pagemap, m->start, m->end, same, &l->left);
}

static int explain_maps(pid_t pid, int sys, struct gus_error *err)
{
	char why[256];

	if (sys == ENOENT || sys == ESRCH)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of process %d: it has ended, or begins "
				"another program just now", (int)pid);
	if (sys == EOVERFLOW)
		return gus_fail(err, GUS_E_FULL, "cannot take a snapshot of process %d: it has more than %u GiB of "
				"addresses, and to look which pages of them there are would stop it for long; Linux "
				"6.7 and later tell at once", (int)pid, GUS_LIMIT_PAGEMAP_ENTRIES >> 18);
	if (sys == EFBIG)
		return gus_fail(err, GUS_E_FULL, "cannot take a snapshot of process %d: the list of its mappings "
				"(/proc/%d/maps) is longer than any that gusprof reads", (int)pid, (int)pid);
	gus_denial_of(pid, why, sizeof(why));
	return gus_fail_errno(err, sys, "cannot read the memory of process %d: %s", (int)pid, why);
}

static int take_mappings(struct listing *l, struct gus_snapshot *s, const char *text, struct gus_error *err)
{
	struct gus_mapping m;
	size_t room = 0;

	while (gus_mapping_next(&text, &m)) {
		bool same = is_same_file(l, &m);

		if (m.end > GUS_SNAPSHOT_ADDRESS_MAX || m.start == m.end)
			continue; /* the kernel's page for old programs */
		if (s->about->n_mappings == GUS_SNAPSHOT_MAPPINGS_MAX)
			return gus_fail(err, GUS_E_FULL, "cannot take a snapshot of process %d: it has more than %d "
					"mappings", (int)l->pid, GUS_SNAPSHOT_MAPPINGS_MAX);
		add_mapping(l, s, &m, same, &room);
		if (add_pages(l, s, &m, same) != 0)
			return explain_maps(l->pid, errno, err);
	}
	return 0;
}

/* Whether this kernel has the newer way. An empty range is asked for: one that has not says that it does not know
 * the call. */
static bool has_regions(int pagemap)
{
	struct scan_argument a = { .size = sizeof(a) };

	a.returned = SCAN_PRESENT;
	return pagemap >= 0 && ioctl(pagemap, PAGEMAP_SCAN_CALL, &a) == 0;
}

int gus_memory_list(pid_t pid, bool pagemap_only, struct gus_snapshot *s, struct gus_error *err)
{
	struct listing l = { .pid = pid, .left = GUS_LIMIT_PAGEMAP_ENTRIES };
	char path[64], *text;
	size_t size;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	text = gus_procfs_read(path, &size);
	if (!text)
		return explain_maps(pid, errno, err);
	if (!size) {
		free(text);
		return explain_maps(pid, ESRCH, err);
	}
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	l.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (l.pagemap < 0 && errno != EACCES && errno != EPERM) {
		free(text);
		return explain_maps(pid, errno, err);
	}
	l.regions = !pagemap_only && has_regions(l.pagemap);
	rc = take_mappings(&l, s, text, err);
	if (l.pagemap >= 0)
		close(l.pagemap);
	free(text);
	return rc;
}

/* Copying. */

/* Where in the list of wanted runs copying is. */
struct place {
	const struct gus_snapshot_run *runs;
	size_t i, n;
	uint64_t done;                  /* of run i */
};

/* Moves on by size bytes, which may be the rest of several runs; what was read becomes runs of s. */
static void pass(struct place *p, struct gus_snapshot *s, uint64_t size, bool was_read)
{
	while (size) {
		uint64_t left = p->runs[p->i].size - p->done, part = left < size ? left : size;

		if (was_read)
			add_run(s, p->runs[p->i].address + p->done, part);
		size -= part;
		p->done += part;
		if (part == left) {
			p->i++;
			p->done = 0;
		}
	}
}

/* As much as one call takes. Where it stops short there is a page that cannot be had, such as one behind the end of
 * its file: the whole pages before it count, and the one itself is passed over. A call that reads nothing at all for
 * that reason says EFAULT. The bytes go behind those that have been read, whatever was left out, so what was skipped
 * leaves no gap in the room. */
static int copy_some(pid_t pid, struct place *p, struct gus_snapshot *s, const struct gus_room *room)
{
	struct iovec remote[IOV_MAX], local = { room->bytes + s->about->bytes, 0 };
	size_t n = 0;
	ssize_t got;

	for (; n < IOV_MAX && p->i + n < p->n; n++) {
		uint64_t skip = n ? 0 : p->done;

		remote[n].iov_base = (void *)(uintptr_t)(p->runs[p->i + n].address + skip);
		remote[n].iov_len = p->runs[p->i + n].size - skip;
		local.iov_len += remote[n].iov_len;
	}
	got = process_vm_readv(pid, &local, 1, remote, n, 0);
	if (got < 0 && errno != EFAULT)
		return -1;
	got = got < 0 ? 0 : got / PAGE * PAGE;
	pass(p, s, (uint64_t)got, true);
	if ((size_t)got < local.iov_len)
		pass(p, s, PAGE, false);
	return 0;
}

static int copy_runs(pid_t pid, struct gus_snapshot *s, const struct gus_snapshot_run *runs, size_t n,
		     const struct gus_room *room, struct gus_error *err)
{
	struct place p = { runs, 0, n, 0 };
	int rc = 0;

	while (rc == 0 && p.i < p.n)
		rc = copy_some(pid, &p, s, room);
	return rc == 0 ? 0 : explain_maps(pid, errno, err);
}

int gus_memory_copy(pid_t pid, struct gus_snapshot *s, const struct gus_room *room, struct gus_error *err)
{
	struct gus_snapshot all = *s;
	int rc;

	memset(&s->runs, 0, sizeof(s->runs));
	s->about->bytes = 0;
	rc = copy_runs(pid, s, all.runs.v, all.runs.n, room, err);
	gus_vec_free(&all.runs);
	return rc;
}

int gus_memory_copy_late(pid_t pid, struct gus_snapshot *s, const struct gus_late *late, const struct gus_room *room,
			 struct gus_error *err)
{
	uint64_t before = s->about->bytes;

	if (copy_runs(pid, s, late->runs.v, late->runs.n, room, err) != 0)
		return -1;
	s->about->late = s->about->bytes - before;
	gus_late_sort(s->runs.v, s->runs.n);
	return 0;
}

/* Handing over. */

static int hand_runs(const struct gus_pages_taker *to, const struct gus_snapshot *s, const struct gus_room *room,
		     struct gus_error *err)
{
	for (size_t i = 0; i < s->runs.n; i++) {
		const struct gus_snapshot_run *run = &s->runs.v[i];

		if (to->take(to->context, run->address, room->bytes + run->at, run->size, err) != 0)
			return -1;
	}
	return 0;
}

/* Pieces that fit into the room are copied and handed over. */
static int hand_piece(pid_t pid, const struct gus_pages_taker *to, struct gus_late *piece, const struct gus_room *room,
		      uint64_t *bytes, struct gus_error *err)
{
	Gusprof__Snapshot about = GUSPROF__SNAPSHOT__INIT;
	struct gus_snapshot some = { .about = &about };
	int rc = copy_runs(pid, &some, piece->runs.v, piece->runs.n, room, err);

	if (rc == 0)
		rc = hand_runs(to, &some, room, err);
	*bytes += about.bytes;
	piece->runs.n = 0;
	gus_vec_free(&some.runs);
	return rc;
}

static bool is_spared(const struct gus_pages_taker *to, uint64_t address, uint64_t size, uint64_t *old)
{
	uint64_t had = 0;
	bool spared = to->spare && to->spare(to->context, address, size, &had);

	*old += had;
	return spared;
}

static int hand_late(pid_t pid, const struct gus_pages_taker *to, const struct gus_late *late, uint64_t *bytes,
		     uint64_t *old, struct gus_error *err)
{
	struct gus_room room = { gus_alloc(PIECE), PIECE };
	struct gus_late piece = { 0 };
	uint64_t filled = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < late->runs.n; i++) {
		struct gus_snapshot_run run = late->runs.v[i];

		while (rc == 0 && run.size) {
			uint64_t part = run.size < PIECE - filled ? run.size : PIECE - filled;

			if (!is_spared(to, run.address, part, old)) {
				gus_vec_push(&piece.runs, (struct gus_snapshot_run){ run.address, part, 0 });
				filled += part;
			}
			run.address += part;
			run.size -= part;
			if (filled < PIECE)
				continue;
			rc = hand_piece(pid, to, &piece, &room, bytes, err);
			filled = 0;
		}
	}
	if (rc == 0 && filled)
		rc = hand_piece(pid, to, &piece, &room, bytes, err);
	gus_vec_free(&piece.runs);
	free(room.bytes);
	return rc;
}

int gus_memory_hand_over(pid_t pid, const struct gus_pages_taker *to, struct gus_snapshot *s,
			 const struct gus_late *late, const struct gus_room *room, struct gus_error *err)
{
	if (hand_runs(to, s, room, err) != 0 || hand_late(pid, to, late, &s->about->late, &s->about->old, err) != 0)
		return -1;
	s->about->bytes += s->about->late + s->about->old;
	s->runs.n = 0;
	return 0;
}

/* The kernel's own pages for reading the time without a call. Nobody may copy them out of another process, but they
 * are the same in all. A page that cannot be read here either (of a hypervisor that is none) is left out; reading
 * through a pipe makes that an error and not a signal. */

static bool read_own_page(const int pipe_ends[2], uint64_t address, uint8_t *to)
{
	return write(pipe_ends[1], (const void *)(uintptr_t)address, PAGE) == PAGE &&
	       read(pipe_ends[0], to, PAGE) == PAGE;
}

/* The same twice, so that it was not read in the middle of an update, which a reader would wait for. */
static bool read_settled_page(const int pipe_ends[2], uint64_t address, uint8_t *to)
{
	uint8_t again[PAGE];

	for (int i = 0; i < 64; i++)
		if (!read_own_page(pipe_ends, address, to) || !read_own_page(pipe_ends, address, again))
			return false;
		else if (memcmp(to, again, PAGE) == 0)
			return true;
	return false;
}

/* Where in this process the mapping of that name and size is; 0: nowhere. */
static uint64_t own_address(const char *name, uint64_t length)
{
	size_t size;
	char *text = gus_procfs_read("/proc/self/maps", &size);
	const char *at = text;
	struct gus_mapping m;
	uint64_t address = 0;

	while (text && !address && gus_mapping_next(&at, &m))
		if (m.path_length == strlen(name) && is_named(&m, name) && m.end - m.start == length)
			address = m.start;
	free(text);
	return address;
}

/* A page more, where its address belongs in the list; its bytes are behind all others in the room. */
static void insert_run(struct gus_snapshot *s, uint64_t address)
{
	size_t at = s->runs.n;

	gus_vec_push(&s->runs, (struct gus_snapshot_run){ 0 });
	for (; at && s->runs.v[at - 1].address > address; at--)
		s->runs.v[at] = s->runs.v[at - 1];
	s->runs.v[at] = (struct gus_snapshot_run){ address, PAGE, (size_t)s->about->bytes };
	s->about->bytes += PAGE;
}

void gus_memory_add_vvar(struct gus_snapshot *s, const struct gus_room *room)
{
	const Gusprof__Snapshot *a = s->about;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return;
	for (size_t i = 0; i < a->n_mappings; i++) {
		const Gusprof__SnapshotMapping *m = a->mappings[i];
		uint64_t own = strncmp(m->path, "[vvar", 5) == 0 ? own_address(m->path, m->length) : 0;

		for (uint64_t at = 0; own && at < m->length && a->bytes + PAGE <= room->size; at += PAGE)
			if (read_settled_page(ends, own + at, room->bytes + a->bytes))
				insert_run(s, m->start + at);
	}
	close(ends[0]);
	close(ends[1]);
}
