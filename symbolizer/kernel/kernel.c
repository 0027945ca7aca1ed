/* SPDX-License-Identifier: MIT */
#include "symbolizer/kernel/kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign_file.h"
#include "base/limits.h"
#include "base/notes.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/kernel/kallsyms.h"

#define PAGE 4096u

struct text gus_vec(char);

/* A file of /proc, whose size is known only when it has been read, or a copy of one in a folder that may hold anything:
 * a FIFO is none, nor a device. False, with errno, if that failed. */
static bool read_file(const char *path, struct text *text)
{
	int fd = gus_foreign_open(path, NULL, NULL, NULL);
	ssize_t got;
	int why;

	if (fd < 0)
		return false;
	do {
		gus_vec_reserve(text, text->n + 65536);
		got = read(fd, text->v + text->n, text->room - text->n);
		if (got > 0)
			text->n += (size_t)got;
	} while ((got > 0 && text->n <= GUS_LIMIT_PROC_FILE) || (got < 0 && errno == EINTR));
	why = got > 0 ? EFBIG : errno;
	close(fd);
	errno = why;
	return got == 0;
}

static void note_failure(struct gus_kernel *k, const struct gus_error *why)
{
	if (gus_error_is_transient(why) && !k->failure.code)
		k->failure = *why;
}

static bool is_same_boot(struct gus_kernel *k, const char *boot_id)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	struct text text = { 0 };
	struct gus_error why = { 0 };
	size_t length = boot_id ? strlen(boot_id) : 0;
	bool same = false;

	if (length && !read_file(path, &text)) {
		gus_fail_errno(&why, errno, "cannot read %s", path);
		note_failure(k, &why);
	} else if (length) {
		same = text.n >= length && memcmp(text.v, boot_id, length) == 0 &&
		       (text.n == length || text.v[length] == '\n');
	}
	gus_vec_free(&text);
	return same;
}

void gus_kernel_init(struct gus_kernel *k, const char *boot_id)
{
	memset(k, 0, sizeof(*k));
	gus_functions_init(&k->recorded);
	gus_functions_init(&k->live);
	k->code.fd = -1;
	k->kallsyms = "/proc/kallsyms";
	k->kcore = "/proc/kcore";
	k->notes = "/sys/kernel/notes";
	k->same_boot = is_same_boot(k, boot_id);
}

void gus_kernel_free(struct gus_kernel *k)
{
	gus_functions_free(&k->recorded);
	gus_functions_free(&k->live);
	free(k->build_id);
	free(k->kept);
	free(k->anchor);
	free(k->refusal);
	free(k->trouble);
	gus_kcore_close(&k->code);
	free(k->code_trouble);
}

static const char *intern(struct gus_functions *f, const char *name, size_t length)
{
	return gus_strings_get(&f->names, gus_strings_add_n(&f->names, name, length));
}

void gus_kernel_add(struct gus_kernel *k, const Gusprof__KernelSymbols *symbols)
{
	for (size_t i = 0; i < symbols->n_symbols; i++) {
		const Gusprof__Symbol *s = symbols->symbols[i];
		uint64_t end;

		if (!s->name || !*s->name || __builtin_add_overflow(s->address, s->size, &end))
			continue;
		gus_functions_add(&k->recorded, &(struct gus_function){
			.low = s->address, .high = end, .limit = (s->address | (PAGE - 1)) + PAGE + 1,
			.name = intern(&k->recorded, s->name, strlen(s->name)), .global = true });
	}
	if (symbols->refusal && *symbols->refusal && !k->refusal)
		k->refusal = gus_strdup(symbols->refusal);
}

void gus_kernel_known(struct gus_kernel *k, const uint8_t *build_id, size_t size, const char *kept)
{
	free(k->build_id);
	free(k->kept);
	k->build_id = gus_alloc(size);
	memcpy(k->build_id, build_id, size);
	k->build_id_size = size;
	k->kept = kept ? gus_strdup(kept) : NULL;
}

void gus_kernel_lay(struct gus_kernel *k, const char *symbol, uint64_t address, uint64_t end)
{
	free(k->anchor);
	k->anchor = gus_strdup(symbol);
	k->anchor_address = address;
	k->end = end;
}

/* A symbol lasts to the next one; the last one of the kernel or of a module must not last to the next module, so it
 * ends with the page behind its own. A kernel that lay elsewhere is moved as a whole; its modules are not with it. */
