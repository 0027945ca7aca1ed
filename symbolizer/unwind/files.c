/* SPDX-License-Identifier: MIT */
/* Files and their rules. A file's tables are read as a whole when it is first asked for a rule, and a rule is made when
 * an address is first asked for; then it is found again by a look into a table of addresses. */
#include "symbolizer/unwind/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "symbolizer/symbols/object.h"
#include "symbolizer/symbols/symbols.h"

#define KEPT_FIRST 1024   /* addresses that a file has room for at first */
#define ZSTD_PACKED 2     /* ELFCOMPRESS_ZSTD, which older elf.h do not have */
#define FUNCTIONS_LOOKED_AT 4096
#define FUNCTION_ROWS 64  /* of one function, to see whether it has a frame pointer */

/* The places where a file's tables are, in the order in which they are asked. */
enum { EH_FRAME, DEBUG_FRAME, SEPARATE, TABLES };

struct table {
	bool sought;
	struct gus_cfi cfi;
	void *unpacked;                  /* bytes of a section that was packed */
};

/* Where an address's rule is. The table is as large as a power of two, and a new address takes the place of an old one
 * that has the same: what is asked about often comes back at once. */
struct kept {
	uint64_t key;                    /* offset * 2 + exact, + 1; 0: free */
	uint32_t rule;                   /* in `rules` */
};

struct gus_unwind_file {
	struct gus_unwind_files *files;
	struct gus_object object;
	uint8_t *build_id;               /* the module's, copied, as the object borrows it */
	const char *trouble;             /* NULL if nothing is wrong */
	unsigned machine;                /* EM_*; 0 if there is no file, or none that we know */
	struct table tables[TABLES];
	uint64_t asked, paid;            /* frames; steps for them */
	uint64_t beyond;                 /* steps beyond those that so many frames may take, when it last paid */
	struct kept *kept;
	uint32_t kept_room, replaced;    /* entries; how many lost their place since it grew */
	struct gus_strings bytes;        /* each rule once */
	struct gus_vec(uint32_t) places; /* in `rules`, by its number */
	struct gus_vec(uint64_t) rules;  /* rules, each at the beginning of a word */
};

/* What files may cost: one, and all of them, beyond so much for each frame. */
struct may_cost { uint64_t file, all, a_frame; };

struct gus_unwind_files {
	const struct gus_symbols_options *options;
	struct gus_search search;
	struct gus_budget total, looked;                 /* of memory; of bytes looked through, holes as well */
	struct may_cost may_cost;
	uint64_t beyond;                                 /* of all files */
	struct gus_strings modules;                      /* what tells a module from others: its number */
	struct gus_vec(struct gus_unwind_file *) list;   /* by that number; 0 is not used */
	struct gus_unwind_file *none;                    /* stands for all that have no file */
};

/* Of all files. */

static const char costly[] = "its unwind tables take more work than they may";
static const char *const standard_dirs[] = { "/usr/lib/debug", NULL };

static struct gus_unwind_file *new_file(struct gus_unwind_files *files, const char *trouble)
{
	struct gus_unwind_file *file = gus_zalloc(sizeof(*file));

	file->files = files;
	file->trouble = trouble;
	gus_strings_init(&file->bytes);
	return file;
}

struct gus_unwind_files *gus_unwind_files_new(const struct gus_symbols_options *options)
{
	struct gus_unwind_files *files = gus_zalloc(sizeof(*files));

	files->options = options;
	files->may_cost = (struct may_cost){ UINT64_MAX, UINT64_MAX, 0 };
	files->search = (struct gus_search){ .symfs = options && options->symfs ? options->symfs : "",
		.debug_dirs = options && options->debug_dirs ? options->debug_dirs : standard_dirs,
		.rights = options ? options->rights : NULL, .total = &files->total,
		.build_ids = options ? options->build_ids : NULL, .elsewhere = options && options->elsewhere,
		.nowhere = options && options->nowhere };
	files->total.left = files->looked.left = GUS_LIMIT_UNWIND_TOTAL;
	gus_strings_init(&files->modules);
	files->none = new_file(files, "more files are mapped than are looked at");
	return files;
}

