/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/elffile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/foreign_file.h"
#include "base/limits.h"

#define BLOCK ((size_t)16 << 10) /* bytes that are read together */
#define HUGE ((size_t)4 << 20) /* bytes from which pages of 2 MiB are worth while */
#ifndef MADV_POPULATE_WRITE /* since Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#define SECTION_NAME ((size_t)64) /* bytes of a section's name; a longer one is none that we know */

const char gus_elf_total[] = "the names of all modules take more memory than they may";
static const char changed[] = "it was changed while it was read";

/* The one place where files are opened that a recording, or a file that it names, names. A descriptor, or -1. */
static int open_file(const char *path, const struct gus_rights *rights, const struct gus_file_identity *identity,
		     struct stat *st, struct gus_error *err)
{
	int fd = gus_foreign_open(path, rights, st, err);

	if (fd < 0 || !identity || gus_foreign_is(fd, st, identity))
		return fd;
	close(fd);
	return gus_fail(err, GUS_E_NOT_FOUND, "%s is not the file that was mapped: it was replaced, or the process "
			"saw another one there", path);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Why something is missing that was there: no right to read it, or a failure that the next try may not meet. */
static void note(struct gus_elf *e, const struct gus_error *why)
{
	if (e->refused && !e->refused->code && (why->code == GUS_E_PERMISSION || gus_error_is_transient(why)))
		*e->refused = *why;
}

static void note_errno(struct gus_elf *e, int sys)
{
	struct gus_error why = { 0 };

	gus_fail_errno(&why, sys, "cannot read %s", e->path);
	note(e, &why);
}

/* A descriptor of its own, as who is given one closes it. */
static int copy_descriptor(const struct gus_elf *e, struct stat *st, struct gus_error *why)
{
	int fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0 && fstat(fd, st) == 0)
		return fd;
	gus_fail_errno(why, errno, "cannot read %s", e->path);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The same file again; between two reads it is closed, as there may be more modules than descriptors. */
static int open_again(struct gus_elf *e)
{
	struct gus_error why = { 0 };
	struct stat st;
	int fd = e->fd >= 0 ? copy_descriptor(e, &st, &why) : open_file(e->path, e->rights, NULL, &st, &why);

	if (fd >= 0 && is_same(&st, &e->stat))
		return fd;
	if (fd >= 0)
		close(fd);
	else
		note(e, &why);
	e->trouble = changed;
	return -1;
}

bool gus_elf_charge(struct gus_elf *e, struct gus_budget *budget, uint64_t units, const char *trouble)
{
	if (!gus_budget_charge(budget, units)) {
		if (!e->trouble) /* the others follow from the first */
			e->trouble = trouble;
		return false;
	}
	if (budget == &e->work || !e->total || gus_budget_charge(e->total, units))
		return true;
	e->trouble = gus_elf_total;
	return false;
}

/* Where the bytes that are there go on at or behind `at`, and where they end: holes of a file cost nothing. */
static void find_bytes(int fd, off_t *at, off_t *end)
{
	off_t data = lseek(fd, *at, SEEK_DATA), hole;

	if (data < 0) {
		if (errno == ENXIO) /* a hole up to the end */
			*at = *end;
		return;         /* a file system that does not know */
	}
	if (data > *end)
		data = *end;
	*at = data;
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole > data && hole < *end)
		*end = hole;
}

/* Pages that will be written to, had at once rather than one by one at their first touch; as a help only. */
static void prepare(const struct gus_elf *e, off_t at, off_t end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)(e->bytes + at) & ~(page - 1);
	size_t size = (size_t)((uintptr_t)(e->bytes + end) - start);

	if (size >= HUGE)
		madvise((void *)start, size, MADV_HUGEPAGE);
	madvise((void *)start, size, MADV_POPULATE_WRITE);
}

static bool read_bytes(struct gus_elf *e, int fd, off_t at, off_t end)
{
	if (!gus_elf_charge(e, &e->read, (uint64_t)(end - at), "it has more bytes of names than a file may have"))
		return false;
	prepare(e, at, end);
	while (at < end) {
		ssize_t got = pread(fd, e->bytes + at, (size_t)(end - at), at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			if (got)
				note_errno(e, errno);
			e->trouble = got ? "it cannot be read" : changed;
			return false;
		}
		at += got;
	}
	return true;
}

