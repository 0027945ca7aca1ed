/* SPDX-License-Identifier: MIT */
/* The facade: which module is asked about, which of its tables answers, and how the answers are put together. */
#include "symbolizer/symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ascending.h"
#include "base/index.h"
#include "base/log.h"
#include "base/path.h"
#include "base/store.h"
#include "symbolizer/elf/dwarf.h"
#include "symbolizer/elf/elfsyms.h"
#include "symbolizer/elf/mini.h"
#include "symbolizer/kernel/kernel.h"
#include "symbolizer/names/demangle.h"
#include "symbolizer/names/functions.h"
#include "symbolizer/symbols/embedded.h"
#include "symbolizer/symbols/embedded_check.h"
#include "symbolizer/symbols/object.h"
#include "symbolizer/symbols/recall.h"

_Static_assert(GUS_EMBEDDED_CALLS_MAX == GUS_NAMES_MAX, "a chain of calls has no room among the names");

struct image {
	const char *path;
	uint8_t *build_id;
	size_t build_id_size;
	uint8_t *bytes;
	size_t size;
};

/* What is known about a module; allocated at its first question. */
struct entry {
	struct gus_object object;
	struct gus_functions functions, variables;
	struct gus_elf *mini;         /* where some of them are named; NULL if there is none */
	struct gus_ranges frames;     /* where functions are that have no name */
	struct gus_dwarf *dwarf;
	struct gus_embedded *embedded; /* what the recording has of it, NULL if nothing; borrowed */
	struct gus_recall *recall;    /* what DWARF has answered; NULL if there is none */
	uint8_t *build_id;            /* the module's, copied */
	char *trouble;                /* with the function table, NULL if none */
	bool has_functions, has_variables, has_frames, has_dwarf, has_recall;
};

struct gus_symbols {
	struct gus_search search;
	bool has_inodes, name_offsets;
	struct gus_rights rights;
	struct gus_budget total;                /* bytes of all files */
	struct gus_log log;
	struct gus_store *store;                /* of answers; NULL if there is none */
	const struct gus_fetch *fetch;
	bool raw_names;
	struct gus_kernel kernel;
	struct gus_vec(struct image) images;
	struct gus_embeddeds embedded;
	int (*open)(void *context, const struct gus_module *module);
	void *open_context;
	struct gus_strings modules;             /* a module's kind, path and build id: its number */
	struct gus_vec(struct entry *) entries; /* by that number; 0 is not used */
	struct gus_strings names;               /* as in DWARF */
	struct gus_vec(const char *) shown;     /* the same demangled, by number; NULL until asked for */
	struct gus_strings texts;               /* everything else that is handed out */
};

static const char *text(struct gus_symbols *s, const char *string)
{
	return gus_strings_get(&s->texts, gus_strings_add(&s->texts, string));
}

/* Without it answers take longer and are the same, so it is no failure. */
static void open_store(struct gus_symbols *s, const char *path)
{
	struct gus_error err = { 0 };

	s->store = gus_store_open(path, ".names", GUS_LIMIT_CACHE, &err);
	if (!s->store)
		gus_log(&s->log, GUS_DEBUG, "nothing is remembered: %s", err.text);
}

struct gus_symbols *gus_symbols_new(const struct gus_symbols_options *options, const struct gus_log *log)
{
	static const char *const standard[] = { "/usr/lib/debug", NULL };
	const char *const *dirs = options && options->debug_dirs ? options->debug_dirs : standard;
	struct gus_symbols *s = gus_zalloc(sizeof(*s));
	struct gus_vec(const char *) copy = { 0 };