void gus_unwind_files_hurry(struct gus_unwind_files *files)
{
	files->search.hurry = true;
	files->may_cost = (struct may_cost){ GUS_LIMIT_UNWIND_FILE_STEPS, GUS_LIMIT_UNWIND_ALL_STEPS,
					     GUS_LIMIT_UNWIND_FILE_STEPS_A_FRAME };
}

void gus_unwind_files_share(struct gus_unwind_files *files, unsigned threads)
{
	files->may_cost = (struct may_cost){ GUS_LIMIT_UNWIND_READ_FILE_STEPS / threads,
					     GUS_LIMIT_UNWIND_READ_ALL_STEPS / threads,
					     GUS_LIMIT_UNWIND_READ_STEPS_A_FRAME };
}

static void free_file(struct gus_unwind_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < TABLES; i++) {
		if (file->tables[i].cfi.bytes)
			gus_cfi_close(&file->tables[i].cfi);
		free(file->tables[i].unpacked);
	}
	gus_object_close(&file->object);
	gus_strings_free(&file->bytes);
	gus_vec_free(&file->places);
	gus_vec_free(&file->rules);
	free(file->kept);
	free(file->build_id);
	free(file);
}

void gus_unwind_files_free(struct gus_unwind_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->list.n; i++)
		free_file(files->list.v[i]);
	free_file(files->none);
	gus_vec_free(&files->list);
	gus_strings_free(&files->modules);
	free(files);
}

/* Modules are told apart by what they are, not by where the caller keeps them. */
static uint32_t number_of(struct gus_unwind_files *files, const struct gus_module *m)
{
	const uint64_t identity[] = { m->inode, m->major, m->minor };
	struct gus_vec(char) key = { 0 };
	uint32_t number;

	gus_vec_push(&key, (char)('0' + m->kind));
	gus_vec_append(&key, m->path, strlen(m->path) + 1);
	gus_vec_append(&key, (const char *)m->build_id, m->build_id ? m->build_id_size : 0);
	if (!m->build_id)
		gus_vec_append(&key, (const char *)identity, sizeof(identity));
	number = gus_strings_add_n(&files->modules, key.v, key.n);
	gus_vec_free(&key);
	return number;
}

static void open_vdso(struct gus_unwind_file *file, const struct gus_module *module)
{
	const struct gus_symbols_options *o = file->files->options;
	const void *bytes = NULL;
	size_t size = 0;
	bool at_hand = !o || !o->image || o->image(o->image_context, module, &bytes, &size);

	if (!at_hand && module->build_id_size)
		gus_object_open_vdso(&file->object, &file->files->search, module);
	else if (!at_hand)
		file->trouble = "the recording has no copy of it, and this boot's is another";
	else if (bytes)
		gus_object_open_image(&file->object, module, bytes, size);
	else
		gus_object_open_own_vdso(&file->object, module);
}

static void open_module(struct gus_unwind_file *file, const struct gus_module *module)
{
	const struct gus_symbols_options *o = file->files->options;
	struct gus_module own = *module;
	int fd = -1;

	if (module->build_id && module->build_id_size) {
		file->build_id = gus_alloc(module->build_id_size);
		memcpy(file->build_id, module->build_id, module->build_id_size);
		own.build_id = file->build_id;
	} else {
		own.build_id = NULL;
		own.build_id_size = 0;
	}
	if (module->kind == GUS_MODULE_VDSO) {
		open_vdso(file, &own);
		return;
	}
	if (o && o->open)
		fd = o->open(o->open_context, module);
	gus_object_open(&file->object, &file->files->search, &own, fd);
	if (fd >= 0)
		close(fd);
}

static void look_at_machine(struct gus_unwind_file *file)
{
	const struct gus_elf *e = file->object.main;
	const char *ident = e ? elf_getident(e->elf, NULL) : NULL;

	if (file->trouble) {
		file->machine = EM_NONE;
	} else if (!e) {
		file->trouble = file->object.trouble ? file->object.trouble : "it is not at hand";
	} else if (!ident || ident[EI_DATA] != ELFDATA2LSB || ident[EI_CLASS] != ELFCLASS64 ||
		   (e->machine != EM_X86_64 && e->machine != EM_AARCH64)) {
		file->trouble = "its code is of a machine whose stacks are not known, or of 32 bits";
		file->machine = EM_NONE;
	} else {
		file->machine = e->machine;
	}
}

