/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <stdio.h>
#include <string.h>

/* A file of one of this machine's caches. False where there is none. */
static bool read_file(char *text, int size, int index, const char *file)
{
	char path[96];
	FILE *f;
	bool done;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	done = fgets(text, size, f) != NULL;
	fclose(f);
	return done;
}

/* Bytes of the caches of data by their level, 0 where it is not known. */
static void read_caches(size_t bytes[4])
{
	char level[32], type[32], size[32];

	for (int i = 0; read_file(type, sizeof(type), i, "type"); i++) {
		size_t kilobytes;

		if (strncmp(type, "Instruction", 11) != 0 && read_file(level, sizeof(level), i, "level") &&
		    level[0] >= '1' && level[0] <= '3' && read_file(size, sizeof(size), i, "size") &&
		    sscanf(size, "%zuK", &kilobytes) == 1 && kilobytes < 1 << 22)
			bytes[level[0] - '0'] = kilobytes << 10;
	}
}

void suite_places(struct suite_place places[SUITE_PLACES], bool of_host)
{
	static const struct suite_place fixed[SUITE_PLACES] = {
		{ "L1", 16 << 10 }, { "L2", 256 << 10 }, { "L3", 4 << 20 }, { "memory", 64 << 20 },
	};
	size_t cache[4] = { 0 };

	memcpy(places, fixed, sizeof(fixed));
	if (!of_host)
		return;
	read_caches(cache);
	for (int i = 0; i < 2; i++)
		places[i].bytes = cache[i + 1] ? cache[i + 1] / 2 : places[i].bytes;
	if (cache[2] && cache[3])
		places[2].bytes = 4 * cache[2] < cache[3] / 2 ? 4 * cache[2] : cache[3] / 2;
	if (cache[3])
		places[3].bytes = 2 * cache[3];
}
