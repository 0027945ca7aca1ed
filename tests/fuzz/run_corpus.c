/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over its corpus without a fuzzer: what was found once is a test for ever. The program's name is
 * run_NAME or cover_NAME, the corpus lies in corpus-NAME beside this file or in the folder that is given, and no input
 * may take more than the target's row in `targets` says. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/alloc.h"

#if defined(__has_feature)
#define HAS_ASAN __has_feature(address_sanitizer)
#else
#define HAS_ASAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_ASAN
#define SANITIZED 1     /* memory that is freed is kept for a while, and all takes several times as long */
#else
#define SANITIZED 0
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct limits { unsigned ms, mib; };

/* What the inputs took: the longest time, and how far the process grew. */
struct worst {
	double ms;
	char name[256];
	long kib;
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static bool read_limits(const char *root, const char *target, struct limits *limits)
{
	char *path = gus_format("%s/tests/fuzz/targets", root), line[1024], name[64];
	FILE *f = fopen(path, "r");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63s %u %u", name, &limits->ms, &limits->mib) == 3 && strcmp(name, target) == 0;
	if (!found)
		printf("%s has no row for %s\n", path, target);
	if (f)
		fclose(f);
	free(path);
	return found;
}

static int run_file(const char *dir, const char *name, struct worst *worst)
{
	char *path = gus_format("%s/%s", dir, name);
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long size;
	double ms;

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
	ms = cpu_ms();
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	ms = cpu_ms() - ms;
	if (ms > worst->ms) {
		worst->ms = ms;
		snprintf(worst->name, sizeof(worst->name), "%s", name);
	}
	free(bytes);
	free(path);
	return 0;
}

static int run_folder(const char *dir, struct worst *worst)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort), ran = 0;

	if (n < 0) {
		perror(dir);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.') {
			if (run_file(dir, entries[i]->d_name, worst) != 0)
				return -1;
			ran++;
		}
		free(entries[i]);
	}
	free(entries);
	return ran;
}

int main(int argc, char **argv)
{
	const char *root = getenv("GUS_SRCDIR"), *target = strchr(program_invocation_short_name, '_');
	struct worst worst = { 0 };
	struct limits limits;
	char *dir;
	int n;

	if (!root)
		root = ".";
	if (!target || !read_limits(root, ++target, &limits))
		return 1;
	dir = argc > 1 ? gus_strdup(argv[1]) : gus_format("%s/tests/fuzz/corpus-%s", root, target);
	worst.kib = -peak_kib();
	n = run_folder(dir, &worst);
	worst.kib += peak_kib();
	free(dir);
	if (n < 0)
		return 1;
	printf("%d inputs; worst %.1f ms (%s), %ld KiB\n", n, worst.ms, worst.name, worst.kib);
	if (worst.ms > limits.ms * (SANITIZED ? 10.0 : 1.0)) {
		printf("%s takes too long: %u ms are allowed\n", worst.name, limits.ms);
		return 1;
	}
	if (!SANITIZED && worst.kib > 1024L * limits.mib) {
		printf("too much memory: %u MiB are allowed\n", limits.mib);
		return 1;
	}
	return n ? 0 : 1; /* an empty corpus tests nothing */
}
