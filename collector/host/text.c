/* SPDX-License-Identifier: MIT */
#include "collector/host/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/kernel/perf.h"

bool gus_read_text(const char *path, char *text, size_t size)
{
	char room[GUS_PERF_PATH];
	int fd = open(gus_perf.path(path, room), O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0)
			n += (size_t)got;
	}
	close(fd);
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	return true;
}

uint64_t gus_read_rate_limit(void)
{
	char text[32], *end;
	uint64_t limit;

	if (!gus_read_text("/proc/sys/kernel/perf_event_max_sample_rate", text, sizeof(text)))
		return UINT64_MAX;
	limit = strtoull(text, &end, 10);
	return end == text || !limit ? UINT64_MAX : limit;
}