static bool is_loaded(const struct gus_elf *e, size_t block)
{
	return e->loaded[block / 8] >> block % 8 & 1;
}

static bool load_blocks(struct gus_elf *e, int fd, size_t first, size_t last)
{
	off_t at = (off_t)(first * BLOCK), stop = (off_t)((last + 1) * BLOCK);

	if ((size_t)stop > e->size)
		stop = (off_t)e->size;
	while (at < stop) {
		off_t end = stop;

		find_bytes(fd, &at, &end);
		if (at < end && !read_bytes(e, fd, at, end))
			return false;
		at = end;
	}
	for (size_t i = first; i <= last; i++)
		e->loaded[i / 8] |= (uint8_t)(1 << i % 8);
	return true;
}

static bool load_from(struct gus_elf *e, int fd, size_t first, size_t last)
{
	struct stat now;

	for (size_t i = first, end; i <= last; i = end + 1) {
		for (end = i; end < last && !is_loaded(e, i) && !is_loaded(e, end + 1); end++)
			;
		if (!is_loaded(e, i) && !load_blocks(e, fd, i, end))
			return false;
	}
	/* What was a hole may have been the end. */
	if (fstat(fd, &now) != 0)
		note_errno(e, errno);
	else if (is_same(&now, &e->stat))
		return true;
	e->trouble = changed;
	return false;
}

bool gus_elf_load(struct gus_elf *e, uint64_t offset, uint64_t size)
{
	size_t first, last;
	bool good;
	int fd;

	if (offset > e->size || size > e->size - offset)
		return false;
	if (!e->loaded || !size)
		return true;
	if (e->parts) {
		for (first = (size_t)offset / BLOCK; first <= (size_t)(offset + size - 1) / BLOCK; first++)
			if (!is_loaded(e, first))
				return false;
		return true;
	}
	first = (size_t)offset / BLOCK;
	last = (size_t)(offset + size - 1) / BLOCK;
	while (first < last && is_loaded(e, first))
		first++;
	if (first == last && is_loaded(e, first))
		return true;
	fd = open_again(e);
	good = fd >= 0 && load_from(e, fd, first, last);
	if (fd >= 0)
		close(fd);
	return good;
}

bool gus_elf_checksum(struct gus_elf *e, uint32_t *sum)
{
	uint8_t *block;
	uLong crc = crc32_z(0, NULL, 0);
	off_t at = 0;
	ssize_t got = 0;
	int fd;

	if (!e->loaded) {
		*sum = (uint32_t)crc32_z(crc, e->bytes, e->size);
		return true;
	}
	if (e->size > GUS_LIMIT_ELF_READ || (fd = open_again(e)) < 0)
		return false;
	block = gus_alloc(BLOCK);
	for (; at < (off_t)e->size && ((got = pread(fd, block, BLOCK, at)) > 0 || (got < 0 && errno == EINTR));
	     at += got > 0 ? got : 0)
		crc = got > 0 ? crc32_z(crc, block, (size_t)got) : crc;
	if (got < 0)
		note_errno(e, errno);
	close(fd);
	free(block);
	*sum = (uint32_t)crc;
	return at == (off_t)e->size;
}

/* Where the two kinds of ELF files have what says how long their tables of headers are. */
struct layout {
	size_t header, segments_at, segments_n, sections_at, sections_n; /* in the file's header */
	size_t word;                     /* bytes of an offset */
	size_t segment, section;         /* bytes of a header of these */
	size_t first_n, first_segments;  /* in the first section's header: both numbers, if they do not fit above */
};

static const struct layout layouts[] = {
	[ELFCLASS32] = { 52, 28, 44, 32, 48, 4, 32, 40, 20, 28 },
	[ELFCLASS64] = { 64, 32, 56, 40, 60, 8, 56, 64, 32, 44 },
};

static uint64_t number_at(const struct gus_elf *e, uint64_t at, size_t size)
{
	bool big = e->bytes[EI_DATA] == ELFDATA2MSB;
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number |= (uint64_t)e->bytes[at + i] << 8 * (big ? size - 1 - i : i);
	return number;
}

static uint64_t bytes_of(uint64_t n, size_t size)
{
	return n < UINT32_MAX ? n * size : UINT64_MAX;
}

/* libelf reads the tables of headers at once and makes something out of each entry, so they are looked at before. A
 * table that reaches behind the end is libelf's to refuse: symbols may still be there without the other one. */