struct gus_unwind_file *gus_unwind_files_get(struct gus_unwind_files *files, const struct gus_module *module)
{
	struct gus_unwind_file *file;
	uint32_t number = number_of(files, module);

	if (number < files->list.n && files->list.v[number])
		return files->list.v[number];
	if (files->list.n > GUS_LIMIT_UNWIND_FILES)
		return files->none;
	while (files->list.n <= number)
		gus_vec_push(&files->list, NULL);
	file = files->list.v[number] = new_file(files, NULL);
	if (module->kind != GUS_MODULE_FILE && module->kind != GUS_MODULE_VDSO) {
		file->trouble = "it is no file";
		return file;
	}
	open_module(file, module);
	look_at_machine(file);
	return file;
}

const char *gus_unwind_file_trouble(const struct gus_unwind_file *file)
{
	return file->trouble;
}

/* Tables. */

/* Sections of debug files are mostly packed. What comes out is as large as the section says, or it is damaged. */
static bool unpack(struct gus_unwind_file *file, struct gus_elf *e, struct table *t, const Elf_Data *data, size_t *size)
{
	struct gus_cursor c = gus_cursor(data->d_buf, data->d_size);
	uint32_t type = gus_cursor_u32(&c);
	uint64_t unpacked;
	uLongf got;

	gus_cursor_u32(&c);
	unpacked = gus_cursor_u64(&c);
	gus_cursor_u64(&c);
	if (c.bad || !unpacked || !gus_elf_charge(e, &e->made, unpacked, "its packed unwind table is too large"))
		return false;
	t->unpacked = gus_alloc((size_t)unpacked);
	got = unpacked;
	if (type == ELFCOMPRESS_ZLIB && uncompress(t->unpacked, &got, c.at, gus_cursor_left(&c)) != Z_OK)
		got = 0;
	else if (type == ZSTD_PACKED)
		got = ZSTD_decompress(t->unpacked, (size_t)unpacked, c.at, gus_cursor_left(&c));
	else if (type != ELFCOMPRESS_ZLIB)
		got = 0;
	*size = (size_t)unpacked;
	if (got != unpacked)
		file->trouble = "its packed unwind table is damaged";
	return got == unpacked;
}

static const char too_large[] = "its unwind table is larger than a file's may be";

static void read_table(struct gus_unwind_file *file, struct gus_elf *e, struct table *t, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *scn = e ? gus_elf_section(e, name, &header) : NULL;
	bool may = scn && gus_budget_charge(&file->files->looked, header.sh_size);
	Elf_Data *data = may ? gus_elf_raw(e, scn) : NULL;
	bool is_packed = data && (header.sh_flags & SHF_COMPRESSED);
	const void *bytes = data ? data->d_buf : NULL;
	size_t size = data ? data->d_size : 0;

	if (scn && !may)
		file->trouble = too_large;
	if (!data || (is_packed && !unpack(file, e, t, data, &size)))
		return;
	if (is_packed)
		bytes = t->unpacked;
	gus_cfi_open(&t->cfi, bytes, size, header.sh_addr, name[1] == 'd', file->machine, &e->work, &e->made);
	gus_budget_charge(&file->files->total, t->cfi.entries.n * sizeof(*t->cfi.entries.v));
	if (t->cfi.cut)
		file->trouble = too_large;
}

static struct table *table_of(struct gus_unwind_file *file, unsigned which)
{
	struct table *t = &file->tables[which];

	if (t->sought)
		return t;
	t->sought = true;
	if (which == EH_FRAME)
		read_table(file, file->object.main, t, ".eh_frame");
	else if (which == DEBUG_FRAME)
		read_table(file, file->object.main, t, ".debug_frame");
	else
		read_table(file, gus_object_debug(&file->object, &file->files->search), t, ".debug_frame");
	return t;
}