	gus_embedded_init(&s->embedded);
	gus_strings_init(&s->modules);
	gus_strings_init(&s->names);
	gus_strings_init(&s->texts);
	for (; *dirs; dirs++)
		gus_vec_push(&copy, text(s, *dirs));
	gus_vec_push(&copy, NULL);
	s->search = (struct gus_search){ .symfs = text(s, options && options->symfs ? options->symfs : ""),
		.debug_dirs = copy.v, .rights = &s->rights, .total = &s->total,
		.build_ids = options && options->build_ids ? text(s, options->build_ids) : NULL,
		.elsewhere = options && options->elsewhere, .nowhere = options && options->nowhere };
	s->has_inodes = options && (options->has_inodes || options->nowhere);
	s->name_offsets = options && options->name_offsets;
	s->total.left = GUS_LIMIT_NAMES_TOTAL;
	if (options && options->rights)
		s->rights = *options->rights;
	s->raw_names = options && options->raw_names;
	s->open = options ? options->open : NULL;
	s->open_context = options ? options->open_context : NULL;
	if (log)
		s->log = *log;
	s->fetch = options ? options->fetch : NULL;
	if (options && options->cache)
		open_store(s, options->cache);
	gus_kernel_init(&s->kernel, options ? options->boot_id : NULL);
	s->kernel.given = options && options->kallsyms ? text(s, options->kallsyms) : NULL;
	s->kernel.same_release = options && options->same_release;
	s->kernel.nowhere = options && options->nowhere;
	return s;
}

void gus_symbols_recorded_until(struct gus_symbols *s, uint64_t realtime_ns)
{
	s->search.recorded_ns = realtime_ns;
}

void gus_symbols_written_until(struct gus_symbols *s, uint64_t realtime_ns)
{
	s->search.written_ns = realtime_ns;
}

/* What could not be read as a whole this time may be another time, and is not remembered. */
static void save_answers(struct gus_symbols *s, const struct entry *e)
{
	struct gus_error err = { 0 };

	if (!e->recall || e->object.refused.code || gus_object_cut(&e->object))
		return;
	if (gus_recall_save(e->recall, &err) != 0)
		gus_log(&s->log, GUS_DEBUG, "nothing is remembered of %s: %s", e->object.path, err.text);
}

static void free_entry(struct gus_symbols *s, struct entry *e)
{
	if (!e)
		return;
	save_answers(s, e);
	/* DWARF before the files that it lies in. */
	if (e->recall)
		gus_recall_close(e->recall);
	free(e->recall);
	gus_dwarf_close(e->dwarf);
	gus_functions_free(&e->functions);
	gus_functions_free(&e->variables);
	gus_elf_close(e->mini);
	gus_ranges_free(&e->frames);
	gus_object_close(&e->object);
	free(e->build_id);
	free(e->trouble);
	free(e);
}

void gus_symbols_free(struct gus_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->entries.n; i++)
		free_entry(s, s->entries.v[i]);
	for (size_t i = 0; i < s->images.n; i++) {
		free(s->images.v[i].build_id);
		free(s->images.v[i].bytes);
	}
	gus_vec_free(&s->entries);
	gus_vec_free(&s->images);
	gus_vec_free(&s->shown);
	gus_kernel_free(&s->kernel);
	gus_embedded_free(&s->embedded);
	gus_strings_free(&s->modules);
	gus_strings_free(&s->names);
	gus_strings_free(&s->texts);
	free((void *)s->search.debug_dirs);
	gus_store_close(s->store);
	free(s);
}

void gus_symbols_add_kernel(struct gus_symbols *s, const Gusprof__KernelSymbols *symbols)
{
	gus_kernel_add(&s->kernel, symbols);
}

void gus_symbols_add_kernel_build(struct gus_symbols *s, const void *build_id, size_t size)
{
	char *kept = gus_debugfile_kept_path(&s->search, build_id, size, "kallsyms");

	if (size)
		gus_kernel_known(&s->kernel, build_id, size, kept);
	free(kept);
}

/* "[kernel.kallsyms]_text": tools/perf, perf_event__synthesize_kernel_mmap. An address of 0 means that the kernel did
 * not show it. */
void gus_symbols_add_kernel_mapping(struct gus_symbols *s, const Gusprof__Mmap *mapping)
{
	static const char prefix[] = "[kernel.kallsyms]";
	const char *path = mapping->path ? mapping->path : "";

	if (strncmp(path, prefix, strlen(prefix)) != 0)
		return;
	if (mapping->build_id.len)
		gus_symbols_add_kernel_build(s, mapping->build_id.data, mapping->build_id.len);
	if (path[strlen(prefix)] && mapping->offset)
		gus_kernel_lay(&s->kernel, path + strlen(prefix), mapping->offset, mapping->start + mapping->length);
}

bool gus_symbols_add_embedded(struct gus_symbols *s, const Gusprof__Embedded *embedded)
{
	return gus_embedded_add(&s->embedded, embedded);
}

