/* SPDX-License-Identifier: MIT */
#include "cli/uarch_import.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/uarch_load.h"
#include "cli/verbs.h"
#include "model/uops.h"

#define INPUT_MAX ((size_t)2 << 30) /* the file of all CPUs is a tenth of that */

static char *read_all(const char *path, size_t *size, struct gus_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *f = standard ? stdin : fopen(path, "re");
	struct gus_vec(char) bytes = { 0 };
	size_t got;

	if (!f) {
		gus_fail_errno(err, errno, "cannot open the measurements %s", path);
		return NULL;
	}
	do {
		gus_vec_reserve(&bytes, bytes.n + (1 << 20));
		got = fread(bytes.v + bytes.n, 1, 1 << 20, f);
		bytes.n += got;
	} while (got && bytes.n < INPUT_MAX);
	if (ferror(f) || bytes.n >= INPUT_MAX) {
		if (ferror(f))
			gus_fail_errno(err, errno, "cannot read the measurements %s", path);
		else
			gus_fail(err, GUS_E_CORRUPT, "cannot import %s: it is too long for measurements", path);
		gus_vec_free(&bytes);
	}
	if (!standard)
		fclose(f);
	*size = bytes.n;
	return bytes.v;
}

/* "MTL-P" becomes mtl-p-measured, which is a name in tables. */
static char *name_of(const char *arch)
{
	char *name = gus_format("%s-measured", arch);

	for (char *at = name; *at; at++)
		*at = isalnum((unsigned char)*at) || *at == '-' ? (char)tolower((unsigned char)*at) : '_';
	return name;
}

int gus_uarch_import(const char *path, const char *arch, const char *base, const char *name, unsigned flags)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = NULL;
	char *own = NULL, *text = NULL, *table = NULL;
	size_t size;

	if (!arch) {
		fprintf(stderr, "gusprof: uarch import needs --arch NAME, as the measurements call the CPU (SKL, ZEN3)\n");
		return GUS_EXIT_USAGE;
	}
	own = name ? NULL : name_of(arch);
	u = gus_uarch_load(base ? base : arch, flags, &err);
	text = u ? read_all(path, &size, &err) : NULL;
	table = text ? gus_uops_table(text, size, arch, name ? name : own, u, &err) : NULL;
	if (table)
		fputs(table, stdout);
	else
		gus_complain(&err);
	free(table);
	free(text);
	free(own);
	gus_uarch_free(u);
	if (table)
		return 0;
	return !u && err.code == GUS_E_NOT_FOUND ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}
