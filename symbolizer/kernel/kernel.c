/* SPDX-License-Identifier: MIT */
#include "symbolizer/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "symbolizer/kernel/kallsyms.h"

#define PAGE 4096u

struct text gus_vec(char);

/* A file of /proc, whose size is known only when it has been read. False, with errno, if that failed. */
static bool read_file(const char *path, struct text *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int why;

	if (fd < 0)
		return false;
	do {
		gus_vec_reserve(text, text->n + 65536);
		got = read(fd, text->v + text->n, text->room - text->n);
		if (got > 0)
			text->n += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	why = errno;
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
	k->same_boot = is_same_boot(k, boot_id);
}

void gus_kernel_free(struct gus_kernel *k)
{
	gus_functions_free(&k->recorded);
	gus_functions_free(&k->live);
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

/* A symbol lasts to the next one; the last one of the kernel or of a module must not last to the next module, so it
 * ends with the page behind its own. */
static void take(struct gus_functions *f, const struct gus_kallsyms *all)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct gus_kallsym *s = &all->list.v[i], *next = i + 1 < all->list.n ? s + 1 : NULL;
		bool last = !next || next->module_length != s->module_length ||
			    (s->module_length && memcmp(next->module, s->module, s->module_length) != 0);

		gus_functions_add(f, &(struct gus_function){
			.low = s->address, .high = s->address, .limit = last ? (s->address | (PAGE - 1)) + PAGE + 1 : 0,
			.name = intern(f, s->name, s->name_length), .weak = s->weak, .global = s->global });
	}
}

static void read_live(struct gus_kernel *k)
{
	struct text text = { 0 };
	struct gus_error why = { 0 };
	struct gus_kallsyms all;

	k->sought = true;
	if (!k->same_boot) {
		k->trouble = gus_strdup("the recording has no kernel symbols, and it is of another boot than this one");
		return;
	}
	if (!read_file(k->kallsyms, &text)) {
		gus_fail_errno(&why, errno, "cannot read kernel symbols from %s", k->kallsyms);
		note_failure(k, &why);
		k->trouble = gus_strdup(why.text);
		gus_vec_free(&text);
		return;
	}
	gus_kallsyms_parse(&all, text.v, text.n);
	if (all.hidden)
		k->trouble = gus_strdup("kernel addresses are hidden: kernel.kptr_restrict is in force; run as root, "
					"or "
					"set it to 0 with sysctl");
	else if (!all.list.n)
		k->trouble = gus_format("cannot read kernel symbols from %s: it lists no functions", k->kallsyms);
	else
		take(&k->live, &all);
	gus_kallsyms_free(&all);
	gus_vec_free(&text);
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

static void open_code(struct gus_kernel *k)
{
	struct gus_error err = { 0 };

	if (k->code_sought)
		return;
	k->code_sought = true;
	if (!k->same_boot)
		k->code_trouble = gus_strdup("the recording has no copy of the kernel's code, and it is of another "
					     "boot than this "
					     "one");
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
