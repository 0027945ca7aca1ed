/* SPDX-License-Identifier: MIT */
/* The kernel's records, as bytes, become samples, switches and side band; kallsyms becomes covering symbols. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "collector/host/build_id.h"
#include "collector/records/records.h"
#include "collector/session/kernel.h"

#define FLAT (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID | \
	      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define ID_A 0x101
#define ID_B 0x202

/* A record under construction. Its layout is written out by the tests, from the ABI's description. */
struct maker { uint8_t bytes[1024]; size_t n; };

static void put(struct maker *m, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		m->bytes[m->n++] = (uint8_t)(value >> 8 * i);
}

static struct maker header(uint32_t type, uint16_t misc)
{
	struct maker m = { .n = 0 };

	put(&m, type, 4);
	put(&m, misc, 2);
	put(&m, 0, 2);
	return m;
}

/* The field that says how long the record is. */
static void close_record(struct maker *m)
{
	m->bytes[6] = (uint8_t)m->n;
	m->bytes[7] = (uint8_t)(m->n >> 8);
}

static void put_text(struct maker *m, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(m->bytes + m->n, text, n);
	m->n += n;
	while (m->n & 7)
		m->bytes[m->n++] = 0;
}

/* The trailer of FLAT: pid 7, tid 8, time 9000, cpu 3, event B. */
static void put_trailer(struct maker *m)
{
	put(m, 7, 4);
	put(m, 8, 4);
	put(m, 9000, 8);
	put(m, 0x303, 8); /* STREAM_ID */
	put(m, 3, 4);
	put(m, 0, 4);
	put(m, ID_B, 8);
	close_record(m);
}

static struct maker sample(uint16_t misc, uint64_t id, uint64_t stream)
{
	struct maker m = header(PERF_RECORD_SAMPLE, misc);

	put(&m, id, 8);
	put(&m, 0x401000, 8); /* ip */
	put(&m, 7, 4);
	put(&m, 8, 4);
	put(&m, 9000, 8);
	put(&m, stream, 8);
	put(&m, 3, 4);
	put(&m, 0, 4);
	put(&m, 1000003, 8);
	close_record(&m);
	return m;
}

struct fixture {
	struct gus_records records;
	struct gus_sideband sideband;
};

static void start(struct fixture *f, uint64_t type)
{
	memset(f, 0, sizeof(*f));
	gus_records_init(&f->records, type, 0, 2);
	assert_int_equal(gus_records_add_id(&f->records, ID_A, 0), 0);
	assert_int_equal(gus_records_add_id(&f->records, ID_B, 1), 1);
}

static void stop(struct fixture *f)
{
	gus_records_free(&f->records);
	gus_sideband_free(&f->sideband);
}

static struct gus_record parse(struct fixture *f, const struct maker *m)
{
	return gus_records_parse(&f->records, m->bytes, m->n, &f->sideband);
}

static void flat_sample(void **state)
{
	struct fixture f;
	struct maker m = sample(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, ID_B, ID_B);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	r = parse(&f, &m);
	assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
	assert_int_equal(r.sample.ip, 0x401000);
	assert_int_equal(r.sample.pid, 7);
	assert_int_equal(r.sample.tid, 8);
	assert_int_equal(r.sample.time, 9000);
	assert_int_equal(r.sample.cpu, 3);
	assert_int_equal(r.sample.period, 1000003);
	assert_int_equal(r.sample.event, 1);
	assert_int_equal(r.sample.mode, GUS_MODE_USER);
	assert_true(r.sample.exact);
	assert_int_equal(r.sample.chain_n, 0);
	assert_int_equal(r.slot, 1);
	assert_false(r.inherited);
	m = sample(PERF_RECORD_MISC_KERNEL, ID_A, 0x999);
	r = parse(&f, &m);
	assert_int_equal(r.sample.mode, GUS_MODE_KERNEL);
	assert_false(r.sample.exact);
	assert_true(r.inherited);
	assert_int_equal(r.sample.event, 0);
	m = sample(PERF_RECORD_MISC_KERNEL, 0x777, 0x777);
	r = parse(&f, &m);
	assert_int_equal(r.sample.event, 2); /* how many there are: unknown */
	assert_int_equal(r.slot, GUS_INDEX_NONE);
	stop(&f);
}