static uint8_t *copy_bytes(const void *bytes, size_t size)
{
	uint8_t *copy = size ? gus_alloc(size) : NULL;

	if (copy)
		memcpy(copy, bytes, size);
	return copy;
}

void gus_symbols_add_image(struct gus_symbols *s, const Gusprof__Image *image)
{
	gus_vec_push(&s->images, (struct image){
		.path = text(s, image->path ? image->path : ""),
		.build_id = copy_bytes(image->build_id.data, image->build_id.len), .build_id_size = image->build_id.len,
		.bytes = copy_bytes(image->bytes.data, image->bytes.len), .size = image->bytes.len });
}

/* An image of that path serves the module unless both have build ids, and these differ. */
static const struct image *image_of(const struct gus_symbols *s, const struct gus_module *m)
{
	for (size_t i = 0; i < s->images.n; i++) {
		const struct image *image = &s->images.v[i];

		if (strcmp(image->path, m->path) == 0 &&
		    (!image->build_id_size || !m->build_id_size ||
		     gus_build_id_equal(image->build_id, image->build_id_size, m->build_id, m->build_id_size)))
			return image;
	}
	return NULL;
}

bool gus_symbols_image(const struct gus_symbols *s, const struct gus_module *module, const void **bytes, size_t *size)
{
	const struct image *image = image_of(s, module);

	*bytes = image ? image->bytes : NULL;
	*size = image ? image->size : 0;
	return image || s->kernel.same_boot;
}

static void open_file(struct gus_symbols *s, struct entry *e, const struct gus_module *m)
{
	int fd = s->open ? s->open(s->open_context, m) : -1;

	gus_object_open(&e->object, &s->search, m, fd);
	if (fd >= 0)
		close(fd);
}

/* Whether only its path would tell which file a module was: no build id, and device and inode are of another boot. The
 * recording's own names are better than those of whatever has that path now, unless the user says that it is a copy. */
static bool is_guess(const struct gus_symbols *s, const struct gus_module *m)
{
	return !m->build_id_size && !s->kernel.same_boot && !*s->search.symfs;
}

static void open_object(struct gus_symbols *s, struct entry *e, const struct gus_module *m)
{
	const struct image *image = image_of(s, m);

	if (image)
		gus_object_open_image(&e->object, m, image->bytes, image->size);
	else if (m->kind != GUS_MODULE_VDSO && e->embedded && is_guess(s, m))
		e->object.trouble = gus_strdup("it has no build id to find the same file by");
	else if (m->kind != GUS_MODULE_VDSO)
		open_file(s, e, m);
	else if (s->kernel.same_boot)
		gus_object_open_own_vdso(&e->object, m);
	else if (m->build_id_size)
		gus_object_open_vdso(&e->object, &s->search, m);
	else if (gus_kernel_runs(&s->kernel)) /* whose the vdso is */
		gus_object_open_own_vdso(&e->object, m);
	else
		e->object.trouble = gus_format("the recording has no copy of the vdso, and %s", s->kernel.nowhere ?
					       "nothing says which kernel it was" :
					       "it is of another boot than this one");
	gus_log(&s->log, GUS_DEBUG, "symbols of %s: %s", m->path,
		e->object.main ? e->object.main->path : e->object.trouble);
}

/* What is known about a module of kind FILE or VDSO. Modules are told apart by what they are, not by where the caller
 * keeps them. */
static struct entry *entry_of(struct gus_symbols *s, const struct gus_module *m)
{
	const uint64_t file[] = { m->inode, m->major, m->minor, m->generation };
	struct gus_vec(char) key = { 0 };
	struct gus_module own = *m;
	struct entry *e;
	uint32_t number;

	gus_vec_push(&key, (char)('0' + m->kind));
	gus_vec_append(&key, m->path, strlen(m->path) + 1);
	gus_vec_append(&key, (const char *)m->build_id, m->build_id ? m->build_id_size : 0);
	if (!m->build_id)
		gus_vec_append(&key, (const char *)file, sizeof(file));
	number = gus_strings_add_n(&s->modules, key.v, key.n);
	gus_vec_free(&key);
	while (s->entries.n <= number)
		gus_vec_push(&s->entries, NULL);
	if (s->entries.v[number])
		return s->entries.v[number];
	e = gus_zalloc(sizeof(*e));
	gus_functions_init(&e->functions);
	gus_functions_init(&e->variables);
	e->embedded = gus_embedded_find(&s->embedded, m);
	e->build_id = own.build_id ? copy_bytes(own.build_id, own.build_id_size) : NULL;
	own.build_id = e->build_id;
	own.build_id_size = e->build_id ? own.build_id_size : 0;
	/* Another boot numbers its devices as it likes, another machine its files as well. */
	if (!s->kernel.same_boot && !s->has_inodes)
		own.inode = 0;
	open_object(s, e, &own);
	e->object.fetch = s->fetch;
	s->entries.v[number] = e;
	return e;
}

