/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over its corpus without a fuzzer: what was found once is a test for ever. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#ifndef CORPUS
#define CORPUS "corpus-recording"       /* the folder beside this file, unless the makefile names another */
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long size;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
		perror(path);
		return -1;
	}
	rewind(f);
	bytes = gus_alloc((size_t)size);
	if (fread(bytes, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		return -1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	const char *root = getenv("GUS_SRCDIR");
	char *dir = argc > 1 ? gus_strdup(argv[1]) : gus_format("%s/tests/fuzz/" CORPUS, root ? root : ".");
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	if (!d) {
		perror(dir);
		return 1;
	}
	while ((entry = readdir(d))) {
		char *path = gus_format("%s/%s", dir, entry->d_name);

		if (entry->d_name[0] != '.') {
			if (run_file(path) != 0)
				return 1;
			n++;
		}
		free(path);
	}
	closedir(d);
	free(dir);
	printf("%u inputs\n", n);
	return n ? 0 : 1; /* an empty corpus tests nothing */
}
