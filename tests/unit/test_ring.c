/* SPDX-License-Identifier: MIT */
/* Rings, made as the kernel makes them: those with a tail, flight recorders (written from the end backward, over
 * what is oldest), and the clock in the control page. The kernel that maps, unmaps and pauses them is here, too. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/counters/ring.h"

#define SIZE 256u
#define HEADER sizeof(struct perf_event_header)
#define FAKE_FD 1000000 /* beyond what a process may open */

/* What was asked of the kernel for FAKE_FD; `allowed` is the most that it maps. */
static struct {
	struct { size_t length; int protection, flags; } maps[16];
	size_t n, allowed, unmapped;
	int sys;                /* of what it does not map */
	void *memory;
	int pauses[8];
	size_t pauses_n;
	void (*at_pause)(void);
} kernel;

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (fd != FAKE_FD)
		return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
	assert_null(address);
	assert_int_equal(offset, 0);
	kernel.maps[kernel.n].length = length;
	kernel.maps[kernel.n].protection = protection;
	kernel.maps[kernel.n++].flags = flags;
	if (length > kernel.allowed) {
		errno = kernel.sys;
		return MAP_FAILED;
	}
	return kernel.memory = gus_zalloc(length);
}

int munmap(void *address, size_t length)
{
	assert_non_null(address);
	if (address != kernel.memory)
		return (int)syscall(SYS_munmap, address, length);
	kernel.unmapped = length;
	free(kernel.memory);
	kernel.memory = NULL;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;

	va_start(args, request);
	assert_int_equal(fd, FAKE_FD);
	assert_int_equal(request, PERF_EVENT_IOC_PAUSE_OUTPUT);
	kernel.pauses[kernel.pauses_n++] = va_arg(args, int);
	va_end(args);
	if (kernel.at_pause && kernel.pauses_n == 1)
		kernel.at_pause();
	return 0;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

struct fake {
	struct gus_ring ring;
	struct perf_event_mmap_page *control;
	uint8_t *data;
};

static void make(struct fake *f)
{
	memset(&kernel, 0, sizeof(kernel));
	f->control = gus_zalloc(page_size() + SIZE);
	f->data = (uint8_t *)f->control + page_size();
	gus_ring_over(&f->ring, f->control, SIZE);
	assert_int_equal(f->ring.fd, -1);
	f->ring.fd = FAKE_FD;
}

static void unmake(struct fake *f)
{
	free(f->control);
	free(f->ring.whole);
}

/* What a taker has seen: the number in each record, its size, and the tail that the kernel saw at that moment. */
struct seen {
	struct fake *fake;
	uint8_t numbers[64];
	size_t sizes[64];
	uint64_t tails[64];
	size_t n;
	void (*meanwhile)(struct fake *f); /* the kernel goes on while the first is taken; NULL: it does not */
};

static void take(const void *record, size_t size, void *context)
{
	const uint8_t *bytes = record;
	struct seen *s = context;

	for (size_t i = HEADER; i < size; i++)
		assert_int_equal(bytes[i], bytes[HEADER]);
	s->numbers[s->n] = size > HEADER ? bytes[HEADER] : 0;
	s->sizes[s->n] = size;
	s->tails[s->n++] = s->fake->control->data_tail;
	if (s->meanwhile && s->n == 1)
		s->meanwhile(s->fake);
}

/* A record at that place: its header says `says`, and it is as long as size, all but its header the number. */
static void write_at(struct fake *f, uint64_t at, uint16_t size, uint16_t says, uint8_t number)
{
	struct perf_event_header h = { .type = 1, .size = says };
	uint8_t bytes[SIZE];

	memset(bytes, number, sizeof(bytes));
	memcpy(bytes, &h, sizeof(h));
	for (unsigned i = 0; i < size; i++)
		f->data[(at + i) & (SIZE - 1)] = bytes[i];
}

/* Rings with a tail. */

static void start_at(struct fake *f, uint64_t position)
{
	f->control->data_head = f->control->data_tail = position;
}

static void append(struct fake *f, uint16_t size, uint8_t number)
{
	write_at(f, f->control->data_head, size, size, number);
	f->control->data_head += size;
}

static struct seen drain(struct fake *f)
{
	struct seen s = { .fake = f };
	size_t n = gus_ring_drain(&f->ring, take, &s);

	assert_int_equal(n, s.n);
	return s;
}

static void nothing_to_drain(void **state)
{
	struct fake f;

	(void)state;
	make(&f);
	start_at(&f, 40);
	assert_int_equal(drain(&f).n, 0);
	assert_int_equal(f.control->data_tail, 40);
	assert_int_equal(f.ring.broken, 0);
	unmake(&f);
}

static void drained_in_order_and_once(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	append(&f, 24, 1);
	append(&f, 8, 0); /* a header alone is a record */
	append(&f, 40, 3);
	s = drain(&f);
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.numbers, ((uint8_t[]){ 1, 0, 3 }), 3);
	assert_memory_equal(s.sizes, ((size_t[]){ 24, 8, 40 }), 3 * sizeof(size_t));
	assert_int_equal(f.control->data_tail, 72);
	assert_int_equal(drain(&f).n, 0);
	append(&f, 16, 4);
	s = drain(&f);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.numbers[0], 4);
	assert_int_equal(f.ring.broken, 0);
	unmake(&f);
}