/* The interrupted address leads the chain and is left out; markers stay; a chain that begins with a caller keeps it. */
static void chains(void **state)
{
	static const struct { uint16_t mode; uint64_t in[6], out[6]; size_t in_n, out_n; } cases[] = {
		{ PERF_RECORD_MISC_USER, { PERF_CONTEXT_USER, 0x401000, 0x402000, 0x403000 },
		  { PERF_CONTEXT_USER, 0x402000, 0x403000 }, 4, 3 },
		{ PERF_RECORD_MISC_KERNEL, { PERF_CONTEXT_KERNEL, 0x401000, 0x88, PERF_CONTEXT_USER, 0x402000 },
		  { PERF_CONTEXT_KERNEL, 0x88, PERF_CONTEXT_USER, 0x402000 }, 5, 4 },
		{ PERF_RECORD_MISC_KERNEL, { PERF_CONTEXT_USER, 0x402000 }, { PERF_CONTEXT_USER, 0x402000 }, 2, 2 },
		{ PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, { PERF_CONTEXT_USER, 0x401004, 0x402000 },
		  { PERF_CONTEXT_USER, 0x402000 }, 3, 2 },
		{ PERF_RECORD_MISC_USER, { 0 }, { 0 }, 0, 0 },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = sample(cases[i].mode, ID_A, ID_A);
		struct gus_record r;

		put(&m, cases[i].in_n, 8);
		for (size_t k = 0; k < cases[i].in_n; k++)
			put(&m, cases[i].in[k], 8);
		close_record(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
		assert_int_equal(r.sample.chain_n, cases[i].out_n);
		if (cases[i].out_n)
			assert_memory_equal(r.sample.chain, cases[i].out, cases[i].out_n * sizeof(uint64_t));
	}
	stop(&f);
}

static void chain_longer_than_its_record(void **state)
{
	static const uint64_t counts[] = { 3, 1ULL << 32, UINT64_MAX, UINT64_MAX / 8 + 1 };
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);

		put(&m, counts[i], 8);
		put(&m, 1, 8);
		put(&m, 2, 8);
		assert_int_equal(parse(&f, &m).kind, GUS_RECORD_BAD);
	}
	stop(&f);
}

#define BRANCH_HW_INDEX (1u << 17)

/* One of three: mispredicted, of 0x1234 cycles, a conditional one; then one of which nothing is known but the addresses;
 * then room that was not used. Where the hardware's index was asked for it stands between the number and them. */
static void branches(void **state)
{
	static const struct { uint64_t type, index; } cases[] = { { 0, 0 }, { BRANCH_HW_INDEX, 7 }, { BRANCH_HW_INDEX, UINT64_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
		const struct gus_branch *b;
		struct gus_record r;
		struct fixture f;

		start(&f, FLAT | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
		f.records.branch_type = cases[i].type;
		put(&m, 0, 8); /* no chain */
		put(&m, 3, 8);
		if (cases[i].type)
			put(&m, cases[i].index, 8);
		put(&m, 0x401010, 8);
		put(&m, 0x401000, 8);
		put(&m, 1 | 0x1234 << 4 | 1 << 20 | (uint64_t)0xffff << 37, 8); /* the last are bits that have no meaning yet */
		put(&m, 0x402000, 8);
		put(&m, 0x400ff0, 8);
		put(&m, 0, 8);
		for (unsigned k = 0; k < 3; k++)
			put(&m, 0, 8);
		close_record(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
		assert_int_equal(r.sample.branches_n, 2);
		b = r.sample.branches;
		assert_true(b[0].from == 0x401010 && b[0].to == 0x401000 && b[0].cycles == 0x1234);
		assert_int_equal(b[0].flags, GUS_BRANCH_MISPREDICTED | 1 << GUS_BRANCH_TYPE_SHIFT);
		assert_true(b[1].from == 0x402000 && b[1].to == 0x400ff0 && b[1].flags == 0 && b[1].cycles == 0);
		assert_int_equal(r.sample.branch_index, cases[i].type ? cases[i].index + 1 : 0);
		stop(&f);
	}
}

static void more_branches_than_the_record_has(void **state)
{
	static const uint64_t counts[] = { 2, 1ULL << 32, UINT64_MAX, UINT64_MAX / 24 + 2 };
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_BRANCH_STACK);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);

		put(&m, counts[i], 8);
		for (unsigned k = 0; k < 5; k++) /* one and two thirds */
			put(&m, 1, 8);
		assert_int_equal(parse(&f, &m).kind, GUS_RECORD_BAD);
	}
	stop(&f);
}