static void take(struct gus_functions *f, const struct gus_kallsyms *all, uint64_t moved)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct gus_kallsym *s = &all->list.v[i], *next = i + 1 < all->list.n ? s + 1 : NULL;
		bool last = !next || next->module_length != s->module_length ||
			    (s->module_length && memcmp(next->module, s->module, s->module_length) != 0);
		uint64_t low = s->address + moved;

		if (moved && s->module_length)
			continue;
		gus_functions_add(f, &(struct gus_function){
			.low = low, .high = low, .limit = last ? (low | (PAGE - 1)) + PAGE + 1 : 0,
			.name = intern(f, s->name, s->name_length), .weak = s->weak, .global = s->global });
	}
}

/* The address that the symbol has there; false if it is none of them. */
static bool find_anchor(const struct gus_kallsyms *all, const char *symbol, uint64_t *address)
{
	size_t length = strlen(symbol);

	for (size_t i = 0; i < all->list.n; i++) {
		const struct gus_kallsym *s = &all->list.v[i];

		if (!s->module_length && s->name_length == length && memcmp(s->name, symbol, length) == 0) {
			*address = s->address;
			return true;
		}
	}
	return false;
}

/* Whether a line of the text gives that name that address: also of data, which is no function. */
static bool gives(const struct text *text, const char *name, uint64_t address)
{
	char *tail = gus_format(" %s\n", name), head[24];
	const char *at = text->v, *end = text->v + text->n, *found;
	bool same = false;

	snprintf(head, sizeof(head), "%016" PRIx64 " ", address);
	while (!same && (found = memmem(at, (size_t)(end - at), tail, strlen(tail)))) {
		same = found - text->v >= 18 && memcmp(found - 18, head, 17) == 0;
		at = found + 1;
	}
	free(tail);
	return same;
}

/* Where a kernel begins is no evidence by itself: where addresses are not random, all do at the same one. It ends, as
 * perf writes it, behind its data, or behind its code where only names of code are told. */
static bool has_end(const struct gus_kernel *k, const struct text *text)
{
	return gives(text, "_edata", k->end) || gives(text, "_etext", k->end);
}

/* How a text with a kernel's names is believed: as it is; moved to where the anchor lay; only if that lies there; only
 * if the end does so, too. */
enum belief { AS_IT_IS, MOVED, UNMOVED, UNMOVED_AND_ENDS };

static const char nowhere[] = "the recording has no kernel symbols, and nothing says which kernel it was";

/* Names from a text like /proc/kallsyms. Returns why there are none, which the caller frees, or NULL. */
static char *read_names(struct gus_kernel *k, const char *path, enum belief belief)
{
	struct text text = { 0 };
	struct gus_error why = { 0 };
	struct gus_kallsyms all = { 0 };
	uint64_t address = 0;
	char *trouble = NULL;

	if (!read_file(path, &text)) {
		gus_fail_errno(&why, errno, "cannot read kernel symbols from %s", path);
		note_failure(k, &why);
		gus_vec_free(&text);
		return gus_strdup(why.text);
	}
	gus_kallsyms_parse(&all, text.v, text.n);
	if (all.hidden && path == k->kallsyms)
		trouble = gus_strdup("kernel addresses are hidden: kernel.kptr_restrict is in force; run as root, or "
				     "set it to 0 with sysctl");
	else if (all.hidden)
		trouble = gus_format("cannot read kernel symbols from %s: all their addresses are 0, as who may not "
				     "see them has them in /proc/kallsyms", path);
	else if (!all.list.n)
		trouble = gus_format("cannot read kernel symbols from %s: it lists no functions", path);
	else if (belief != AS_IT_IS && !find_anchor(&all, k->anchor, &address))
		trouble = gus_format("%s does not say where %s is, by which the recording tells where its kernel lay",
				     path, k->anchor);
	else if (belief == UNMOVED_AND_ENDS && (address != k->anchor_address || !has_end(k, &text)))
		trouble = gus_strdup(nowhere);
	else if (belief == UNMOVED && address != k->anchor_address)
		trouble = gus_strdup("the recording has no build id of its kernel, which lay elsewhere than this one");
	else
		take(&k->live, &all, belief == MOVED ? k->anchor_address - address : 0);
	gus_kallsyms_free(&all);
	gus_vec_free(&text);
	return trouble;
}

/* Whether the running kernel is of the build that was recorded: the notes of both say so. As a whole, as a recording
 * may say a byte or two, which would be found in any notes. */
static bool is_same_build(struct gus_kernel *k)
{
	struct text text = { 0 };
	const uint8_t *id;
	size_t size = 0;
	bool same = false;

	if (read_file(k->notes, &text)) {
		id = gus_notes_build_id(text.v, text.n, &size);
		same = gus_build_id_equal(id, size, k->build_id, k->build_id_size);
	}
	gus_vec_free(&text);
	return same;
}