/* A record of 32 bytes that begins so many bytes before the end of the ring: over it by all its bytes but the
 * header, by some, by eight, exactly up to it, and short of it. Another one follows. The kernel begins records at
 * multiples of eight; the last two, of which one has its header over the end, show that nothing depends on that. */
static void over_the_end(void **state)
{
	static const unsigned before[] = { 8, 16, 24, 32, 40, 3, 27 };

	(void)state;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		struct fake f;
		struct seen s;

		make(&f);
		memset(f.ring.whole, 0xee, 64);
		start_at(&f, 5 * SIZE - before[i]); /* counters only grow; their low bits are the place */
		append(&f, 32, 7);
		append(&f, 16, 8);
		s = drain(&f);
		assert_int_equal(s.n, 2);
		assert_memory_equal(s.numbers, ((uint8_t[]){ 7, 8 }), 2);
		assert_memory_equal(s.sizes, ((size_t[]){ 32, 16 }), 2 * sizeof(size_t));
		assert_int_equal(f.control->data_tail, 5 * SIZE - before[i] + 48);
		for (size_t k = 32; k < 64; k++) /* no more than the record was put together */
			assert_int_equal(f.ring.whole[k], 0xee);
		unmake(&f);
	}
}

static void full_ring(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	start_at(&f, 104);
	append(&f, SIZE, 9); /* one record may be all of it */
	s = drain(&f);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sizes[0], SIZE);
	for (uint8_t i = 0; i < SIZE / 16; i++)
		append(&f, 16, i);
	assert_int_equal(drain(&f).n, SIZE / 16);
	assert_int_equal(f.control->data_tail, 104 + 2 * SIZE);
	assert_int_equal(f.ring.broken, 0);
	unmake(&f);
}

/* The counters have 64 bits, and go over from the last to the first as they do from any to the next. */
static void counters_that_wrap(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	start_at(&f, (uint64_t)-24);
	append(&f, 16, 1);
	append(&f, 16, 2);
	append(&f, 16, 3);
	s = drain(&f);
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.numbers, ((uint8_t[]){ 1, 2, 3 }), 3);
	assert_int_equal(f.control->data_tail, 24);
	assert_int_equal(f.ring.broken, 0);
	unmake(&f);
}

/* A header that says another size than can be: what came before it is taken, the rest is dropped once, and what the
 * kernel writes behind it is read again. The last is exactly what there is, and right. */
static void sizes_that_lie(void **state)
{
	static const struct { uint16_t says; bool broken; } cases[] = {
		{ 0, true }, { 7, true }, { 8, false }, { 32, true }, { 65535, true }, { 24, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake f;
		struct seen s;

		make(&f);
		append(&f, 16, 1);
		write_at(&f, 16, 24, cases[i].says, 2);
		f.control->data_head += cases[i].says == 8 ? 8 : 24;
		s = drain(&f);
		assert_int_equal(s.n, cases[i].broken ? 1 : 2);
		assert_int_equal(f.ring.broken, cases[i].broken);
		assert_int_equal(f.control->data_tail, f.control->data_head);
		append(&f, 16, 3);
		s = drain(&f);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.numbers[0], 3);
		assert_int_equal(f.ring.broken, cases[i].broken);
		unmake(&f);
	}
}

/* Heads that no kernel sets: too near for a header, further than the ring is large, behind the tail. Nothing is
 * taken, and nothing is read of the bytes, which would be two records. */