static struct maker mmap2(uint16_t misc)
{
	struct maker m = header(PERF_RECORD_MMAP2, misc);

	put(&m, 10, 4);
	put(&m, 11, 4);
	put(&m, 0x7f0000, 8);
	put(&m, 0x2000, 8);
	put(&m, 0x1000, 8);
	return m;
}

static void mapping_with_inode(void **state)
{
	struct fixture f;
	struct maker m = mmap2(PERF_RECORD_MISC_USER);
	struct gus_record r;
	const Gusprof__Mmap *p;

	(void)state;
	start(&f, FLAT);
	put(&m, 8, 4);
	put(&m, 1, 4);
	put(&m, 1234, 8);
	put(&m, 5, 8);
	put(&m, 5, 4);
	put(&m, 2, 4);
	put_text(&m, "/usr/lib/libx.so");
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.kind, GUS_RECORD_SIDEBAND);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_MMAP);
	p = r.sideband->mmap;
	assert_int_equal(p->pid, 10);
	assert_int_equal(p->tid, 11);
	assert_int_equal(p->time, 9000);
	assert_int_equal(p->start, 0x7f0000);
	assert_int_equal(p->length, 0x2000);
	assert_int_equal(p->offset, 0x1000);
	assert_string_equal(p->path, "/usr/lib/libx.so");
	assert_int_equal(p->major, 8);
	assert_int_equal(p->minor, 1);
	assert_int_equal(p->inode, 1234);
	assert_int_equal(p->generation, 5);
	assert_int_equal(p->protection, 5);
	assert_int_equal(p->flags, 2);
	assert_int_equal(p->build_id.len, 0);
	assert_false(p->kernel);
	stop(&f);
}

/* The build id stands where the inode would; a length beyond its 20 bytes is cut to them. */
static void mapping_with_build_id(void **state)
{
	static const uint8_t lengths[] = { 20, 8, 0, 255 }, kept[] = { 20, 8, 0, 20 };
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < sizeof(lengths); i++) {
		struct maker m = mmap2(PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_MMAP_BUILD_ID);
		struct gus_record r;

		put(&m, lengths[i], 4);
		for (unsigned k = 0; k < 20; k++)
			put(&m, 0xa0 + k, 1);
		put(&m, 5, 4);
		put(&m, 2, 4);
		put_text(&m, "[k]");
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SIDEBAND);
		assert_int_equal(r.sideband->mmap->build_id.len, kept[i]);
		for (unsigned k = 0; k < kept[i]; k++)
			assert_int_equal(r.sideband->mmap->build_id.data[k], 0xa0 + k);
		assert_string_equal(r.sideband->mmap->path, "[k]");
		assert_int_equal(r.sideband->mmap->inode, 0);
		assert_true(r.sideband->mmap->kernel);
	}
	stop(&f);
}

static void names_and_tasks(void **state)
{
	struct fixture f;
	struct maker m = header(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	put(&m, 10, 4);
	put(&m, 11, 4);
	put_text(&m, "worker");
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_COMM);
	assert_string_equal(r.sideband->comm->name, "worker");
	assert_int_equal(r.sideband->comm->tid, 11);
	assert_true(r.sideband->comm->exec);
	for (unsigned type = PERF_RECORD_EXIT; type <= PERF_RECORD_FORK; type += PERF_RECORD_FORK - PERF_RECORD_EXIT) {
		m = header(type, 0);
		put(&m, 20, 4);
		put(&m, 10, 4);
		put(&m, 21, 4);
		put(&m, 11, 4);
		put(&m, 8888, 8); /* its own time, not the trailer's */
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.sideband->kind_case, type == PERF_RECORD_FORK ? GUSPROF__RECORD__KIND_FORK :
				 GUSPROF__RECORD__KIND_EXIT);
		assert_int_equal(r.sideband->fork->pid, 20);
		assert_int_equal(r.sideband->fork->ppid, 10);
		assert_int_equal(r.sideband->fork->tid, 21);
		assert_int_equal(r.sideband->fork->ptid, 11);
		assert_int_equal(r.sideband->fork->time, 8888);
	}
	assert_int_equal(f.sideband.records.n, 3);
	stop(&f);
}