/* Rules. */

/* The code around an offset, `before` bytes of it and `after`; NULL if there is none. */
static const uint8_t *code_at(struct gus_unwind_file *file, uint64_t offset, size_t *before, size_t *after)
{
	struct gus_elf *e = file->object.main;
	uint64_t left = offset < e->size ? e->size - offset : 0;

	*before = offset < GUS_RULE_CODE ? (size_t)offset : GUS_RULE_CODE;
	*after = left < GUS_RULE_CODE ? (size_t)left : GUS_RULE_CODE;
	return *after && gus_elf_load(e, offset - *before, *before + *after) ? e->bytes + offset : NULL;
}

/* Go's compiler keeps frame pointers in all it makes and does not say so in its tables, which count from sp. */
static bool is_go(const struct gus_unwind_file *file)
{
	GElf_Shdr header;

	return gus_elf_section(file->object.main, ".gopclntab", &header) != NULL;
}

static unsigned which_table(struct gus_unwind_file *file, uint64_t address)
{
	unsigned which = 0;

	while (which < TABLES && !gus_cfi_has(&table_of(file, which)->cfi, address))
		which++;
	return which;
}

const struct gus_cfi *gus_unwind_file_cfi(struct gus_unwind_file *file, uint64_t offset, uint64_t *address)
{
	unsigned which;

	if (file->machine == EM_NONE || !gus_elf_address(file->object.main, offset, address))
		return NULL;
	which = which_table(file, *address);
	return which < TABLES ? &file->tables[which].cfi : NULL;
}

/* Code is looked at where the table may not know what it does: where there is none, in .debug_frame, where Go's own has
 * no mark of a signal's frame, nor of a change of stacks, and on arm64, where the kernel's describes its frame record,
 * which lacks the address that was interrupted. */
static bool may_be_known(const struct gus_unwind_file *file, enum gus_cfi_found found, unsigned which)
{
	return found == GUS_CFI_NONE || which != EH_FRAME || file->machine == EM_AARCH64;
}

/* What is known by its code, where that counts for more than the table. */
static bool recognise(struct gus_unwind_file *file, uint64_t offset, bool exact, enum gus_cfi_found found,
		      struct gus_rule *rule)
{
	size_t before, after;
	const uint8_t *code = code_at(file, offset, &before, &after);

	if (!code)
		return false;
	if (file->machine == EM_X86_64 && gus_rule_recognise_go(rule, code, before, after) && is_go(file))
		return true;
	return gus_rule_recognise(rule, file->machine, code, before, after) &&
	       (rule->signal || (exact && found == GUS_CFI_NONE));
}

/* The rule by the table that has the address; false if the budget ended. */
static bool make_by_table(struct gus_unwind_file *file, unsigned which, uint64_t address, struct gus_budget *steps,
			  enum gus_cfi_found *found, struct gus_rule *rule)
{
	struct gus_cfi_row row;

	*rule = (struct gus_rule){ .kind = GUS_RULE_NONE };
	*found = which < TABLES ? gus_cfi_row(&file->tables[which].cfi, address, steps, &row) : GUS_CFI_NONE;
	if (*found == GUS_CFI_FOUND)
		gus_rule_make(rule, &row, which);
	else if (*found == GUS_CFI_BAD)
		rule->kind = GUS_RULE_BAD;
	return *found != GUS_CFI_WORK;
}

/* The C library ends its table before the system call of clone, since behind it there are two threads. What held before
 * holds on for the one that called. */
static bool make_behind_clone(struct gus_unwind_file *file, uint64_t offset, uint64_t address,
			      struct gus_budget *steps, struct gus_rule *rule)
{
	size_t before, after;
	const uint8_t *code = code_at(file, offset, &before, &after);
	int back = code ? gus_rule_call_before(file->machine, code, before, after) : -1;
	enum gus_cfi_found found = GUS_CFI_NONE;

	if (back >= 0) {
		uint64_t last = address - (uint64_t)back - 1;

		if (!make_by_table(file, which_table(file, last), last, steps, &found, rule))
			return false;
	}
	rule->forks = rule->kind == GUS_RULE_STEP;
	return true;
}

