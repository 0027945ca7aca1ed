/* SPDX-License-Identifier: MIT */
#include "tracing/emulator/find.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "config.h"

/* Where in the build tree the parts lie that an installation has beside each other. */
static const struct { const char *part, *folder; } built[] = {
	{ "gusprof-qemu.so", "tracing/plugin" },
	{ "gusprof-replay", "tracing/replay" },
};

/* Folders may be executed, too. */
static bool is_program(const char *path)
{
	struct stat s;

	return access(path, X_OK) == 0 && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* Where a program is that has no slash in its name; NULL if nowhere. */
static char *search_path(const char *name, bool relative)
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : "/usr/bin:/bin"; ; at++) {
		size_t length = strcspn(at, ":");
		char *whole = gus_format("%.*s/%s", length ? (int)length : 1, length ? at : ".", name);

		if ((relative || *whole == '/') && is_program(whole))
			return whole;
		free(whole);
		at += length;
		if (!*at)
			return NULL;
	}
}

char *gus_find_command(const char *name)
{
	if (!*name)
		return NULL; /* else it would be the first folder of PATH */
	return strchr(name, '/') ? gus_strdup(name) : search_path(name, true);
}

char *gus_find_tool(const char *name)
{
	if (!*name)
		return NULL;
	return strchr(name, '/') ? gus_strdup(name) : search_path(name, false);
}

/* Beside the program as it was built, or where it was installed. */
char *gus_find_part(const char *name)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path = NULL, *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		for (size_t i = 0; slash && i < sizeof(built) / sizeof(*built); i++) {
			if (strcmp(built[i].part, name) != 0)
				continue;
			path = gus_format("%.*s/%s/%s", (int)(slash - self), self, built[i].folder, name);
			if (access(path, R_OK) == 0)
				return path;
			free(path);
		}
	}
	path = gus_format("%s/%s", PKGLIBDIR, name);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}