/* Of a kernel whose boot nobody knows: first what was kept, which is of the time of some recording of that kernel, and
 * so has the modules of then. */
static char *read_by_build(struct gus_kernel *k)
{
	char *trouble = NULL;

	if (k->anchor && !k->build_id_size && k->same_release)
		return read_names(k, k->kallsyms, UNMOVED);
	if (!k->build_id_size && k->nowhere)
		return k->anchor ? read_names(k, k->kallsyms, UNMOVED_AND_ENDS) : gus_strdup(nowhere);
	if (!k->build_id_size || !k->anchor)
		return gus_strdup("the recording has no kernel symbols, and it is of another boot than this one");
	if (k->kept && access(k->kept, F_OK) == 0)
		trouble = read_names(k, k->kept, MOVED);
	if (k->live.list.n)
		return NULL;
	if (is_same_build(k)) {
		free(trouble);
		trouble = read_names(k, k->kallsyms, MOVED);
	}
	return trouble || k->live.list.n ? trouble :
		gus_strdup("the recording has no kernel symbols, and it is of another kernel than this one");
}

/* Moved, as perf does it, where the recording says to where; else the user knows that the file is of that boot. */
static char *read_given(struct gus_kernel *k)
{
	char *trouble = read_names(k, k->given, k->anchor ? MOVED : AS_IT_IS);

	if (trouble && !k->failure.code)
		gus_fail(&k->failure, GUS_E_NOT_FOUND, "%s", trouble);
	return trouble;
}

static void read_live(struct gus_kernel *k)
{
	k->sought = true;
	k->trouble = k->given ? read_given(k) : k->same_boot ? read_names(k, k->kallsyms, AS_IT_IS) : read_by_build(k);
	gus_functions_ready(&k->live);
}

struct gus_function *gus_kernel_find(struct gus_kernel *k, uint64_t address, struct gus_functions **table)
{
	struct gus_function *found;

	if (!k->recorded.ready)
		gus_functions_ready(&k->recorded);
	*table = &k->recorded;
	found = gus_functions_find(&k->recorded, address);
	if (found)
		return found;
	if (!k->sought)
		read_live(k);
	*table = &k->live;
	return gus_functions_find(&k->live, address);
}

const char *gus_kernel_trouble(struct gus_kernel *k)
{
	if (k->recorded.list.n)
		return NULL;
	if (!k->sought)
		read_live(k);
	if (!k->trouble)
		return NULL;
	return k->refusal ? k->refusal : k->trouble;
}

/* Names may be of a copy, or moved: so it is asked anew where it lies. */
static bool lies_as_recorded(const struct gus_kernel *k)
{
	struct gus_kallsyms all = { 0 };
	struct text text = { 0 };
	uint64_t address = 0;
	bool lies = false;

	if (read_file(k->kallsyms, &text)) {
		gus_kallsyms_parse(&all, text.v, text.n);
		lies = find_anchor(&all, k->anchor, &address) && address == k->anchor_address &&
		       (k->build_id_size || k->same_release || has_end(k, &text));
	}
	gus_kallsyms_free(&all);
	gus_vec_free(&text);
	return lies;
}

bool gus_kernel_runs(struct gus_kernel *k)
{
	if (!k->judged && !k->same_boot)
		k->running = k->anchor && (k->build_id_size ? is_same_build(k) : k->same_release || k->nowhere) &&
			     lies_as_recorded(k);
	k->judged = true;
	return k->same_boot || k->running;
}

static void open_code(struct gus_kernel *k)
{
	struct gus_error err = { 0 };

	if (k->code_sought)
		return;
	k->code_sought = true;
	if (!gus_kernel_runs(k))
		k->code_trouble = gus_format("the recording has no copy of the kernel's code, and %s", k->nowhere &&
					     !k->build_id_size ? "nothing says which kernel it was" :
					     "it is of another boot than this one");
	else if (gus_kcore_open(&k->code, k->kcore, &err) != 0) {
		note_failure(k, &err);
		k->code_trouble = gus_format("%s%s", err.text, err.code == GUS_E_PERMISSION ? "; run as root" :
					     err.code == GUS_E_NOT_FOUND ? "; this kernel was built without it" : "");
	}
}

size_t gus_kernel_code(struct gus_kernel *k, uint64_t address, void *out, size_t size, unsigned *machine)
{
	open_code(k);
	*machine = k->code.machine;
	return gus_kcore_read(&k->code, address, out, size);
}

const char *gus_kernel_code_trouble(struct gus_kernel *k)
{
	open_code(k);
	return k->code_trouble;
}