static bool load_headers(struct gus_elf *e, struct gus_error *err)
{
	const struct layout *l = &layouts[e->bytes[EI_CLASS]];
	uint64_t sections_at = number_at(e, l->sections_at, l->word), n, segments;

	n = number_at(e, l->sections_n, 2);
	segments = number_at(e, l->segments_n, 2);
	if (sections_at && (!n || segments == PN_XNUM) && gus_elf_load(e, sections_at, l->section)) {
		if (!n)
			n = number_at(e, sections_at + l->first_n, l->word);
		if (segments == PN_XNUM)
			segments = number_at(e, sections_at + l->first_segments, 4);
	}
	if (n > GUS_LIMIT_ELF_SECTIONS || segments > PN_XNUM) {
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it says that it has %llu sections and %llu "
			 "segments, which no program has", e->path, (unsigned long long)n,
			 (unsigned long long)segments);
		return false;
	}
	gus_elf_load(e, sections_at, bytes_of(n, l->section));
	gus_elf_load(e, number_at(e, l->segments_at, l->word), bytes_of(segments, l->segment));
	return true;
}

static void read_segments(struct gus_elf *e)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && gelf_getphdr(e->elf, (int)i, &p); i++) {
		if (p.p_type != PT_LOAD)
			continue;
		if (e->segments.n == GUS_LIMIT_ELF_SEGMENTS) {
			e->trouble = "it has more segments than any program";
			break;
		}
		gus_vec_push(&e->segments, (struct gus_segment){ p.p_offset, p.p_vaddr, p.p_filesz, p.p_memsz,
								 (p.p_flags & PF_X) != 0 });
	}
}

static bool find_build_id(struct gus_elf *e, uint64_t offset, uint64_t size, uint64_t align)
{
	Elf_Type type = align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
	Elf_Data *data;
	size_t name, text;
	GElf_Nhdr note;

	if (size > GUS_LIMIT_NOTES || !gus_budget_charge(&e->work, size) || !gus_elf_load(e, offset, size))
		return false;
	data = elf_getdata_rawchunk(e->elf, (int64_t)offset, (size_t)size, type);
	for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &text)) > 0;) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) || !note.n_descsz ||
		    memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
			continue;
		e->build_id = (uint8_t *)data->d_buf + text;
		e->build_id_size = note.n_descsz;
		return true;
	}
	return false;
}

/* By the segments, and where these have none, as in some debug files, by the sections. */
static void read_build_id(struct gus_elf *e)
{
	size_t count = 0;
	GElf_Shdr section;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count && gelf_getphdr(e->elf, (int)i, &p); i++)
		if (p.p_type == PT_NOTE && find_build_id(e, p.p_offset, p.p_filesz, p.p_align))
			return;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));)
		if (gelf_getshdr(s, &section) && section.sh_type == SHT_NOTE &&
		    find_build_id(e, section.sh_offset, section.sh_size, section.sh_addralign))
			return;
}

/* Takes e, whose first bytes are there; gives it back ready, or frees it. */
static struct gus_elf *start(struct gus_elf *e, struct gus_error *err)
{
	unsigned class = e->size >= EI_NIDENT ? e->bytes[EI_CLASS] : ELFCLASSNONE;
	GElf_Ehdr header;
	size_t names;

	e->read.left = GUS_LIMIT_ELF_READ;
	e->work = gus_budget_of(GUS_LIMIT_ELF_WORK, e->size);
	e->made = gus_budget_of(GUS_LIMIT_ELF_MADE, e->size);
	elf_version(EV_CURRENT);
	if (class == ELFCLASSNONE || class >= ELFCLASSNUM || memcmp(e->bytes, ELFMAG, SELFMAG) != 0 ||
	    e->size < layouts[class].header) {
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it is no ELF file", e->path);
		gus_elf_close(e);
		return NULL;
	}
	if (load_headers(e, err))
		e->elf = elf_memory((char *)e->bytes, e->size);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &header)) {
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it is no ELF file", e->path);
		gus_elf_close(e);
		return NULL;
	}
	e->machine = header.e_machine;
	if (elf_getshdrstrndx(e->elf, &names) == 0)
		e->names = gus_elf_strings(e, names);
	read_segments(e);
	read_build_id(e);
	return e;
}