static void impossible_heads(void **state)
{
	static const int64_t ahead[] = { 1, 7, SIZE + 1, SIZE + 8, -1, -8, INT64_MIN };

	(void)state;
	for (size_t i = 0; i < sizeof(ahead) / sizeof(*ahead); i++) {
		struct fake f;

		make(&f);
		append(&f, 8, 0);
		append(&f, 16, 1);
		start_at(&f, 2 * SIZE);
		f.control->data_head += (uint64_t)ahead[i];
		assert_int_equal(drain(&f).n, 0);
		assert_int_equal(f.ring.broken, 1);
		assert_true(f.control->data_tail == 2 * SIZE + (uint64_t)ahead[i]);
		assert_int_equal(drain(&f).n, 0);
		assert_int_equal(f.ring.broken, 1);
		unmake(&f);
	}
}

/* The kernel is told of free room after each eighth of the ring (32 bytes here), and at the end. */
static void tells_the_kernel_meanwhile(void **state)
{
	static const struct { uint16_t size; uint64_t tails[6]; } cases[] = {
		{ 16, { 0, 0, 32, 32, 64, 64 } }, { 24, { 0, 0, 48, 48, 96, 96 } }, { 32, { 0, 32, 64, 96, 128, 160 } },
		{ 40, { 0, 40, 80, 120, 160, 200 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake f;
		struct seen s;

		make(&f);
		for (uint8_t k = 0; k < 6; k++)
			append(&f, cases[i].size, k);
		s = drain(&f);
		assert_int_equal(s.n, 6);
		assert_memory_equal(s.tails, cases[i].tails, sizeof(cases[i].tails));
		assert_int_equal(f.control->data_tail, 6 * cases[i].size);
		unmake(&f);
	}
}

static void append_another(struct fake *f)
{
	append(f, 16, 99);
}

/* What the kernel adds while we take waits for the next time. */
static void kernel_goes_on(void **state)
{
	struct fake f;
	struct seen s = { .fake = &f, .meanwhile = append_another };

	(void)state;
	make(&f);
	append(&f, 16, 1);
	append(&f, 16, 2);
	assert_int_equal(gus_ring_drain(&f.ring, take, &s), 2);
	assert_int_equal(f.control->data_tail, 32);
	s = drain(&f);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.numbers[0], 99);
	unmake(&f);
}

/* Flight recorders. */

static void put(struct fake *f, uint16_t size, uint8_t number)
{
	f->control->data_head -= size;
	write_at(f, f->control->data_head, size, size, number);
}

static struct seen snapshot(struct fake *f)
{
	struct seen s = { .fake = f };
	size_t n;

	kernel.pauses_n = 0;
	n = gus_ring_snapshot(&f->ring, take, &s);
	assert_int_equal(n, s.n);
	assert_int_equal(kernel.pauses_n, 2);
	assert_int_equal(kernel.pauses[0], 1);
	assert_int_equal(kernel.pauses[1], 0);
	assert_int_equal(f->control->data_tail, 0); /* that page is not ours to write */
	return s;
}

static void nothing(void **state)
{
	struct fake f;

	(void)state;
	make(&f);
	assert_int_equal(snapshot(&f).n, 0);
	unmake(&f);
}

static void oldest_first_and_once(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	for (uint8_t i = 1; i <= 3; i++)
		put(&f, 24, i);
	s = snapshot(&f);
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.numbers, ((uint8_t[]){ 1, 2, 3 }), 3);
	assert_int_equal(snapshot(&f).n, 0);
	put(&f, 40, 4);
	put(&f, 8, 0);
	s = snapshot(&f);
	assert_int_equal(s.n, 2);
	assert_memory_equal(s.numbers, ((uint8_t[]){ 4, 0 }), 2);
	assert_memory_equal(s.sizes, ((size_t[]){ 40, 8 }), 2 * sizeof(size_t));
	unmake(&f);
}

/* Records of all sizes, so that the oldest one is cut off in all ways and some wrap around the end. */
static void goes_round(void **state)
{
	(void)state;
	for (uint16_t size = 16; size <= 136; size += 8) {
		struct fake f;
		struct seen s;

		make(&f);
		for (uint8_t i = 1; i <= 60; i++)
			put(&f, size, i);
		s = snapshot(&f);
		assert_int_equal(s.n, SIZE / size);
		for (size_t i = 0; i < s.n; i++) {
			assert_int_equal(s.numbers[i], 61 - s.n + i);
			assert_int_equal(s.sizes[i], size);
		}
		put(&f, 16, 99);
		assert_int_equal(snapshot(&f).n, 1);
		unmake(&f);
	}
}

