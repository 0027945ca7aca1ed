/* SPDX-License-Identifier: MIT */
#include "cli/uarch/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/uarch_load.h"
#include "model/tables/uops.h"

/* "MTL-P" becomes mtl-p-measured, which is a name in tables. */
static char *name_of(const char *arch)
{
	char *name = gus_format("%s-measured", arch);

	for (char *at = name; *at; at++)
		*at = isalnum((unsigned char)*at) || *at == '-' ? (char)tolower((unsigned char)*at) : '_';
	return name;
}

static void print_lines(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		gus_print("%.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

int gus_uarch_import(const char *path, const char *arch, const char *base, const char *name, unsigned flags)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = NULL;
	char *own = NULL, *text = NULL, *table = NULL;
	size_t size;

	own = name ? NULL : name_of(arch);
	u = gus_uarch_load(base ? base : arch, flags, &err);
	text = u ? gus_uarch_read(path, "the measurements", GUS_LIMIT_IMPORT_FILE, &size, &err) : NULL;
	table = text ? gus_uops_table(text, size, arch, name ? name : own, u, &err) : NULL;
	if (table)
		print_lines(table);
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