/* Where a call returns to no table may have what is before, which made the call, and one begin with what follows. That
 * was not called: makecontext writes such an address on the stack that it makes. */
static bool make_without_table(struct gus_unwind_file *file, uint64_t offset, uint64_t address, bool exact,
			       struct gus_budget *steps, struct gus_rule *rule)
{
	if (exact)
		return make_behind_clone(file, offset, address, steps, rule);
	if (which_table(file, address + 1) < TABLES)
		gus_rule_make_first(rule, file->machine);
	return true;
}

static bool make_rule(struct gus_unwind_file *file, uint64_t offset, bool exact, struct gus_budget *steps,
		      struct gus_rule *rule)
{
	enum gus_cfi_found found;
	uint64_t address = 0;
	unsigned which = TABLES;
	struct gus_rule known;
	bool is_mapped;

	/* Behind a call there may be another function, or nothing at all: what called ends before it. */
	is_mapped = gus_elf_address(file->object.main, exact ? offset : offset - 1, &address);
	if (is_mapped)
		which = which_table(file, address);
	if (!make_by_table(file, which, address, steps, &found, rule))
		return false;
	if (may_be_known(file, found, which) && recognise(file, offset, exact, found, &known)) {
		*rule = known;
		return true;
	}
	return found != GUS_CFI_NONE || !is_mapped || make_without_table(file, offset, address, exact, steps, rule);
}

/* Keeping them. */

static uint32_t slot_of(const struct gus_unwind_file *file, uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (file->kept_room - 1);
}

static void forget_all(struct gus_unwind_file *file)
{
	memset(file->kept, 0, file->kept_room * sizeof(*file->kept));
	gus_strings_free(&file->bytes);
	gus_strings_init(&file->bytes);
	file->places.n = file->rules.n = 0;
}

static void grow_kept(struct gus_unwind_file *file)
{
	uint32_t old_room = file->kept_room;
	struct kept *old = file->kept;

	file->kept_room = old_room ? 2 * old_room : KEPT_FIRST;
	file->kept = gus_zalloc(file->kept_room * sizeof(*file->kept));
	file->replaced = 0;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i].key)
			file->kept[slot_of(file, old[i].key)] = old[i];
	free(old);
}

static uint32_t place_of(struct gus_unwind_file *file, const struct gus_rule *rule)
{
	size_t bytes = gus_rule_bytes(rule), words = (bytes + 7) / 8;
	uint32_t number;

	number = gus_strings_add_n(&file->bytes, (const char *)rule, bytes);
	while (file->places.n <= number) {
		gus_vec_push(&file->places, (uint32_t)file->rules.n);
		gus_vec_reserve(&file->rules, file->rules.n + words);
		memcpy(file->rules.v + file->rules.n, rule, bytes);
		file->rules.n += words;
	}
	return file->places.v[number];
}

static uint32_t keep(struct gus_unwind_file *file, uint64_t key, const struct gus_rule *rule)
{
	struct kept *k;

	if (file->rules.n * sizeof(*file->rules.v) > GUS_LIMIT_UNWIND_RULES)
		forget_all(file);
	if (!file->kept_room || (file->replaced > file->kept_room / 2 && file->kept_room < GUS_LIMIT_UNWIND_KEPT))
		grow_kept(file);
	k = &file->kept[slot_of(file, key)];
	file->replaced += k->key != 0;
	*k = (struct kept){ key, place_of(file, rule) };
	return k->rule;
}

/* A file that takes no more for its frames than others adds nothing to what all have taken, however long it is asked.
 * When all is spent by some, those that hardly take anything are still asked. */
void gus_unwind_file_pay(struct gus_unwind_file *file, uint64_t steps)
{
	struct gus_unwind_files *files = file->files;
	uint64_t may, before = file->beyond;

	file->paid += steps;
	may = files->may_cost.a_frame * file->asked;
	file->beyond = file->paid > may ? file->paid - may : 0;
	files->beyond += file->beyond - before;
	if (file->beyond > files->may_cost.file ||
	    (files->beyond > files->may_cost.all && file->beyond > GUS_LIMIT_UNWIND_LATE_STEPS))
		file->trouble = costly;
}