/* The full table may be in a separate file; what is exported, and the PLT, are in the file that was mapped. */
static void read_functions(struct gus_symbols *s, struct entry *e)
{
	struct gus_elf *main = e->object.main, *debug;
	bool full, exported;

	if (e->has_functions)
		return;
	e->has_functions = true;
	full = main && gus_elfsyms_add(&e->functions, main, SHT_SYMTAB);
	if (!full && (debug = gus_object_debug(&e->object, &s->search)))
		full = gus_elfsyms_add(&e->functions, debug, SHT_SYMTAB);
	if (main && !full && (e->mini = gus_mini_open(main)))
		full = gus_elfsyms_add(&e->functions, e->mini, SHT_SYMTAB);
	exported = main && gus_elfsyms_add(&e->functions, main, SHT_DYNSYM);
	if (main)
		gus_plt_add(&e->functions, main);
	gus_functions_ready(&e->functions);
	/* What went wrong with the file is why its names are missing. */
	if (main && !full)
		e->trouble = main->trouble ? gus_format("%s", main->trouble) :
			     gus_format("no symbol table, in it or in a debug file%s",
					exported ? ": only exported functions have names" : "");
}

/* Where the function is that has address, by its name, else by unwind entries; [address, address) if by none. */
static struct gus_range find_function(struct gus_symbols *s, struct entry *e, uint64_t address, struct gus_function **f)
{
	const struct gus_range *r;

	read_functions(s, e);
	*f = gus_functions_find(&e->functions, address);
	if (*f)
		return (struct gus_range){ .low = (*f)->low, .high = (*f)->high };
	if (!e->has_frames && e->object.main) {
		gus_elfsyms_add_frames(&e->frames, e->object.main);
		if (e->object.main->trouble) { /* it could be read before: that is why names are missing */
			free(e->trouble);
			e->trouble = gus_format("%s", e->object.main->trouble);
		}
	}
	e->has_frames = true;
	r = gus_ranges_find(&e->frames, address);
	return r ? *r : (struct gus_range){ .low = address, .high = address };
}

/* Fills in the function that has address; false if it has no name of its own. One without a name is named by where it
 * is, so that it is one row and not as many as it has instructions. */
static bool name_function(struct gus_symbols *s, struct entry *e, uint64_t address, uint64_t offset,
			  struct gus_name *name)
{
	struct gus_function *f;
	struct gus_range where = find_function(s, e, address, &f);
	char made_up[32];

	if (f) {
		name->function = gus_function_name(&e->functions, f, s->raw_names);
	} else if (where.high > where.low) {
		snprintf(made_up, sizeof(made_up), "sub_%" PRIx64, where.low);
		name->function = text(s, made_up);
	}
	name->start = offset - (address - where.low);
	name->size = where.high - where.low;
	return f != NULL;
}

static struct gus_dwarf *dwarf_of(struct gus_symbols *s, struct entry *e)
{
	struct gus_elf *holder;

	if (e->has_dwarf)
		return e->dwarf;
	e->has_dwarf = true;
	holder = gus_object_dwarf(&e->object, &s->search);
	if (holder)
		e->dwarf = gus_dwarf_open(holder, gus_object_code(&e->object), e->object.shared);
	return e->dwarf;
}

/* A name of DWARF as people read it. */
static const char *readable(struct gus_symbols *s, const char *name)
{
	uint32_t number;
	char *demangled;

	if (!name || s->raw_names)
		return name;
	number = gus_strings_add(&s->names, name);
	while (s->shown.n <= number)
		gus_vec_push(&s->shown, NULL);
	if (!s->shown.v[number]) {
		demangled = gus_demangle(name);
		s->shown.v[number] = demangled ? text(s, demangled) : gus_strings_get(&s->names, number);
		free(demangled);
	}
	return s->shown.v[number];
}