/* Of what was seen, only a part is still there, and of that nothing is told again; what is new goes round once more. */
static void goes_round_since_the_last_time(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	for (uint8_t i = 1; i <= 5; i++)
		put(&f, 32, i);
	assert_int_equal(snapshot(&f).n, 5);
	for (uint8_t i = 6; i <= 13; i++)
		put(&f, 32, i);
	s = snapshot(&f);
	assert_int_equal(s.n, 8);
	assert_int_equal(s.numbers[0], 6);
	assert_int_equal(s.numbers[7], 13);
	for (uint8_t i = 14; i <= 30; i++)
		put(&f, 32, i);
	s = snapshot(&f);
	assert_int_equal(s.n, 8);
	assert_int_equal(s.numbers[0], 23);
	unmake(&f);
}

/* The walk ends at a size that cannot be; what is newer has been found by then. */
static void torn_record(void **state)
{
	static const uint16_t sizes[] = { 0, 7, SIZE - 31, 65535 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fake f;
		struct seen s;

		make(&f);
		for (uint8_t k = 1; k <= 16; k++)
			put(&f, 16, k);
		write_at(&f, f.control->data_head + 32, 8, sizes[i], 0);
		s = snapshot(&f);
		assert_int_equal(s.n, 2);
		assert_memory_equal(s.numbers, ((uint8_t[]){ 15, 16 }), 2);
		unmake(&f);
	}
}

static void write_over_the_second(struct fake *f)
{
	write_at(f, f->control->data_head + SIZE - 64, 8, 65535, 0);
}

/* A writer that was at it when the ring was paused writes over what is oldest while that is taken: the sizes are
 * those of the walk, as the ones that stand there now would lead out of the ring. */
static void written_over_meanwhile(void **state)
{
	struct fake f;
	struct seen s = { .fake = &f, .meanwhile = write_over_the_second };

	(void)state;
	make(&f);
	for (uint8_t k = 1; k <= 8; k++)
		put(&f, 32, k);
	assert_int_equal(gus_ring_snapshot(&f.ring, take, &s), 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(s.sizes[i], 32);
	unmake(&f);
}

static struct fake *paused;

static void put_before_the_pause(void)
{
	put(paused, 16, 5);
}

/* What comes before the ring stands still belongs to the snapshot: the head is read after that. */
static void pauses_first(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	paused = &f;
	kernel.at_pause = put_before_the_pause;
	s = snapshot(&f);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.numbers[0], 5);
	unmake(&f);
}

/* The clock. */

/* ns = zero + cycles * mult / 2^shift, rounded down once for each part. Where the counter is short, cycles are first
 * continued from the place where the line was drawn: 0x105 with the line at 0x1fe of a counter of 8 bits has gone on
 * by 7, which is 0x205. */
static void line_of_time(void **state)
{
	static const struct {
		uint64_t zero; uint32_t mult; uint16_t shift; bool is_short; uint64_t line, mask, cycles, ns;
	} cases[] = {
		{ 0, 1, 0, false, 0, 0, 12345, 12345 },
		{ 1000, 3, 1, false, 0, 0, 7, 1010 },              /* 3 * 3 + (1 * 3 >> 1) */
		{ 1000, 5, 3, false, 0, 0, 23, 1014 },             /* 2 * 5 + (7 * 5 >> 3) */
		{ 1000, 5, 3, false, 0, 0, 24, 1015 },
		{ 5, 0x80000000, 31, false, 0, 0, 1ULL << 62, (1ULL << 62) + 5 }, /* the product alone would not fit */
		{ (uint64_t)-10, 1, 0, false, 0, 0, 30, 20 },      /* a zero before the counter began */
		{ 0, 1, 0, false, 0x1fe, 0xff, 0x105, 0x105 },     /* not short: the line's place does not matter */
		{ 0, 1, 0, true, 0x1fe, 0xff, 0x105, 0x205 },
		{ 0, 1, 0, true, 0x1fe, 0xff, 0x1fe, 0x1fe },
		{ 0, 1, 0, true, 0x1fe, 0xff, 0x1fd, 0x2fd },      /* never before the line */
		{ 100, 3, 1, true, 0x1fe, 0xff, 0x05, 875 },       /* 0x205 is 517: 258 * 3 + 1, and 100 */
	};
	struct perf_event_mmap_page page;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(&page, 0, sizeof(page));
		page.time_zero = cases[i].zero;
		page.time_mult = cases[i].mult;
		page.time_shift = cases[i].shift;
		page.cap_user_time_short = cases[i].is_short;
		page.time_cycles = cases[i].line;
		page.time_mask = cases[i].mask;
		assert_true(gus_ring_time(&page, cases[i].cycles) == cases[i].ns);
	}
}

