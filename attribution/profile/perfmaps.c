/* SPDX-License-Identifier: MIT */
#include "attribution/profile/perfmaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/foreign_file.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/log.h"
#include "symbolizer/jit/choose.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"

/* A process: its last execve, before which its memory was another program's, and the jitdump that it has mapped to be
 * noticed. */
struct maker {
	uint32_t pid;
	uint64_t since;
	bool makes;
	char *dump;                     /* its path; NULL if there is none */
	struct gus_file_identity identity;
};

struct gus_perfmaps {
	bool here, nowhere, monotonic;  /* the recording, and its times */
	struct gus_index pids;
	struct gus_vec(struct maker) list;
};

static bool is_here(const Gusprof__Host *host)
{
	struct utsname here;

	return host->hostname && *host->hostname && uname(&here) == 0 && strcmp(here.nodename, host->hostname) == 0;
}

static bool knows_boot(const Gusprof__Host *host)
{
	return host->boot_id && *host->boot_id;
}

bool gus_perfmaps_are_elsewhere(const Gusprof__Header *header)
{
	const Gusprof__Host *host = header->host;

	return host && !is_here(host) &&
	       ((host->hostname && *host->hostname) || (header->origin && !knows_boot(host)));
}

bool gus_perfmaps_are_nowhere(const Gusprof__Header *header)
{
	const Gusprof__Host *host = header->host;

	return host && !knows_boot(host) && !(host->hostname && *host->hostname);
}

bool gus_perfmaps_know_kernel(const Gusprof__Header *header)
{
	struct utsname here;

	return header->host && header->host->kernel && uname(&here) == 0 &&
	       strcmp(here.release, header->host->kernel) == 0;
}

bool gus_perfmaps_serve(const Gusprof__Header *header)
{
	return header->host && !knows_boot(header->host) && is_here(header->host);
}

struct gus_perfmaps *gus_perfmaps_new(const Gusprof__Header *header)
{
	bool here = gus_perfmaps_serve(header), nowhere = gus_perfmaps_are_nowhere(header);
	struct gus_perfmaps *m;

	if (!here && !nowhere)
		return NULL;
	m = gus_zalloc(sizeof(*m));
	m->here = here;
	m->nowhere = nowhere;
	m->monotonic = header->clock && header->clock->name && strcmp(header->clock->name, "monotonic") == 0;
	gus_index_init(&m->pids, sizeof(uint32_t));
	return m;
}

void gus_perfmaps_free(struct gus_perfmaps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->list.n; i++)
		free(m->list.v[i].dump);
	gus_index_free(&m->pids);
	gus_vec_free(&m->list);
	free(m);
}

static struct maker *maker_of(struct gus_perfmaps *m, uint32_t pid)
{
	bool is_new;
	uint32_t number = gus_index_add(&m->pids, &pid, &is_new);

	if (is_new)
		gus_vec_push(&m->list, (struct maker){ .pid = pid });
	return &m->list.v[number];
}

/* jit-PID.dump, which is mapped executable for nothing but that perf takes note of it. */
static bool is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t size = name ? strlen(name) : 0;

	return size > 10 && strncmp(name, "/jit-", 5) == 0 && strcmp(name + size - 5, ".dump") == 0;
}

static void note_dump(struct gus_perfmaps *m, const Gusprof__Mmap *mapping)
{
	struct maker *k = maker_of(m, mapping->pid);

	free(k->dump);
	k->dump = gus_strdup(mapping->path);
	k->identity = (struct gus_file_identity){ mapping->inode, mapping->major, mapping->minor,
						  m->nowhere ? mapping->generation : 0 };
}

void gus_perfmaps_note(struct gus_perfmaps *m, const Gusprof__Record *record)
{
	const Gusprof__Mmap *mapping = record->mmap;
	const Gusprof__Comm *comm = record->comm;

	if (record->kind_case == GUSPROF__RECORD__KIND_COMM && comm->exec) {
		struct maker *k = maker_of(m, comm->pid);

		k->since = comm->time > k->since ? comm->time : k->since;
	} else if (record->kind_case == GUSPROF__RECORD__KIND_MMAP && !mapping->kernel &&
		   (mapping->protection & PROT_EXEC)) {
		if (gus_module_kind_with(gus_module_path(mapping), mapping->build_id.len) == GUS_MODULE_ANON)
			maker_of(m, mapping->pid)->makes = true;
		else if (is_dump(gus_module_path(mapping)))
			note_dump(m, mapping);
	}
}

/* Where what files tell goes, and with whose rights they are read. */
struct adding {
	const struct gus_rights *rights;
	struct gus_space *space;
	struct gus_symbols *symbols;
	const struct gus_log *log;
	size_t bytes, pieces;   /* that may still be read and kept, of all processes */
};