/* What was or is answered about addresses of the module; NULL if it has no DWARF. */
static struct gus_recall *recall_of(struct gus_symbols *s, struct entry *e)
{
	struct gus_elf *holder;

	if (e->has_recall)
		return e->recall;
	e->has_recall = true;
	holder = gus_object_dwarf(&e->object, &s->search);
	if (!holder)
		return NULL;
	e->recall = gus_alloc(sizeof(*e->recall));
	gus_recall_open(e->recall, s->store, holder, gus_object_code(&e->object), e->object.shared);
	return e->recall;
}

/* Puts the calls that are inlined at an address before the function that they are inlined in. Each knows where it was
 * called; that is a line of the next one outwards. What has no name, as its entry is in a file that is not there, is a
 * part of that one. */
static size_t add_inlines(struct gus_symbols *s, const struct gus_answers *a, const struct gus_answer *answer,
			  bool named, struct gus_name names[GUS_NAMES_MAX])
{
	struct gus_name last = names[0];
	size_t named_n = 0;

	/* The symbol table's name stands, so that a function is called the same with inlines and without. */
	if (!named && answer->outer)
		last.function = readable(s, gus_answers_string(a, answer->outer));
	for (uint32_t i = answer->call; i && named_n < GUS_NAMES_MAX - 1; i = a->calls.v[i].around) {
		const struct gus_answer_call *at = &a->calls.v[i];
		struct gus_name *call = &names[named_n];

		if (!at->name)
			continue;
		call->function = readable(s, gus_answers_string(a, at->name));
		call->start = last.start;
		call->size = last.size;
		call->inlined = true;
		call[1] = last;
		call[1].file = gus_answers_string(a, at->file);
		call[1].line = at->line;
		named_n++;
	}
	names[named_n].function = last.function;
	return named_n + 1;
}

/* What a module's file has told of a place. */
struct told { bool named, lined; };

/* Adds line and inlined calls to the name of the function that has address. */
static size_t add_dwarf(struct gus_symbols *s, struct entry *e, uint64_t address, enum gus_depth depth,
			struct told *told, struct gus_name names[GUS_NAMES_MAX])
{
	struct gus_recall *recall = recall_of(s, e);
	const struct gus_answer *found = recall ? gus_recall_find(recall, address) : NULL;
	struct gus_answer answer;
	struct gus_dwarf *d;

	if (!recall)
		return 1;
	if (!found) {
		d = dwarf_of(s, e);
		if (!d)
			return 1;
		answer = gus_recall_ask(recall, d, address, depth == GUS_DEPTH_INLINE || s->store);
		found = &answer;
	}
	told->lined = true;
	names[0].file = gus_answers_string(&recall->answers, found->file);
	names[0].line = found->line;
	return depth == GUS_DEPTH_INLINE ? add_inlines(s, &recall->answers, found, told->named, names) : 1;
}

static size_t name_kernel(struct gus_symbols *s, uint64_t address, struct gus_name *name)
{
	struct gus_functions *table;
	struct gus_function *f = gus_kernel_find(&s->kernel, address, &table);

	if (f) {
		name->function = gus_function_name(table, f, s->raw_names);
		name->start = f->low;
		name->size = f->high - f->low;
	}
	return 1;
}

/* The file that tells addresses, and the address of an offset in it. */
static bool address_of(struct gus_symbols *s, struct entry *e, uint64_t offset, uint64_t *address)
{
	const struct gus_elf *code;

	if (!e->object.main)
		gus_object_debug(&e->object, &s->search);
	code = gus_object_code(&e->object);
	return code && gus_elf_address(code, offset, address);
}

static size_t name_by_file(struct gus_symbols *s, struct entry *e, uint64_t offset, enum gus_depth depth,
			   struct told *told, struct gus_name names[GUS_NAMES_MAX])
{
	uint64_t address;

	if (!address_of(s, e, offset, &address))
		return 1;
	told->named = name_function(s, e, address, offset, &names[0]);
	return depth == GUS_DEPTH_FUNCTION ? 1 : add_dwarf(s, e, address, depth, told, names);
}