/* Takes fd, which is -1 if the file is to be opened again by its path. */
static struct gus_elf *open_at(const char *path, int fd, const struct stat *stat, const struct gus_rights *rights,
			       struct gus_error *err)
{
	struct gus_error why = { 0 }, failed = { 0 };
	struct stat st = *stat;
	struct gus_elf *e;
	void *bytes;

	if (st.st_size < EI_NIDENT || (uint64_t)st.st_size > GUS_LIMIT_ELF_FILE) {
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it is %s", path,
			 st.st_size < EI_NIDENT ? "no ELF file" : "larger than 64 GiB, the most that is read");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	/* Room only: what is never loaded takes no memory. */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		     0);
	if (bytes == MAP_FAILED) {
		gus_fail_errno(err, errno, "cannot find room for %s", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	madvise(bytes, (size_t)st.st_size, MADV_NOHUGEPAGE); /* else a block would take 2 MiB */
	e = gus_zalloc(sizeof(*e));
	e->path = gus_strdup(path);
	e->bytes = bytes;
	e->size = (size_t)st.st_size;
	e->fd = fd;
	e->stat = st;
	if (rights) {
		e->rights = gus_alloc(sizeof(*rights));
		*e->rights = *rights;
	}
	e->loaded = gus_zalloc(e->size / BLOCK / 8 + 1);
	e->read.left = BLOCK;
	e->refused = &why;
	if (gus_elf_load(e, 0, e->size < BLOCK ? e->size : BLOCK)) {
		e = start(e, &failed);
	} else {
		gus_fail(&failed, GUS_E_CORRUPT, "cannot read symbols of %s: %s", path, e->trouble);
		gus_elf_close(e);
		e = NULL;
	}
	if (e && !why.code) {
		e->refused = NULL;
		return e;
	}
	gus_elf_close(e);
	if (err && !err->code)
		*err = why.code ? why : failed;
	return NULL;
}

struct gus_elf *gus_elf_open_as(const char *path, const struct gus_rights *rights,
				const struct gus_file_identity *identity, struct gus_error *err)
{
	struct stat st;
	int fd = open_file(path, rights, identity, &st, err);

	if (fd < 0)
		return NULL;
	close(fd);
	return open_at(path, -1, &st, rights, err);
}

struct gus_elf *gus_elf_open_fd(int fd, const char *path, struct gus_error *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct stat st;

	if (own >= 0 && fstat(own, &st) == 0 && S_ISREG(st.st_mode))
		return open_at(path, own, &st, NULL, err);
	if (own < 0)
		gus_fail_errno(err, errno, "cannot read %s", path);
	else
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it is no regular file", path);
	if (own >= 0)
		close(own);
	return NULL;
}

struct gus_elf *gus_elf_open(const char *path, struct gus_error *err)
{
	return gus_elf_open_as(path, NULL, NULL, err);
}

struct gus_elf *gus_elf_copy(const char *name, const void *bytes, size_t size, struct gus_error *err)
{
	struct gus_elf *e = gus_zalloc(sizeof(*e));

	e->path = gus_strdup(name);
	e->fd = -1;
	e->bytes = gus_alloc(size);
	if (size)
		memcpy(e->bytes, bytes, size);
	e->size = size;
	return start(e, err);
}

struct gus_elf *gus_elf_view(const struct gus_elf *e, unsigned parts)
{
	struct gus_elf *v;
	size_t names;

	if (e->packed)
		return NULL;
	v = gus_zalloc(sizeof(*v));
	v->path = gus_strdup(e->path);
	v->bytes = e->bytes;
	v->size = e->size;
	v->loaded = e->loaded;
	v->parts = parts;
	v->stat = e->stat;
	v->machine = e->machine;
	v->work.left = e->work.left / parts;
	v->made.left = e->made.left / parts;
	v->elf = elf_memory((char *)e->bytes, e->size);
	if (!v->elf || elf_getshdrstrndx(v->elf, &names) != 0 || !(v->names = gus_elf_strings(v, names))) {
		gus_elf_close(v);
		return NULL;
	}
	return v;
}

void gus_elf_close(struct gus_elf *e)
{
	if (!e)
		return;
	if (e->elf)
		elf_end(e->elf);
	if (!e->parts && e->loaded)
		munmap(e->bytes, e->size);
	else if (!e->parts)
		free(e->bytes);
	if (e->fd >= 0)
		close(e->fd);
	for (size_t i = 0; i < e->unpacked.n; i++)
		free(e->unpacked.v[i]);
	gus_vec_free(&e->unpacked);
	gus_vec_free(&e->segments);
	if (!e->parts)
		free(e->loaded);
	free(e->rights);
	free(e->path);
	free(e);
}

bool gus_elf_address(const struct gus_elf *e, uint64_t offset, uint64_t *address)
{
	const struct gus_segment *found = NULL;

	/* Segments may share a page of the file; code is what is asked about. */
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (offset >= s->offset && offset - s->offset < s->file_size && (!found || s->executable))
			found = s;
	}
	if (found)
		*address = found->vaddr + (offset - found->offset);
	return found != NULL;
}