struct file { char *bytes; size_t size; bool cut; /* there is more of it */ };

/* All of the file, up to the limit, if it is that one (NULL: any). False with errno, which is ESTALE if it is not. */
static bool read_whole(struct adding *a, const char *path, size_t limit, const struct gus_file_identity *identity,
		       struct file *file)
{
	const struct gus_rights *rights = a->rights;
	struct stat st;
	int fd = gus_foreign_open(path, rights, &st, NULL);
	ssize_t n = 1;
	size_t most;
	int why;

	*file = (struct file){ 0 };
	if (fd < 0)
		return false;
	if (st.st_uid != 0 && st.st_uid != (rights->limited ? rights->uid : geteuid())) {
		close(fd);
		errno = EPERM;
		return false;
	}
	if (identity && !gus_foreign_is(fd, &st, identity)) {
		close(fd);
		errno = ESTALE;
		return false;
	}
	limit = a->bytes < limit ? a->bytes : limit;
	file->cut = (uint64_t)st.st_size > limit;
	most = file->cut ? limit : (size_t)st.st_size;
	file->bytes = gus_alloc(most + 1);
	while (file->size < most && n != 0) {
		n = pread(fd, file->bytes + file->size, most - file->size, (off_t)file->size);
		if (n < 0 && errno != EINTR)
			break;
		file->size += n > 0 ? (size_t)n : 0;
	}
	why = errno;
	close(fd);
	errno = why;
	a->bytes -= file->size;
	return n >= 0;
}

static void add_places(const struct gus_jit *jit, const struct gus_jit_choice *choice, uint32_t pid, char *module,
		       struct gus_space *space)
{
	for (size_t i = 0; i < choice->notes.n; i++) {
		const struct gus_jit_piece *p = &jit->pieces.v[choice->notes.v[i].piece];
		Gusprof__Record record = GUSPROF__RECORD__INIT;
		Gusprof__Jit place = GUSPROF__JIT__INIT;

		place.pid = pid;
		place.time = choice->notes.v[i].time;
		place.address = p->address;
		place.size = p->size;
		place.path = module;
		place.offset = choice->offsets.v[p->origin];
		record.kind_case = GUSPROF__RECORD__KIND_JIT;
		record.jit = &place;
		gus_space_add(space, &record);
	}
}

/* The code of the pieces that have it told, as far as it may be taken; returns of how many it was. */
static size_t take_code(const struct gus_jit *jit, const struct gus_jit_choice *choice, Gusprof__EmbeddedCode *code)
{
	size_t n = 0, left = GUS_LIMIT_JIT_CODE_ALL;

	for (size_t i = 0; i < choice->origins.n; i++) {
		const struct gus_jit_piece *p = &jit->pieces.v[choice->origins.v[i]];

		if (!p->code || p->size > GUS_LIMIT_JIT_CODE || p->size > left)
			continue;
		gusprof__embedded_code__init(&code[n]);
		code[n].offset = choice->offsets.v[choice->origins.v[i]];
		code[n].bytes.data = (uint8_t *)(uintptr_t)p->code;
		code[n++].bytes.len = p->size;
		left -= p->size;
	}
	return n;
}

/* A text for each piece: they are mostly all different, and the symbolizer keeps each once. */
static bool add_names(const struct gus_jit *jit, const struct gus_jit_choice *choice, char *module,
		      struct gus_symbols *symbols)
{
	size_t n = choice->origins.n;
	Gusprof__EmbeddedFunction *functions = gus_alloc(n * sizeof(*functions)), **list;
	Gusprof__EmbeddedCode *code = gus_alloc(n * sizeof(*code));
	Gusprof__Embedded m = GUSPROF__EMBEDDED__INIT;
	bool good;

	m.path = module;
	m.machine = jit->machine;
	m.n_code = take_code(jit, choice, code);
	m.code = gus_alloc(n * sizeof(*m.code));
	for (size_t i = 0; i < m.n_code; i++)
		m.code[i] = &code[i];
	m.n_functions = m.n_texts = n;
	m.functions = list = gus_alloc(n * sizeof(*list));
	m.texts = gus_alloc(n * sizeof(*m.texts));
	for (size_t i = 0; i < n; i++) {
		const struct gus_jit_piece *p = &jit->pieces.v[choice->origins.v[i]];

		gusprof__embedded_function__init(&functions[i]);
		functions[i].offset = choice->offsets.v[choice->origins.v[i]];
		functions[i].size = p->size;
		functions[i].address = p->address;
		functions[i].name = (uint32_t)i + 1;
		list[i] = &functions[i];
		m.texts[i] = gus_strndup(p->name.text, p->name.size);
	}
	good = gus_symbols_add_embedded(symbols, &m);
	for (size_t i = 0; i < n; i++)
		free(m.texts[i]);
	free(m.texts);
	free(m.code);
	free(code);
	free(list);
	free(functions);
	return good;
}

