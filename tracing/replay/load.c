/* SPDX-License-Identifier: MIT */
#include "tracing/replay/load.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAP_NORESERVE_ = 0x4000, MAP_NOREPLACE = 0x100000 };
enum { EEXIST_ = 17, ENOMEM_ = 12 };

struct gus_replay_image replay_image;

/* The last words, in hexadecimal where a number helps. */
void gus_replay_give_up(int status, const char *text, uint64_t number)
{
	char hex[19] = " 0x";
	size_t length = 0;

	while (text[length])
		length++;
	for (int i = 0; i < 16; i++)
		hex[3 + i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
	call(SYS_WRITE, 2, (uintptr_t)"gusprof-replay: ", 16, 0, 0, 0);
	call(SYS_WRITE, 2, (uintptr_t)text, length, 0, 0, 0);
	call(SYS_WRITE, 2, (uintptr_t)hex, sizeof(hex), 0, 0, 0);
	call(SYS_WRITE, 2, (uintptr_t)"\n", 1, 0, 0, 0);
	call(SYS_EXIT, (uint64_t)status, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

void gus_replay_read_all(int fd, uint64_t to, uint64_t size, uint64_t at)
{
	while (size) {
		long got = call(SYS_PREAD, (uint64_t)fd, to, size, at, 0, 0);

		if (got <= 0)
			gus_replay_give_up(GUS_REPLAY_BAD, "the image cannot be read to", to);
		to += (uint64_t)got;
		at += (uint64_t)got;
		size -= (uint64_t)got;
	}
}

static void map(const struct gus_replay_mapping *m)
{
	bool is_file = m->file >= 0;
	long got = call(SYS_MMAP, m->address, m->size, PROT_RW, MAP_PRIVATE_ | MAP_NOREPLACE | MAP_NORESERVE_ |
			(is_file ? 0 : MAP_ANONYMOUS_), (uint64_t)m->file, is_file ? m->file_offset : 0);

	if (got == -EEXIST_ || got == -ENOMEM_ || (got > 0 && (uint64_t)got != m->address))
		gus_replay_give_up(GUS_REPLAY_CLASH, "there is something already at", m->address);
	if (got < 0)
		gus_replay_give_up(GUS_REPLAY_BAD, "nothing can be mapped at", m->address);
}

static void load_run(int image_fd, const struct gus_replay_run *run)
{
	long got;

	if (run->file < 0 || run->size < GUS_REPLAY_MAPPED) {
		gus_replay_read_all(run->file < 0 ? image_fd : run->file, run->address, run->size, run->at);
		return;
	}
	got = call(SYS_MMAP, run->address, run->size, PROT_RW, MAP_PRIVATE_ | MAP_FIXED_ | MAP_NORESERVE_,
		   (uint64_t)run->file, run->at);
	if (got < 0)
		gus_replay_give_up(GUS_REPLAY_BAD, "its pages cannot be mapped at", run->address);
}

void gus_replay_load(int fd)
{
	struct gus_replay_mapping m;
	struct gus_replay_run run;

	gus_replay_read_all(fd, (uintptr_t)&replay_image, sizeof(replay_image), 0);
	if (replay_image.magic != GUS_REPLAY_MAGIC)
		gus_replay_give_up(GUS_REPLAY_BAD, "this is no image of mine:", replay_image.magic);
	for (uint64_t i = 0; i < replay_image.mappings_n; i++) {
		gus_replay_read_all(fd, (uintptr_t)&m, sizeof(m), replay_image.mappings + i * sizeof(m));
		map(&m);
	}
	for (uint64_t i = 0; i < replay_image.runs_n; i++) {
		gus_replay_read_all(fd, (uintptr_t)&run, sizeof(run), replay_image.runs + i * sizeof(run));
		load_run(fd, &run);
	}
	for (uint64_t i = 0; i < replay_image.mappings_n; i++) {
		gus_replay_read_all(fd, (uintptr_t)&m, sizeof(m), replay_image.mappings + i * sizeof(m));
		if (m.protection != PROT_RW && call(SYS_MPROTECT, m.address, m.size, m.protection, 0, 0, 0) != 0)
			gus_replay_give_up(GUS_REPLAY_BAD, "the protection cannot be set at", m.address);
	}
}

/* The descriptor whose number a word is. */
int gus_replay_number_of(const char *word)
{
	int n = 0;

	for (; *word >= '0' && *word <= '9' && n < 1000000; word++)
		n = n * 10 + *word - '0';
	return n;
}