bool gus_elf_data_address(const struct gus_elf *e, uint64_t offset, uint64_t *address)
{
	const struct gus_segment *found = NULL;

	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (offset < s->offset || offset - s->offset >= s->memory_size)
			continue;
		/* Of two without code the one that begins later is mapped over the other's last page. */
		if (!found || found->executable > s->executable ||
		    (found->executable == s->executable && s->offset > found->offset))
			found = s;
	}
	if (found)
		*address = found->vaddr + (offset - found->offset);
	return found != NULL;
}

bool gus_elf_executable(const struct gus_elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (s->executable && address >= s->vaddr && address - s->vaddr < s->memory_size)
			return true;
	}
	return false;
}

static size_t without_zeros(const uint8_t *id, size_t size)
{
	while (size && !id[size - 1])
		size--;
	return size;
}

bool gus_build_id_equal(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	size_t size = a && b ? without_zeros(a, a_size) : 0;

	return size && size == without_zeros(b, b_size) && memcmp(a, b, size) == 0;
}

/* Sections. */

const char *gus_elf_section_name(const struct gus_elf *e, const GElf_Shdr *header)
{
	size_t at = header->sh_name, room;
	const char *name;

	if (!e->names || at >= e->names->d_size)
		return "";
	name = (const char *)e->names->d_buf + at;
	room = e->names->d_size - at;
	if (room > SECTION_NAME)
		room = SECTION_NAME;
	return strnlen(name, room) < room ? name : "";
}

Elf_Scn *gus_elf_section(const struct gus_elf *e, const char *name, GElf_Shdr *header)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));)
		if (gelf_getshdr(s, header) && strcmp(gus_elf_section_name(e, header), name) == 0)
			return s;
	return NULL;
}

Elf_Scn *gus_elf_table(const struct gus_elf *e, unsigned type, GElf_Shdr *header)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));)
		if (gelf_getshdr(s, header) && header->sh_type == type)
			return s;
	return NULL;
}

static Elf_Data *ready(struct gus_elf *e, Elf_Scn *scn, Elf_Data *(*get)(Elf_Scn *, Elf_Data *))
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS ||
	    !gus_elf_load(e, header.sh_offset, header.sh_size))
		return NULL;
	/* In another order of bytes, or at an odd place, libelf makes a copy. */
	if (get == elf_getdata && !gus_elf_charge(e, &e->made, header.sh_size, "its tables are larger than the file"))
		return NULL;
	data = get(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

Elf_Data *gus_elf_data(struct gus_elf *e, Elf_Scn *scn)
{
	return ready(e, scn, elf_getdata);
}

Elf_Data *gus_elf_raw(struct gus_elf *e, Elf_Scn *scn)
{
	return ready(e, scn, elf_rawdata);
}

Elf_Data *gus_elf_strings(struct gus_elf *e, size_t section)
{
	Elf_Scn *scn = elf_getscn(e->elf, section);
	GElf_Shdr header;

	return scn && gelf_getshdr(scn, &header) && header.sh_type == SHT_STRTAB ? gus_elf_raw(e, scn) : NULL;
}

const char *gus_elf_string(struct gus_elf *e, const Elf_Data *strings, uint64_t at)
{
	size_t room, length;
	const char *text;

	if (!strings || at >= strings->d_size)
		return NULL;
	text = (const char *)strings->d_buf + at;
	room = strings->d_size - at < GUS_LIMIT_NAME ? strings->d_size - (size_t)at : GUS_LIMIT_NAME;
	length = strnlen(text, room);
	if (!gus_elf_charge(e, &e->work, length + 1, "its names are longer than the file"))
		return NULL;
	return length < room ? text : NULL;
}
