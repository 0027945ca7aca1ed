/* SPDX-License-Identifier: MIT */
/* A small runtime: makes two functions in memory of its own and calls them, so that the first has three quarters of the
 * CPU time; and tells of them, or not.
 *
 *     jit_target HOW MS [FOLDER]
 *
 * HOW has letters: m a perf map, d a jitdump (in FOLDER); l tells only when half of the time is over, x at the very
 * end; r then, at half, puts another function, "third", where the second one was, and tells of it; v then moves the
 * first to where nothing was, and "third" to its place; f lets a child of its own call them, who tells nothing; z, with
 * m, writes names that attack terminals. It prints the address of "first". */
#include <elf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOM 256u
#define PLACES 4

#if defined(__x86_64__)
#define MACHINE EM_X86_64
/* mov rcx, 3 << 16; loop: dec rcx; jnz loop; ret */
static const uint8_t spin[] = { 0x48, 0xc7, 0xc1, 0x00, 0x00, 0x03, 0x00, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
/* movz x1, #3, lsl 16; loop: subs x1, x1, #1; b.ne loop; ret */
static const uint32_t spin[] = { 0xd2a00061, 0xf1000421, 0x54ffffe1, 0xd65f03c0 };
#else
#error no code for this machine
#endif

static uint8_t *places;
static FILE *map, *dump;
static const char *how;

static int asked(char letter)
{
	return strchr(how, letter) != NULL;
}

static uint64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, dump);
}

static void put32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void put_head(uint32_t kind, size_t body)
{
	put32(kind);
	put32((uint32_t)(16 + body));
	put64(now(CLOCK_MONOTONIC));
	if (kind > 1)
		return;
	put32((uint32_t)getpid());
	put32((uint32_t)getpid());
}

static void open_dump(const char *folder)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump = fopen(path, "w+e");
	if (!dump || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(3);
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(MACHINE);
	put32(0);
	put32((uint32_t)getpid());
	put64(now(CLOCK_MONOTONIC));
	put64(0);
}

static void put_lines(uint64_t address)
{
	static const char file[] = "made.src";

	put_head(2, 16 + 2 * 16 + sizeof(file) + 2);
	put64(address);
	put64(2);
	put64(address);
	put32(7);
	put32(0);
	put(file, sizeof(file));
	put64(address + 8);
	put32(8);
	put32(0);
	put("\xff", 2);
}

static void tell(const char *name, int place, uint64_t index)
{
	uint64_t address = (uint64_t)(uintptr_t)(places + place * ROOM);

	if (map)
		fprintf(map, "%" PRIx64 " %zx %s\n", address, sizeof(spin), name);
	if (dump) {
		put_lines(address);
		put_head(0, 40 + strlen(name) + 1 + sizeof(spin));
		put64(address);
		put64(address);
		put64(sizeof(spin));
		put64(index);
		put(name, strlen(name) + 1);
		put(places + place * ROOM, sizeof(spin));
	}
}

static void tell_move(int from, int to, uint64_t index)
{
	put_head(1, 48);
	put64((uint64_t)(uintptr_t)(places + to * ROOM));
	put64((uint64_t)(uintptr_t)(places + from * ROOM));
	put64((uint64_t)(uintptr_t)(places + to * ROOM));
	put64(sizeof(spin));
	put64(index);
}

static void flush(void)
{
	if (map)
		fflush(map);
	if (dump)
		fflush(dump);
}

static void call(int place)
{
	void (*function)(void);
	void *at = places + place * ROOM;

	memcpy(&function, &at, sizeof(function));
	function();
}

/* Until so much CPU time was had. Which one is next is drawn: in turns, they would have a period of their own, which
 * that of samples may be near. */
static void work(uint64_t ns, int first, int second)
{
	uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + ns;
	uint32_t drawn = 1;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < end) {
		for (int i = 0; i < 4; i++) {
			drawn = drawn * 1664525 + 1013904223;
			call(drawn >> 30 ? first : second);
		}
	}
}

static void tell_all(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (asked('m') && !(map = fopen(path, "we")))
		exit(3);
	if (asked('z')) {
		fprintf(map, "%" PRIx64 " %zx evil\x1b]0;owned\x07\xc2\x9b""31m\n",
			(uint64_t)(uintptr_t)places, sizeof(spin));
		fprintf(map, "zz 10 none\n10\n\n0 0 nothing\nffffffffffffffff ff over\n");
	} else {
		tell("first", 0, 1);
	}
	tell("second", 1, 2);
	flush();
}

int main(int argc, char **argv)
{
	uint64_t half;

	if (argc < 3)
		return 2;
	how = argv[1];
	half = strtoull(argv[2], NULL, 10) * 500000;
	places = mmap(NULL, (size_t)PLACES * ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (places == MAP_FAILED)
		return 3;
	for (int i = 0; i < PLACES; i++)
		memcpy(places + i * ROOM, spin, sizeof(spin));
	__builtin___clear_cache((char *)places, (char *)places + (size_t)PLACES * ROOM);
	printf("%" PRIx64 "\n", (uint64_t)(uintptr_t)places);
	fflush(stdout);
	if (asked('d'))
		open_dump(argc > 3 ? argv[3] : ".");
	if ((asked('m') || asked('d')) && !asked('l') && !asked('x'))
		tell_all();
	if (asked('f') && fork() > 0) {
		wait(NULL);
		return 0;
	}
	work(half, 0, 1);
	if ((asked('m') || asked('d')) && asked('l'))
		tell_all();
	if (asked('r'))
		tell("third", 1, 3);
	if (asked('v')) {
		tell_move(0, 2, 1);
		tell("third", 0, 3);
	}
	flush();
	work(half, asked('v') ? 2 : 0, asked('v') ? 0 : 1);
	if (asked('x'))
		tell_all();
	if (map)
		fclose(map);
	if (dump)
		fclose(dump);
	return 0;
}