static uint64_t counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* With a line of slope one the clock is the counter, a thousand later. */
static void now_on_the_line(void **state)
{
	struct fake f;
	uint64_t ns = 1, before, after;

	(void)state;
	make(&f);
	assert_false(gus_ring_now(&f.ring, &ns));
	f.control->cap_user_time = 1; /* another clock's, of no use here */
	assert_false(gus_ring_now(&f.ring, &ns));
	f.control->cap_user_time_zero = 1;
	f.control->time_mult = 1;
	f.control->time_zero = 1000;
	f.control->lock = 6;
	before = counter();
	assert_true(gus_ring_now(&f.ring, &ns));
	after = counter();
	assert_true(ns >= before + 1000);
	if (after)
		assert_true(ns <= after + 1000);
	unmake(&f);
}

/* Getting rings. */

static void map_kib(size_t kib, size_t allowed_kib, int sys, bool flight, int rc)
{
	size_t page = page_size(), n = 0;
	struct gus_error err = { 0 };
	struct gus_ring ring;

	memset(&kernel, 0, sizeof(kernel));
	kernel.allowed = page + (allowed_kib << 10);
	kernel.sys = sys;
	assert_int_equal((flight ? gus_ring_map_flight : gus_ring_map)(&ring, FAKE_FD, 3, kib << 10, &err), rc);
	for (size_t asked = kib; n < kernel.n; asked /= 2, n++) {
		assert_int_equal(kernel.maps[n].length, page + (asked << 10));
		assert_int_equal(kernel.maps[n].protection, flight ? PROT_READ : PROT_READ | PROT_WRITE);
		assert_int_equal(kernel.maps[n].flags, MAP_SHARED);
	}
	if (rc != 0) {
		char *says = gus_format(sys == EPERM ? "cannot get %zu KiB of locked memory for the ring of cpu 3" :
					"cannot map a ring of %zu KiB for cpu 3",
					(kernel.maps[n - 1].length - page) >> 10);

		assert_non_null(strstr(err.text, says));
		free(says);
		return;
	}
	assert_int_equal(ring.fd, FAKE_FD);
	assert_int_equal(ring.cpu, 3);
	assert_int_equal(ring.size, kernel.maps[n - 1].length - page);
	assert_ptr_equal(ring.control, kernel.memory);
	assert_ptr_equal(ring.data, (uint8_t *)kernel.memory + page);
	gus_ring_unmap(&ring);
	assert_int_equal(kernel.unmapped, kernel.maps[n - 1].length);
	assert_null(ring.control);
	assert_int_equal(ring.fd, -1);
	kernel.unmapped = 0;
	gus_ring_unmap(&ring); /* there is none any more */
	assert_int_equal(kernel.unmapped, 0);
}

/* The size is halved as long as locked memory is what is short, down to eight pages; any other failure is one at
 * once. */
static void mapping(void **state)
{
	const size_t least = 8 * page_size() >> 10;

	(void)state;
	map_kib(16 * least, 16 * least, 0, false, 0);
	assert_int_equal(kernel.n, 1);
	map_kib(16 * least, 16 * least - 1, EPERM, false, 0);
	assert_int_equal(kernel.n, 2);
	map_kib(16 * least, 4 * least, EPERM, true, 0);
	assert_int_equal(kernel.n, 3);
	map_kib(16 * least, least, EPERM, false, 0);
	assert_int_equal(kernel.n, 5);
	map_kib(16 * least, least - 1, EPERM, false, -1);
	assert_int_equal(kernel.n, 5);
	map_kib(16 * least, least, ENOMEM, true, -1);
	assert_int_equal(kernel.n, 1);
	map_kib(least / 2, least / 4, EPERM, false, -1); /* who asks for less gets that or nothing */
	assert_int_equal(kernel.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_drain),
		cmocka_unit_test(drained_in_order_and_once),
		cmocka_unit_test(over_the_end),
		cmocka_unit_test(full_ring),
		cmocka_unit_test(counters_that_wrap),
		cmocka_unit_test(sizes_that_lie),
		cmocka_unit_test(impossible_heads),
		cmocka_unit_test(tells_the_kernel_meanwhile),
		cmocka_unit_test(kernel_goes_on),
		cmocka_unit_test(nothing),
		cmocka_unit_test(oldest_first_and_once),
		cmocka_unit_test(goes_round),
		cmocka_unit_test(goes_round_since_the_last_time),
		cmocka_unit_test(torn_record),
		cmocka_unit_test(written_over_meanwhile),
		cmocka_unit_test(pauses_first),
		cmocka_unit_test(line_of_time),
		cmocka_unit_test(now_on_the_line),
		cmocka_unit_test(mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