enum gus_unwind_knows gus_unwind_file_rule(struct gus_unwind_file *file, unsigned machine, uint64_t offset, bool exact,
					   struct gus_budget *steps, const struct gus_rule **rule)
{
	uint64_t key = offset * 2 + exact + 1;
	uint64_t before = steps->left;
	struct gus_rule made;
	const struct kept *k;
	uint32_t place;
	bool done;

	if (file->machine != machine)
		return file->object.main ? GUS_UNWIND_OTHER_MACHINE : GUS_UNWIND_NO_FILE;
	if (file->trouble == costly)
		return GUS_UNWIND_NO_WORK;
	file->asked++;
	k = file->kept_room ? &file->kept[slot_of(file, key)] : NULL;
	if (!k || k->key != key) {
		done = make_rule(file, offset, exact, steps, &made);
		gus_unwind_file_pay(file, before - steps->left);
		if (!done)
			return GUS_UNWIND_NO_WORK;
		place = keep(file, key, &made);
	} else {
		place = k->rule;
	}
	*rule = (const struct gus_rule *)(file->rules.v + place);
	return GUS_UNWIND_RULE;
}

struct gus_cursor gus_unwind_file_expression(const struct gus_unwind_file *file, const struct gus_rule *rule,
					     int32_t value)
{
	const struct gus_cfi *cfi = &file->tables[rule->table].cfi;
	size_t at = (uint32_t)value;
	struct gus_cursor c = gus_cursor(cfi->bytes + at, cfi->size - at);
	uint64_t size = gus_cursor_varint(&c);

	/* Its end was looked at when its entry was read. */
	return gus_cursor(c.at, (size_t)size);
}

/* Frame pointers. */

struct seen { unsigned framed, pointed; };

/* A function that never moves its stack pointer says nothing: leaves without frames are everywhere. */
static void look_at_function(const struct gus_unwind_file *file, const struct gus_cfi *cfi,
			     const struct gus_cfi_entry *entry, struct gus_budget *steps, struct seen *seen)
{
	unsigned fp = file->machine == EM_X86_64 ? 6 : 29, rows = 0;
	bool framed = false, pointed = false;
	struct gus_cfi_row row, first;

	if (gus_cfi_row(cfi, entry->low, steps, &first) != GUS_CFI_FOUND || first.cfa.how != GUS_CFI_VALUE)
		return;
	for (uint64_t at = first.high; at < entry->low + entry->size && rows++ < FUNCTION_ROWS; at = row.high) {
		if (gus_cfi_row(cfi, at, steps, &row) != GUS_CFI_FOUND || row.high <= at)
			break;
		framed |= row.cfa.how != GUS_CFI_VALUE || row.cfa.value != first.cfa.value ||
			  row.cfa_register != first.cfa_register;
		/* arm64's code addresses its frame by sp and keeps x29 beside it: [x29] is the caller's x29. */
		pointed |= row.cfa.how == GUS_CFI_VALUE && row.cfa_register == fp;
		pointed |= file->machine == EM_AARCH64 && row.registers[fp].how == GUS_CFI_AT;
	}
	seen->framed += framed;
	seen->pointed += framed && pointed;
}

double gus_unwind_file_frame_pointers(struct gus_unwind_file *file)
{
	struct gus_budget steps = { .left = GUS_LIMIT_UNWIND_SURVEY };
	struct seen seen = { 0 };

	if (file->machine == EM_NONE)
		return -1;
	if (is_go(file))
		return 1;
	for (unsigned which = 0; which < TABLES && !seen.framed; which++) {
		const struct gus_cfi *cfi = &table_of(file, which)->cfi;

		for (size_t i = 0; i < cfi->entries.n && i < FUNCTIONS_LOOKED_AT && !steps.cut; i++)
			look_at_function(file, cfi, &cfi->entries.v[i], &steps, &seen);
	}
	return seen.framed ? (double)seen.pointed / seen.framed : -1;
}
