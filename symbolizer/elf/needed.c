/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/needed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbolizer/elf/elffile.h"

#ifdef __aarch64__
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif

/* Where loaders look in the end, Debian's folder of the machine included. */
static const char usual[] = "/lib/" MULTIARCH ":/usr/lib/" MULTIARCH ":/lib64:/usr/lib64:/lib:/usr/lib:"
			    "/usr/local/lib";

void gus_elf_needed(struct gus_elf *e, struct gus_needed *needed)
{
	GElf_Shdr header;
	Elf_Scn *scn = gus_elf_table(e, SHT_DYNAMIC, &header);
	Elf_Data *data = scn ? gus_elf_data(e, scn) : NULL, *strings = data ? gus_elf_strings(e, header.sh_link) : NULL;
	const char *old = NULL;
	GElf_Dyn entry;

	*needed = (struct gus_needed){ 0 };
	for (int i = 0; strings && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *text = NULL;

		if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
			text = gus_elf_string(e, strings, entry.d_un.d_val);
		if (!text || !*text)
			continue;
		if (entry.d_tag == DT_RUNPATH)
			needed->path = text;
		else if (entry.d_tag == DT_RPATH)
			old = text;
		else if (needed->n < GUS_NEEDED_MOST)
			needed->library[needed->n++] = text;
	}
	if (!needed->path)
		needed->path = old;
}

/* A folder of a runpath, in which $ORIGIN is the program's own; the caller frees it. */
static char *folder_of(const char *folder, size_t size, const char *program)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };
	const char *end = strrchr(program, '/');

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if (end && size >= length && memcmp(folder, words[i], length) == 0 &&
		    (size == length || folder[length] == '/'))
			return gus_format("%.*s%.*s", (int)(end - program), program, (int)(size - length),
					  folder + length);
	}
	return gus_strndup(folder, size);
}

/* In the folders of a list with colons between them. */
static char *find_in(const char *list, const char *library, const char *program)
{
	for (const char *at = list; at && *at;) {
		size_t size = strcspn(at, ":");
		char *folder = folder_of(at, size, program), *path = gus_format("%s/%s", folder, library);
		bool is_there = *folder == '/' && access(path, R_OK) == 0;

		free(folder);
		if (is_there)
			return path;
		free(path);
		at += size + (at[size] == ':');
	}
	return NULL;
}

char *gus_needed_find(const char *library, const char *program, const char *runpath, const char *library_path)
{
	const char *const lists[] = { runpath, library_path, usual };
	char *path = NULL;

	if (strchr(library, '/'))
		return *library == '/' ? gus_strdup(library) : NULL;
	for (size_t i = 0; !path && i < sizeof(lists) / sizeof(*lists); i++)
		path = find_in(lists[i], library, program);
	return path;
}