/* The calls that the recording knows around an offset, put before its function as add_inlines does. */
static size_t add_calls(struct gus_symbols *s, const struct gus_embedded_call *calls, size_t n, bool named,
			struct gus_name names[GUS_NAMES_MAX])
{
	struct gus_name last = names[0];

	if (!named && calls[n - 1].function)
		last.function = readable(s, calls[n - 1].function);
	for (size_t i = 0; i < n; i++)
		names[i] = (struct gus_name){ .function = readable(s, calls[i].function), .start = last.start,
			.size = last.size, .file = calls[i].file, .line = calls[i].line, .inlined = i + 1 < n };
	names[n - 1].function = last.function;
	return n;
}

/* Names that the recording brought along, for what its file has not told. */
static size_t name_by_recording(struct gus_symbols *s, struct gus_embedded *e, uint64_t offset, enum gus_depth depth,
				struct told told, struct gus_name names[GUS_NAMES_MAX])
{
	const struct gus_embedded_call *calls = NULL;
	struct gus_embedded_function f;
	size_t n;

	if (!told.named && gus_embedded_function(e, offset, s->raw_names, &f)) {
		names[0].function = f.name;
		names[0].start = f.start;
		names[0].size = f.size;
		told.named = f.named;
	}
	if (depth != GUS_DEPTH_FUNCTION && !told.lined)
		calls = gus_embedded_calls(e, offset, &n);
	if (calls && depth == GUS_DEPTH_INLINE)
		return add_calls(s, calls, n, told.named, names);
	if (calls) {
		names[0].file = calls[0].file;
		names[0].line = calls[0].line;
	}
	return 1;
}

static bool has_file(const struct gus_module *module)
{
	return module->kind == GUS_MODULE_FILE || module->kind == GUS_MODULE_VDSO;
}

static struct gus_embedded *embedded_of(struct gus_symbols *s, const struct gus_module *module)
{
	return has_file(module) ? entry_of(s, module)->embedded : gus_embedded_find(&s->embedded, module);
}

static size_t find_names(struct gus_symbols *s, const struct gus_module *module, uint64_t offset, enum gus_depth depth,
			 struct gus_name names[GUS_NAMES_MAX])
{
	struct gus_embedded *embedded;
	struct told told = { 0 };
	size_t n = 1;

	names[0] = (struct gus_name){ .start = offset };
	if (module->kind == GUS_MODULE_KERNEL)
		return name_kernel(s, offset, &names[0]);
	if (has_file(module))
		n = name_by_file(s, entry_of(s, module), offset, depth, &told, names);
	embedded = embedded_of(s, module);
	return n > 1 || !embedded ? n : name_by_recording(s, embedded, offset, depth, told, names);
}

/* Where it is, for want of a name; the same place in every run. */
static const char *name_offset(struct gus_symbols *s, const struct gus_module *module, uint64_t offset)
{
	char *name = gus_format("%s+0x%llx", gus_base_name(module->path), (unsigned long long)offset);
	const char *kept = text(s, name);

	free(name);
	return kept;
}

size_t gus_symbols_names(struct gus_symbols *s, const struct gus_module *module, uint64_t offset, enum gus_depth depth,
			 struct gus_name names[GUS_NAMES_MAX])
{
	size_t n = find_names(s, module, offset, depth, names);

	if (s->name_offsets && n == 1 && !names[0].function &&
	    (has_file(module) || module->kind == GUS_MODULE_KERNEL)) {
		names[0].function = name_offset(s, module, offset);
		names[0].start = offset;
	}
	return n;
}

void gus_symbols_expect(struct gus_symbols *s, const struct gus_module *module, const uint64_t *offsets, size_t n)
{
	struct gus_vec(uint64_t) unknown = { 0 };
	const struct gus_elf *code;
	struct gus_recall *recall;
	struct gus_dwarf *d;
	struct entry *e;
	uint64_t address;

	if (module->kind != GUS_MODULE_FILE || !n)
		return;
	e = entry_of(s, module);
	recall = recall_of(s, e);
	code = gus_object_code(&e->object);
	for (size_t i = 0; recall && i < n; i++)
		if (gus_elf_address(code, offsets[i], &address) && !gus_recall_find(recall, address))
			gus_vec_push(&unknown, address);
	d = unknown.n ? dwarf_of(s, e) : NULL;
	if (d) {
		qsort(unknown.v, unknown.n, sizeof(*unknown.v), gus_ascending_u64);
		gus_recall_ask_all(recall, d, gus_object_dwarf(&e->object, &s->search), code, e->object.shared,
				   unknown.v, unknown.n);
	}
	gus_vec_free(&unknown);
}