static void losses_and_throttling(void **state)
{
	struct fixture f;
	struct maker m = header(PERF_RECORD_LOST, 0);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	put(&m, ID_A, 8);
	put(&m, 17, 8);
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_LOST);
	assert_int_equal(r.sideband->lost->event, 0);
	assert_int_equal(r.sideband->lost->count, 17);
	assert_int_equal(r.sideband->lost->cpu, 3);
	m = header(PERF_RECORD_LOST_SAMPLES, 0);
	put(&m, 5, 8);
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->lost->event, 1); /* the trailer's */
	assert_int_equal(r.sideband->lost->count, 5);
	for (unsigned type = PERF_RECORD_THROTTLE; type <= PERF_RECORD_UNTHROTTLE; type++) {
		m = header(type, 0);
		put(&m, 7777, 8);
		put(&m, ID_B, 8);
		put(&m, 0x303, 8);
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_THROTTLE);
		assert_int_equal(r.sideband->throttle->time, 7777);
		assert_int_equal(r.sideband->throttle->event, 1);
		assert_int_equal(r.sideband->throttle->stop, type == PERF_RECORD_THROTTLE);
	}
	stop(&f);
}

static void kernel_symbol(void **state)
{
	struct fixture f;
	struct maker m = header(PERF_RECORD_KSYMBOL, 0);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	put(&m, 0xffffffffc0001000, 8);
	put(&m, 300, 4);
	put(&m, 1, 2);
	put(&m, 1, 2);
	put_text(&m, "bpf_prog_1234_x");
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_KSYMBOL);
	assert_true(r.sideband->ksymbol->address == 0xffffffffc0001000);
	assert_int_equal(r.sideband->ksymbol->length, 300);
	assert_true(r.sideband->ksymbol->unregister);
	assert_string_equal(r.sideband->ksymbol->name, "bpf_prog_1234_x");
	stop(&f);
}

static void switches(void **state)
{
	static const struct { uint32_t type; uint16_t misc; bool out, preempt; } cases[] = {
		{ PERF_RECORD_SWITCH, 0, false, false },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, true, false },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true },
		{ PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, true, false },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = header(cases[i].type, cases[i].misc);
		struct gus_record r;

		if (cases[i].type == PERF_RECORD_SWITCH_CPU_WIDE)
			put(&m, 99, 8);
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SWITCH);
		assert_int_equal(r.sw.time, 9000);
		assert_int_equal(r.sw.pid, 7);
		assert_int_equal(r.sw.tid, 8);
		assert_int_equal(r.sw.cpu, 3);
		assert_int_equal(r.sw.out, cases[i].out);
		assert_int_equal(r.sw.preempt, cases[i].preempt);
	}
	stop(&f);
}

static void other_types(void **state)
{
	static const struct { uint32_t type; enum gus_record_kind kind; } cases[] = {
		{ PERF_RECORD_READ, GUS_RECORD_IGNORED }, { PERF_RECORD_AUX, GUS_RECORD_IGNORED },
		{ PERF_RECORD_BPF_EVENT, GUS_RECORD_IGNORED }, { PERF_RECORD_TEXT_POKE, GUS_RECORD_IGNORED },
		{ 0, GUS_RECORD_UNKNOWN }, { 22, GUS_RECORD_UNKNOWN }, { UINT32_MAX, GUS_RECORD_UNKNOWN },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = header(cases[i].type, 0);

		put_trailer(&m);
		assert_int_equal(parse(&f, &m).kind, cases[i].kind);
	}
	stop(&f);
}

/* Each record cut at each byte is bad or, where only its text was cut, still itself; nothing is read behind the cut
 * (ASan: the bytes are copied into memory of that size). A trailer cut short is taken from the text: only the length
 * that the kernel wrote tells, and that is followed by our caller. */
static void cut_anywhere(void **state)
{
	struct maker makers[3];
	struct fixture f;

	(void)state;
	makers[0] = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
	makers[1] = mmap2(0);
	put(&makers[1], 0, 8);
	put(&makers[1], 0, 8);
	put(&makers[1], 0, 8);
	put(&makers[1], 0, 8);
	put_text(&makers[1], "/x");
	put_trailer(&makers[1]);
	makers[2] = header(PERF_RECORD_SWITCH, 0);
	put_trailer(&makers[2]);
	start(&f, FLAT);
	for (size_t i = 0; i < 3; i++)
		for (size_t n = 0; n < makers[i].n; n++) {
			uint8_t *copy = gus_alloc(n);
			struct gus_record r;

			memcpy(copy, makers[i].bytes, n);
			r = gus_records_parse(&f.records, copy, n, &f.sideband);
			if (i != 1 || n + 8 < makers[i].n)
				assert_int_equal(r.kind, GUS_RECORD_BAD);
			free(copy);
		}
	stop(&f);
}

