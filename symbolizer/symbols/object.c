/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/path.h"
#include "symbolizer/symbols/fetch.h"

static const char deleted[] = " (deleted)";

static bool is_recorded(const struct gus_object *o, const struct gus_elf *e)
{
	return gus_build_id_equal(e->build_id, e->build_id_size, o->build_id, o->build_id_size);
}

static uint64_t in_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* jitted-PID-N.so, which perf inject makes of a jitdump after the recording, and before it is done with its output. It
 * gives it a generation that it makes up. */
static bool is_injected(const char *path)
{
	const char *name = gus_base_name(path);
	unsigned pid, number;
	int end = 0;

	return sscanf(name, "jitted-%u-%u.so%n", &pid, &number, &end) == 2 && end && !name[end];
}

/* A compiler that writes a program anew is often given the inode that its predecessor had. A link, a chmod or a rename
 * changes the inode's own time and nothing of the file: that counts where no inode says that it is not another one's,
 * which cp -p or mv put there with its old time. */
static bool has_changed(const struct gus_object *o, const struct gus_elf *e, const struct gus_search *search)
{
	uint64_t until = is_injected(o->path) ? 0 : search->recorded_ns;

	if (!until)
		until = search->written_ns;
	if (!until)
		return false;
	return in_ns(&e->stat.st_mtim) > until || (!o->identity.inode && in_ns(&e->stat.st_ctim) > until);
}

/* What lies at the module's path, if it is what was mapped. Without a recorded build id there is only the name to go
 * by, and that is not enough once the kernel has said that the file is deleted. */
static void open_path(struct gus_object *o, const struct gus_search *search, bool was_deleted)
{
	const struct gus_file_identity *identity = o->identity.inode ? &o->identity : NULL;
	struct gus_error err = { 0 };
	struct gus_elf *e;

	if (was_deleted && !o->build_id_size) {
		o->trouble = gus_strdup("its file was deleted, and the recording has no build id to find another copy");
		return;
	}
	if (search->elsewhere && !o->build_id_size && !identity && !*search->symfs) {
		o->trouble = gus_format("%s, and it has no build id to find the same file by", search->nowhere ?
					"nothing says which machine it was recorded on" :
					"it was recorded on another machine");
		return;
	}
	e = gus_search_open(search, o->path, identity, &err);
	if (!e) {
		o->trouble = identity && search->nowhere && err.code == GUS_E_NOT_FOUND ?
			     gus_format("nothing says which machine it was recorded on, and %s", err.text) :
			     gus_strdup(err.text);
		return;
	}
	if (o->build_id_size ? is_recorded(o, e) : *search->symfs || !has_changed(o, e, search)) {
		o->main = e;
		return;
	}
	if (o->build_id_size)
		o->trouble = gus_format("its file changed since the recording: %s has %s build id", o->path,
					e->build_id ? "another" : "no");
	else
		o->trouble = gus_format("its file changed since the recording: %s was written or moved, and has no "
					"build id to tell whether it is the same", o->path);
	gus_elf_close(e);
}

/* What somebody kept open since it was mapped: it is known by that, and by its build id if it has one. */
static bool open_kept(struct gus_object *o, const struct gus_search *search, int fd)
{
	struct gus_elf *e = fd >= 0 ? gus_search_open_fd(search, fd, o->path, NULL) : NULL;

	if (e && (!o->build_id_size || is_recorded(o, e))) {
		o->main = e;
		return true;
	}
	gus_elf_close(e);
	return false;
}

/* Of files that cannot be opened this object is told. */
static struct gus_search search_of(struct gus_object *o, const struct gus_search *search)
{
	struct gus_search own = *search;

	own.refused = &o->refused;
	return own;
}

void gus_object_open(struct gus_object *o, const struct gus_search *search, const struct gus_module *module, int fd)
{
	size_t length = strlen(module->path), suffix = sizeof(deleted) - 1;
	bool was_deleted = length > suffix && strcmp(module->path + length - suffix, deleted) == 0;
	struct gus_search own = search_of(o, search);

	*o = (struct gus_object){ .build_id = module->build_id, .build_id_size = module->build_id_size };
	/* What a user has put under symfs are copies. */
	if (!o->build_id_size && !*search->symfs)
		o->identity = (struct gus_file_identity){ module->inode, module->major, module->minor,
							   is_injected(module->path) ? 0 : module->generation };
	o->path = gus_format("%s%.*s", search->symfs, (int)(was_deleted ? length - suffix : length), module->path);
	if (!open_kept(o, &own, fd))
		open_path(o, &own, was_deleted);
	if (!o->main && o->build_id_size)
		o->main = gus_debugfile_by_id(&own, o->build_id, o->build_id_size, "");
	if (!o->main && o->build_id_size)
		o->main = gus_debugfile_kept(&own, o->build_id, o->build_id_size, "elf");
	if (o->main) {
		free(o->trouble);
		o->trouble = NULL;
	}
}