bool gus_symbols_function(struct gus_symbols *s, const struct gus_module *module, uint64_t offset,
			  struct gus_symbol *function)
{
	struct entry *e = has_file(module) ? entry_of(s, module) : NULL;
	struct gus_function *f;
	struct gus_range where;
	uint64_t address;

	if (!e || !address_of(s, e, offset, &address))
		return false;
	where = find_function(s, e, address, &f);
	*function = (struct gus_symbol){ .name = f ? f->name : NULL, .start = offset - (address - where.low),
		.size = where.high - where.low, .address = where.low };
	return function->size > 0;
}

/* As those of functions: where the full table is in a debug file, that one has sections without bytes. */
static void read_variables(struct gus_symbols *s, struct entry *e)
{
	struct gus_elf *main = e->object.main, *debug;

	if (e->has_variables)
		return;
	e->has_variables = true;
	if (!(main && gus_elfsyms_add_data(&e->variables, main, SHT_SYMTAB)) &&
	    (debug = gus_object_debug(&e->object, &s->search)))
		gus_elfsyms_add_data(&e->variables, debug, SHT_SYMTAB);
	if (main)
		gus_elfsyms_add_data(&e->variables, main, SHT_DYNSYM);
	gus_functions_ready(&e->variables);
}

const char *gus_symbols_datum(struct gus_symbols *s, const struct gus_module *module, uint64_t offset,
			      uint64_t *begins)
{
	struct entry *e = module->kind == GUS_MODULE_FILE ? entry_of(s, module) : NULL;
	const struct gus_elf *code = e ? gus_object_code(&e->object) : NULL;
	struct gus_function *f;
	uint64_t address;

	if (!code || !gus_elf_data_address(code, offset, &address))
		return NULL;
	read_variables(s, e);
	f = gus_functions_find(&e->variables, address);
	if (f && begins)
		*begins = offset - (address - f->low);
	return f ? gus_function_name(&e->variables, f, s->raw_names) : NULL;
}

static size_t code_by_file(struct gus_elf *main, uint64_t offset, void *out, size_t size, unsigned *machine)
{
	uint64_t address, left;

	*machine = main ? main->machine : EM_NONE;
	if (!main || offset >= main->size || !gus_elf_address(main, offset, &address))
		return 0;
	left = main->size - offset;
	if (size > left)
		size = (size_t)left;
	if (!gus_elf_load(main, offset, size))
		return 0;
	memcpy(out, main->bytes + offset, size);
	return size;
}

size_t gus_symbols_code(struct gus_symbols *s, const struct gus_module *module, uint64_t offset, void *out, size_t size,
			unsigned *machine)
{
	struct gus_embedded *embedded;
	unsigned unused;
	size_t n = 0;

	if (!machine)
		machine = &unused;
	if (module->kind == GUS_MODULE_KERNEL)
		return gus_kernel_code(&s->kernel, offset, out, size, machine);
	*machine = EM_NONE;
	if (has_file(module))
		n = code_by_file(entry_of(s, module)->object.main, offset, out, size, machine);
	embedded = n ? NULL : embedded_of(s, module);
	if (embedded) {
		*machine = embedded->machine;
		n = gus_embedded_code(embedded, offset, out, size);
	}
	return n;
}

uint64_t gus_symbols_address(struct gus_symbols *s, const struct gus_module *module, uint64_t offset)
{
	const struct gus_elf *code = NULL;
	struct gus_embedded *embedded;
	struct gus_embedded_function f;
	uint64_t address;

	if (module->kind == GUS_MODULE_KERNEL)
		return offset;
	if (has_file(module))
		code = gus_object_code(&entry_of(s, module)->object);
	if (code && gus_elf_address(code, offset, &address))
		return address;
	embedded = embedded_of(s, module);
	return embedded && gus_embedded_function(embedded, offset, true, &f) ? f.address + (offset - f.start) : offset;
}

struct gus_provenance gus_symbols_provenance(struct gus_symbols *s, const struct gus_module *module)
{
	struct gus_provenance none = { 0 };
	const struct gus_elf *holder;