/* A file like /proc/kallsyms, of which the symbols around the addresses are kept. */
static Gusprof__KernelSymbols *symbols_of(const char *kallsyms, const uint64_t *addresses, size_t n)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	int fd = mkstemp(path);
	struct gus_kernel_hits k;
	Gusprof__KernelSymbols *m;

	assert_true(fd >= 0 && write(fd, kallsyms, strlen(kallsyms)) == (ssize_t)strlen(kallsyms));
	close(fd);
	gus_kernel_hits_init(&k);
	for (size_t i = 0; i < n; i++)
		gus_kernel_hits_add(&k, addresses[i]);
	m = gus_kernel_hits_symbols(&k, path);
	gus_kernel_hits_free(&k);
	unlink(path);
	return m;
}

static void covering_symbols(void **state)
{
	static const char kallsyms[] =
		"0000000000000000 A percpu_start\n"
		"ffffffff81000000 t _text\n"
		"ffffffff81000000 T startup\n"
		"ffffffff81000100 t helper\n"
		"ffffffff81000200 T big\n"
		"ffffffff81000800 t last\n"
		"ffffffff81000900 D data\n"
		"ffffffffc0001000 t second\t[mod]\n"
		"ffffffffc0000000 t first\t[mod]\n";
	static const uint64_t addresses[] = { 0xffffffffc0000004, 0xffffffff81000210, 0xffffffff81000700, 0xffffffff81000000,
					      0xffffffff81000950, 0xffffffff80000000, 0xffffffff810001ff };
	static const struct { uint64_t address, size; const char *name, *module; } want[] = {
		{ 0xffffffff81000000, 0x100, "startup", "" },
		{ 0xffffffff81000100, 0x100, "helper", "" },
		{ 0xffffffff81000200, 0x600, "big", "" },
		{ 0xffffffffc0000000, 0x1000, "first", "mod" },
	};
	Gusprof__KernelSymbols *m = symbols_of(kallsyms, addresses, sizeof(addresses) / sizeof(*addresses));

	(void)state;
	assert_int_equal(m->n_symbols, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(m->symbols[i]->address == want[i].address);
		assert_int_equal(m->symbols[i]->size, want[i].size);
		assert_string_equal(m->symbols[i]->name, want[i].name);
		assert_string_equal(m->symbols[i]->module, want[i].module);
	}
	assert_string_equal(m->refusal, "");
	gusprof__kernel_symbols__free_unpacked(m, NULL);
}

static void hidden_symbols(void **state)
{
	static const uint64_t addresses[] = { 0xffffffff81000210 };
	Gusprof__KernelSymbols *m = symbols_of("0000000000000000 T _text\n0000000000000000 t x\n", addresses, 1);

	(void)state;
	assert_int_equal(m->n_symbols, 0);
	assert_non_null(strstr(m->refusal, "kptr_restrict"));
	gusprof__kernel_symbols__free_unpacked(m, NULL);
	assert_null(symbols_of("", NULL, 0));
}

static void build_id_in_notes(void **state)
{
	static const uint8_t notes[] = {
		4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 'X', 'y', 'z', 0, 1, 2, 3, 0,               /* another's */
		4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef,
	};
	size_t size = 0;
	const uint8_t *id = gus_notes_build_id(notes, sizeof(notes), &size);

	(void)state;
	assert_non_null(id);
	assert_int_equal(size, 4);
	assert_int_equal(id[0], 0xde);
	for (size_t n = 0; n < sizeof(notes); n++) {
		uint8_t *copy = gus_alloc(n);

		memcpy(copy, notes, n);
		assert_null(gus_notes_build_id(copy, n, &size));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_sample),
		cmocka_unit_test(chains),
		cmocka_unit_test(chain_longer_than_its_record),
		cmocka_unit_test(branches),
		cmocka_unit_test(more_branches_than_the_record_has),
		cmocka_unit_test(mapping_with_inode),
		cmocka_unit_test(mapping_with_build_id),
		cmocka_unit_test(names_and_tasks),
		cmocka_unit_test(losses_and_throttling),
		cmocka_unit_test(kernel_symbol),
		cmocka_unit_test(switches),
		cmocka_unit_test(other_types),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(covering_symbols),
		cmocka_unit_test(hidden_symbols),
		cmocka_unit_test(build_id_in_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