/* What a file has told goes into the process's module from *offset on. */
static void add_told(struct adding *a, const struct maker *k, const struct gus_jit *jit, const char *kind,
		     const struct file *file, uint64_t *offset)
{
	struct gus_jit_wish wish = { .all = true, .since = k->since, .offset = *offset,
				     .most = a->pieces < GUS_LIMIT_JIT_WRITTEN ? a->pieces : GUS_LIMIT_JIT_WRITTEN };
	char *module = gus_format("[jit:%u]", k->pid);
	struct gus_jit_choice choice = { 0 };
	char behind[64] = "";
	uint64_t left_out;

	gus_jit_choose(&choice, jit, &wish);
	left_out = jit->left_out + choice.left_out;
	if (choice.origins.n && add_names(jit, &choice, module, a->symbols))
		add_places(jit, &choice, k->pid, module, a->space);
	else
		left_out += choice.origins.n;
	if (file->cut)
		snprintf(behind, sizeof(behind), ", and those behind its first %zu bytes", file->size);
	if (left_out || file->cut)
		gus_log(a->log, GUS_WARN, "the %s of process %u has more than gusprof takes: left out are %llu "
			"pieces%s", kind, k->pid, (unsigned long long)left_out, behind);
	a->pieces -= choice.origins.n;
	*offset = choice.end;
	gus_jit_choice_free(&choice);
	free(module);
}

static uint64_t add_map(struct adding *a, const struct maker *k, const char *folder)
{
	char *path = gus_format("%s/perf-%u.map", folder, k->pid);
	uint64_t offset = 0;
	struct file file;
	struct gus_jit jit = { 0 };

	if (read_whole(a, path, GUS_LIMIT_PERF_MAP, NULL, &file)) {
		gus_jit_read_map(&jit, file.bytes, file.size);
		add_told(a, k, &jit, "perf map", &file, &offset);
	} else if (errno != ENOENT) {
		gus_log(a->log, GUS_NOTE, "names of code that process %u made are not read from %s: %s", k->pid, path,
			strerror(errno));
	}
	gus_jit_free(&jit);
	free(file.bytes);
	free(path);
	return offset;
}

/* Pieces of a jitdump have times, which mean something only by the same clock. */
static void add_dump(struct adding *a, const struct gus_perfmaps *m, const struct maker *k, uint64_t offset)
{
	const struct gus_file_identity *identity = k->identity.inode ? &k->identity : NULL;
	struct gus_jit jit = { 0 };
	struct file file;
	const char *why = read_whole(a, k->dump, GUS_LIMIT_JITDUMP, identity, &file) ?
			  gus_jit_read_dump(&jit, file.bytes, file.size) :
			  errno == ESTALE ? "it is not the file that was mapped" : strerror(errno);

	if (!why && jit.timed && !m->monotonic)
		why = "its times are of CLOCK_MONOTONIC, and those of the recording are not (perf record -k mono)";
	if (why)
		gus_log(a->log, GUS_WARN, "names of code that process %u made are not read from %s: %s", k->pid,
			k->dump, why);
	else
		add_told(a, k, &jit, "jitdump", &file, &offset);
	gus_jit_free(&jit);
	free(file.bytes);
}

void gus_perfmaps_add(struct gus_perfmaps *m, const char *folder, const struct gus_rights *rights,
		       struct gus_space *space, struct gus_symbols *symbols, const struct gus_log *log)
{
	struct adding a = { rights, space, symbols, log, GUS_LIMIT_JIT_READ, GUS_LIMIT_JIT_NAMED };
	size_t unread = 0;

	for (size_t i = 0; i < m->list.n; i++) {
		const struct maker *k = &m->list.v[i];
		bool has_map = k->makes && m->here;
		/* Where nothing says of which machine it is, a name alone is nothing to go by. */
		bool has_dump = k->dump && (m->here || k->identity.inode);
		uint64_t offset = 0;

		if (!a.bytes || !a.pieces) {
			unread += has_map || has_dump;
			continue;
		}
		if (has_map)
			offset = add_map(&a, k, folder);
		if (has_dump)
			add_dump(&a, m, k, offset);
	}
	if (unread)
		gus_log(log, GUS_WARN, "what other processes told of their code is as much as gusprof takes: names of "
			"code that %zu more made are not looked for", unread);
}
