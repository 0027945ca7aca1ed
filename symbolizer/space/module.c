/* SPDX-License-Identifier: MIT */
#include "symbolizer/space/module.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/index.h"
#include "base/path.h"
#include "proto/varint.h"

/* The kernel's names for memory that no file stands behind; where `prefix`, anything may follow. */
static const struct {
	const char *name;
	bool prefix;
} no_file[] = {
	{ "", false },          { "//anon", true },   { "[", true },     { "/dev/zero", true },
	{ "/anon_hugepage", true }, { "/memfd:", true }, { "/SYSV", true },
};

enum gus_module_kind gus_module_kind_of(const char *path)
{
	if (strcmp(path, "[vdso]") == 0)
		return GUS_MODULE_VDSO;
	for (size_t i = 0; i < sizeof(no_file) / sizeof(*no_file); i++)
		if (no_file[i].prefix ? strncmp(path, no_file[i].name, strlen(no_file[i].name)) == 0
				      : strcmp(path, no_file[i].name) == 0)
			return GUS_MODULE_ANON;
	return GUS_MODULE_FILE;
}

/* An executed memfd that is an ELF file with a build id is a program like any other; else it is a runtime's memory. */
enum gus_module_kind gus_module_kind_with(const char *path, size_t build_id_size)
{
	if (build_id_size && strncmp(path, "/memfd:", strlen("/memfd:")) == 0)
		return GUS_MODULE_FILE;
	return gus_module_kind_of(path);
}

/* As kmod_path__parse of tools/perf/util/dso.c: the name that the kernel itself has for it, in which a dash cannot be.
 * The kernel's own mapping is "[kernel.kallsyms]_text", with many a suffix, and may go over all of its modules. */
char *gus_module_of_kernel(const char *path)
{
	const char *base = gus_base_name(path), *end = strstr(base, ".ko");
	char *name;

	if (!*path || strncmp(path, "[kernel", 7) == 0 || strncmp(path, "[guest", 6) == 0)
		return NULL;
	while (end && end[3] && end[3] != '.')
		end = strstr(end + 1, ".ko");
	if (!end || end == base)
		return gus_strdup(path);
	name = gus_format("[%.*s]", (int)(end - base), base);
	for (char *at = name; *at; at++)
		*at = *at == '-' ? '_' : *at;
	return name;
}

bool gus_module_is_called(const struct gus_module *m, const char *name)
{
	const char *slash = strrchr(m->path, '/');

	return strcmp(m->path, name) == 0 || (slash && strcmp(slash + 1, name) == 0) ||
	       (strcmp(m->path, GUS_MODULE_KERNEL_ITSELF) == 0 && strcmp(name, GUS_MODULE_KERNEL_OF_PERF) == 0);
}

const char *gus_module_path(const Gusprof__Mmap *m)
{
	return m->path && *m->path ? m->path : "//anon";
}

/* What two mappings must share to be of one module: the path, and the build id where the kernel gave one, else the
 * inode, which tells a file from the one that replaced it under the same name. */
uint32_t gus_module_identify(struct gus_strings *identities, const Gusprof__Mmap *m)
{
	const char *path = gus_module_path(m);
	struct gus_bytes key = { 0 };
	uint32_t number;

	gus_vec_append(&key, (const uint8_t *)path, strlen(path) + 1);
	if (m->build_id.len) {
		gus_vec_append(&key, m->build_id.data, m->build_id.len);
	} else if (gus_module_kind_of(path) == GUS_MODULE_FILE) {
		const uint64_t inode[] = { m->major, m->minor, m->inode, m->generation };

		gus_vec_append(&key, (const uint8_t *)"\0inode", 6);
		gus_vec_append(&key, (const uint8_t *)inode, sizeof(inode));
	}
	number = gus_strings_add_n(identities, (const char *)key.v, key.n);
	gus_vec_free(&key);
	return number;
}