	if (module->kind != GUS_MODULE_FILE)
		return none;
	holder = gus_object_dwarf(&entry_of(s, module)->object, &s->search);
	return holder ? (struct gus_provenance){ true, holder->stat.st_uid, holder->stat.st_mtime } : none;
}

const struct gus_rights *gus_symbols_rights(const struct gus_symbols *s)
{
	return &s->rights;
}

static const char *code_trouble(struct gus_symbols *s, const struct entry *e)
{
	const char *why;
	char *both;

	if (e->embedded && !e->object.main && e->embedded->code.n)
		return NULL;
	if (e->embedded && !e->object.main) {
		both = gus_format("the recording has names of it and no code (record --embed=all), and %s",
				  e->object.trouble);
		why = text(s, both);
		free(both);
		return why;
	}
	return e->object.trouble || !e->object.main ? e->object.trouble : e->object.main->trouble;
}

const char *gus_symbols_code_trouble(struct gus_symbols *s, const struct gus_module *module)
{
	const struct gus_embedded *embedded = has_file(module) ? NULL : gus_embedded_find(&s->embedded, module);

	if (embedded && embedded->code.n)
		return NULL;
	switch (module->kind) {
	case GUS_MODULE_KERNEL:
		return gus_kernel_code_trouble(&s->kernel);
	case GUS_MODULE_FILE:
	case GUS_MODULE_VDSO:
		return code_trouble(s, entry_of(s, module));
	case GUS_MODULE_ANON:
		return "it was made at run time, and the recording has no copy of it";
	case GUS_MODULE_JIT:
		return "it was made at run time, and of this code its runtime told a name and no bytes; a jitdump "
			"has them (node --perf-prof)";
	default:
		return "no mapping of the recording covers it";
	}
}

size_t gus_symbols_cut(const struct gus_symbols *s, const char **path, const char **why)
{
	size_t n = 0;

	for (size_t i = 0; i < s->entries.n; i++) {
		const char *cut = s->entries.v[i] ? gus_object_cut(&s->entries.v[i]->object) : NULL;

		if (!cut || n++)
			continue;
		*path = s->entries.v[i]->object.path;
		*why = cut;
	}
	return n;
}

const char *gus_symbols_trouble(struct gus_symbols *s, const struct gus_module *module)
{
	const struct gus_embedded *embedded;
	struct entry *e;

	if (module->kind == GUS_MODULE_KERNEL)
		return gus_kernel_trouble(&s->kernel);
	embedded = embedded_of(s, module);
	if (embedded && (!has_file(module) || !entry_of(s, module)->object.main))
		return embedded->trouble;
	if (module->kind == GUS_MODULE_ANON)
		return "code that was made at run time; no /tmp/perf-PID.map of its process and no jitdump tells of "
			"it. node writes one with --perf-basic-prof, python3 (3.12 and later) with -X perf, java (17 "
			"and later) with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
	if (module->kind == GUS_MODULE_UNKNOWN || module->kind == GUS_MODULE_JIT)
		return NULL;
	e = entry_of(s, module);
	if (e->object.trouble)
		return e->object.trouble;
	read_functions(s, e);
	return e->trouble;
}

const char *gus_symbols_refusal(struct gus_symbols *s, const struct gus_module *module)
{
	const struct gus_error *refused;

	if (module->kind != GUS_MODULE_FILE)
		return NULL;
	refused = &entry_of(s, module)->object.refused;
	return refused->code == GUS_E_PERMISSION ? refused->text : NULL;
}

void gus_symbols_tell(const struct gus_symbols *s)
{
	for (size_t i = 0; i < s->entries.n; i++)
		if (s->entries.v[i] && s->entries.v[i]->object.refused.code == GUS_E_PERMISSION)
			gus_log(&s->log, GUS_NOTE, "%s; names that it has are missing",
				s->entries.v[i]->object.refused.text);
}

const struct gus_error *gus_symbols_failure(const struct gus_symbols *s)
{
	if (s->kernel.failure.code)
		return &s->kernel.failure;
	for (size_t i = 0; i < s->entries.n; i++)
		if (s->entries.v[i] && s->entries.v[i]->object.refused.code &&
		    s->entries.v[i]->object.refused.code != GUS_E_PERMISSION)
			return &s->entries.v[i]->object.refused;
	return NULL;
}