void gus_object_open_image(struct gus_object *o, const struct gus_module *module, const void *bytes, size_t size)
{
	struct gus_error err = { 0 };

	*o = (struct gus_object){ .build_id = module->build_id, .build_id_size = module->build_id_size };
	o->path = gus_strdup(module->path);
	o->main = gus_elf_copy(module->path, bytes, size, &err);
	if (!o->main)
		o->trouble = gus_strdup(err.text);
}

void gus_object_open_own_vdso(struct gus_object *o, const struct gus_module *module)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* the kernel's number is an address */
	Elf64_Ehdr header;

	*o = (struct gus_object){ 0 };
	if (image)
		memcpy(&header, image, sizeof(header));
	/* The kernel maps the image whole, and its section headers are the last thing in it. */
	if (image && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
		gus_object_open_image(o, module, image,
				      header.e_shoff + (size_t)header.e_shnum * header.e_shentsize);
		return;
	}
	o->path = gus_strdup(module->path);
	o->trouble = gus_strdup("this process has no vdso to read names from");
}

bool gus_object_open_vdso(struct gus_object *o, const struct gus_search *search, const struct gus_module *module)
{
	struct gus_search own;

	gus_object_open_own_vdso(o, module);
	if (o->main && gus_build_id_equal(o->main->build_id, o->main->build_id_size, module->build_id,
					  module->build_id_size))
		return true;
	gus_object_close(o);
	*o = (struct gus_object){ .build_id = module->build_id, .build_id_size = module->build_id_size,
				  .path = gus_strdup(module->path) };
	own = search_of(o, search);
	o->main = gus_debugfile_kept(&own, o->build_id, o->build_id_size, "vdso");
	if (!o->main)
		o->trouble = gus_strdup("the recording has no copy of the vdso, and this kernel's is another one");
	return o->main;
}

void gus_object_close(struct gus_object *o)
{
	gus_elf_close(o->main);
	gus_elf_close(o->debug);
	gus_elf_close(o->shared);
	free(o->path);
	free(o->trouble);
}

/* What a server has is ours to read; that it is what was asked for is looked at all the same. */
static struct gus_elf *fetch_debug(const struct gus_object *o, const struct gus_search *search)
{
	char *path = o->fetch->find(o->path, o->build_id, o->build_id_size, o->fetch->context);
	struct gus_search ours = *search;
	struct gus_elf *e;

	ours.rights = NULL;
	e = path ? gus_search_open(&ours, path, NULL, NULL) : NULL;
	free(path);
	if (!e || is_recorded(o, e))
		return e;
	gus_elf_close(e);
	return NULL;
}

struct gus_elf *gus_object_debug(struct gus_object *o, const struct gus_search *search)
{
	struct gus_search own = search_of(o, search);

	if (o->debug_sought)
		return o->debug;
	o->debug_sought = true;
	if (o->main)
		o->debug = gus_debugfile_of(&own, o->main, o->path + strlen(search->symfs));
	else if (o->build_id_size)
		o->debug = gus_debugfile_by_id(&own, o->build_id, o->build_id_size, ".debug");
	if (!o->debug && o->build_id_size)
		o->debug = gus_debugfile_kept(&own, o->build_id, o->build_id_size, "debug");
	if (!o->debug && o->fetch && o->build_id_size)
		o->debug = fetch_debug(o, &own);
	return o->debug;
}

static bool has_dwarf(const struct gus_elf *e)
{
	static const char *const names[] = { ".debug_info", ".zdebug_info" };
	GElf_Shdr header;

	for (size_t i = 0; e && i < sizeof(names) / sizeof(*names); i++)
		if (gus_elf_section(e, names[i], &header) && header.sh_type != SHT_NOBITS)
			return true;
	return false;
}

struct gus_elf *gus_object_dwarf(struct gus_object *o, const struct gus_search *search)
{
	struct gus_elf *holder = has_dwarf(o->main) ? o->main : gus_object_debug(o, search);
	struct gus_search own = search_of(o, search);

	if (!has_dwarf(holder))
		return NULL;
	if (!o->shared_sought) {
		o->shared_sought = true;
		o->shared = gus_debugfile_shared(&own, holder);
	}
	return holder;
}

const char *gus_object_cut(const struct gus_object *o)
{
	const struct gus_elf *const files[] = { o->main, o->debug, o->shared };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i] && files[i]->trouble)
			return files[i]->trouble;
	return NULL;
}

const struct gus_elf *gus_object_code(const struct gus_object *o)
{
	return o->main ? o->main : o->debug;
}
