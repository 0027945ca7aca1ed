/* SPDX-License-Identifier: MIT */
/* A recording as perf would have made it of one thread's life: COMM and its mappings, samples as the event of the
 * machine has them (claims.c), FORK where a thread is met first, what was lost, EXIT. Fields of a sample stand in the
 * order of the ABI, each filled by whose words they are: pebs.c, ibs.c, and for SPE, whose samples are no records,
 * spe.c. Threads have counts of cycles of their own and run on one CPU, in turns: one whose samples would be earlier
 * than what is there has waited until then. What of struct golden_sample each tells, of which first_of_op is nothing to
 * any of them:
 *
 *	all               ip, tid, cycle as a time; period, but SPE that of the event, and TIMER in nanoseconds
 *	PEBS              branches
 *	TPEBS             retire_latency
 *	LOADS             address, level, coming, tlb as far as it was a walk; of its latencies that of the instruction,
 *	                  tag_to_complete - tag_to_issue, and that of the cache, which is less by translation
 *	IBS               address, bytes, level (of stores up to L2), coming, tlb; branch, taken, mispredicted, returns,
 *	                  target; tag_to_complete + complete_to_retire, complete_to_retire, miss of loads that missed,
 *	                  translation if the first TLB missed
 *	SPE               address, level, tlb as far as it was a walk; branch, taken, mispredicted, target if taken;
 *	                  tag_to_issue, tag_to_complete, translation */
#include "tests/accuracy/golden/words.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/error.h"
#include "base/index.h"
#include "collector/perfdata/put.h"
#include "collector/perfdata/write.h"
#include "tests/accuracy/golden/file.h"
#include "tests/accuracy/golden/ibs.h"
#include "tests/accuracy/golden/claims.h"
#include "tests/accuracy/golden/pebs.h"
#include "tests/accuracy/golden/spe.h"

/* The kernel's clock when cycle 0 is: 0 would be no time. */
#define START_NS UINT64_C(1000000000)

/* The cycle of a thread's sample before, and for how many cycles the thread has waited for others. */
struct turn { uint64_t cycle, waited; };

struct golden_words {
	enum golden_hardware hardware;
	const struct golden_claim *machine;
	struct golden_file *file;
	uint32_t pid;
	double ghz;
	uint64_t clock;                 /* of the sample before, in cycles */
	struct gus_index threads;       /* that were met */
	struct gus_vec(struct turn) turns; /* of each */
	struct golden_ibs ibs;
	struct words_bytes raw;         /* scratch */
	struct golden_spe spe;
};

static uint64_t time_now(const struct golden_words *w)
{
	return START_NS + (uint64_t)((double)w->clock / w->ghz);
}

/* The timer counts nanoseconds. */
static uint64_t period_of(enum golden_hardware hardware, double ghz, uint64_t cycles)
{
	uint64_t ns = (uint64_t)llround((double)cycles / ghz);

	return hardware != GOLDEN_TIMER ? cycles : ns ? ns : 1;
}

/* Records beside samples. */

static void put(struct golden_words *w, Gusprof__Record *r)
{
	gus_perfdata_put_record(&w->file->bytes, &w->file->layout, r, 1);
}

static void put_comm(struct golden_words *w, const char *comm)
{
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	Gusprof__Comm c = GUSPROF__COMM__INIT;

	c.pid = c.tid = w->pid;
	c.time = START_NS;
	c.name = (char *)(uintptr_t)comm;
	c.exec = true;
	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &c;
	put(w, &r);
}

/* Which file it is the kernel says by device and inode. */
static void put_mapping(struct golden_words *w, const struct golden_mapping *mapping)
{
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	Gusprof__Mmap m = GUSPROF__MMAP__INIT;
	struct stat st;

	m.pid = m.tid = w->pid;
	m.time = START_NS;
	m.start = mapping->start;
	m.length = mapping->length;
	m.offset = mapping->offset;
	m.path = (char *)(uintptr_t)mapping->path;
	m.protection = PROT_READ | PROT_EXEC;
	m.flags = MAP_PRIVATE;
	m.build_id = (ProtobufCBinaryData){ mapping->build_id_n, (uint8_t *)(uintptr_t)mapping->build_id };
	if (stat(mapping->path, &st) == 0) {
		m.major = major(st.st_dev);
		m.minor = minor(st.st_dev);
		m.inode = st.st_ino;
	}
	r.kind_case = GUSPROF__RECORD__KIND_MMAP;
	r.mmap = &m;
	put(w, &r);
}

static void put_task(struct golden_words *w, bool fork, uint32_t tid, uint64_t time)
{
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	Gusprof__Task t = GUSPROF__TASK__INIT;

	t.pid = t.ppid = t.ptid = w->pid;
	t.tid = tid;
	t.time = time;
	r.kind_case = fork ? GUSPROF__RECORD__KIND_FORK : GUSPROF__RECORD__KIND_EXIT;
	r.fork = &t;
	put(w, &r);
}

/* From the process's first one on, which forks from nobody here. */
static struct turn *turn_of(struct golden_words *w, uint32_t tid)
{
	uint32_t number = gus_index_add(&w->threads, &tid, NULL);

	while (w->turns.n <= number)
		gus_vec_push(&w->turns, (struct turn){ 0 });
	return &w->turns.v[number];
}

/* The clock is then that of a sample of the thread. */
static void set_clock(struct golden_words *w, uint32_t tid, uint64_t cycle)
{
	uint32_t met = w->threads.n;
	struct turn *turn = turn_of(w, tid);

	if (cycle + turn->waited < w->clock)
		turn->waited = w->clock - cycle;
	turn->cycle = cycle;
	w->clock = cycle + turn->waited;
	if (w->threads.n > met)
		put_task(w, true, tid, time_now(w));
}

/* Samples. */

static void put_identifier(struct golden_words *w, const struct golden_sample *s)
{
	(void)s;
	gus_put_u64(&w->file->bytes, w->file->attr.ids.v[0]);
}

static void put_ip(struct golden_words *w, const struct golden_sample *s)
{
	gus_put_u64(&w->file->bytes, s->ip);
}

static void put_thread(struct golden_words *w, const struct golden_sample *s)
{
	gus_put_u64(&w->file->bytes, w->pid | (uint64_t)s->tid << 32);
}

static void put_time(struct golden_words *w, const struct golden_sample *s)
{
	(void)s;
	gus_put_u64(&w->file->bytes, time_now(w));
}

static void put_address(struct golden_words *w, const struct golden_sample *s)
{
	gus_put_u64(&w->file->bytes, s->address);
}

static void put_cpu(struct golden_words *w, const struct golden_sample *s)
{
	(void)s;
	gus_put_u64(&w->file->bytes, 0);
}

static void put_period(struct golden_words *w, const struct golden_sample *s)
{
	gus_put_u64(&w->file->bytes, period_of(w->hardware, w->ghz, s->period));
}

static void put_raw(struct golden_words *w, const struct golden_sample *s)
{
	golden_ibs_put(&w->ibs, s, &w->raw);
	gus_put_u32(&w->file->bytes, (uint32_t)w->raw.n);
	gus_vec_append(&w->file->bytes, w->raw.v, w->raw.n);
}

static void put_branches(struct golden_words *w, const struct golden_sample *s)
{
	unsigned n = s->branches_n < GOLDEN_BRANCHES ? s->branches_n : GOLDEN_BRANCHES;

	gus_put_u64(&w->file->bytes, n);
	for (unsigned i = 0; i < n; i++) {
		gus_put_u64(&w->file->bytes, s->branches[i].from);
		gus_put_u64(&w->file->bytes, s->branches[i].to);
		gus_put_u64(&w->file->bytes, golden_pebs_branch(&s->branches[i]));
	}
}

static void put_weight(struct golden_words *w, const struct golden_sample *s)
{
	bool loads = w->hardware == GOLDEN_LOADS;

	gus_put_u64(&w->file->bytes, loads ? golden_pebs_load_weight(s) : golden_pebs_retire_weight(s));
}

static void put_source(struct golden_words *w, const struct golden_sample *s)
{
	gus_put_u64(&w->file->bytes, golden_pebs_source(s));
}

/* In the ABI's order. */
static const struct { uint64_t bit; void (*put)(struct golden_words *, const struct golden_sample *); } fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, put_identifier }, { PERF_SAMPLE_IP, put_ip }, { PERF_SAMPLE_TID, put_thread },
	{ PERF_SAMPLE_TIME, put_time }, { PERF_SAMPLE_ADDR, put_address }, { PERF_SAMPLE_CPU, put_cpu },
	{ PERF_SAMPLE_PERIOD, put_period }, { PERF_SAMPLE_RAW, put_raw }, { PERF_SAMPLE_BRANCH_STACK, put_branches },
	{ GOLDEN_SAMPLE_WEIGHT_STRUCT, put_weight }, { PERF_SAMPLE_DATA_SRC, put_source },
};

static void put_sample(struct golden_words *w, const struct golden_sample *s)
{
	struct gus_bytes *out = &w->file->bytes;
	size_t at = out->n, size;

	gus_put_u32(out, PERF_RECORD_SAMPLE);
	gus_put_u16(out, w->machine->misc);
	gus_put_u16(out, 0);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (w->machine->sample_type & fields[i].bit)
			fields[i].put(w, s);
	size = out->n - at; /* 32 branches, which is most, take less than a kilobyte */
	out->v[at + 6] = (uint8_t)size;
	out->v[at + 7] = (uint8_t)(size >> 8);
}

/* What no such hardware would have sampled is a fault of who emulates it. */
static int check(const struct golden_words *w, const struct golden_sample *s, struct gus_error *err)
{
	uint32_t number = gus_index_find(&w->threads, &s->tid);
	unsigned long long cycle = s->cycle, before = number < w->turns.n ? w->turns.v[number].cycle : 0;

	if (cycle < before)
		return gus_fail(err, GUS_E_USAGE, "cannot put a sample of cycle %llu into %s: one of cycle %llu of "
				"that thread is there already", cycle, w->file->path, before);
	if (w->hardware == GOLDEN_LOADS && !s->load)
		return gus_fail(err, GUS_E_USAGE, "cannot put the sample of cycle %llu into %s: it is of no load",
				cycle, w->file->path);
	return 0;
}

static bool is_spe(enum golden_hardware hardware)
{
	return hardware == GOLDEN_SPE || hardware == GOLDEN_SPE_SLOW;
}

int golden_words_put(struct golden_words *w, const struct golden_sample *s, struct gus_error *err)
{
	uint64_t time;

	if (check(w, s, err) != 0)
		return -1;
	set_clock(w, s->tid, s->cycle);
	time = time_now(w);
	w->file->first_ns = w->file->first_ns ? w->file->first_ns : time;
	w->file->last_ns = time;
	if (is_spe(w->hardware))
		golden_spe_put(&w->spe, s, time, w->file);
	else
		put_sample(w, s);
	return golden_file_go_on(w->file, err);
}

struct golden_words *golden_words_open(enum golden_hardware hardware, const char *path,
				       const struct golden_about *about, struct gus_error *err)
{
	struct golden_words *w;
	struct golden_file *file;

	if (!(about->ghz > 0)) {
		gus_fail(err, GUS_E_USAGE, "cannot make %s: cycles take no time at %g GHz", path, about->ghz);
		return NULL;
	}
	file = golden_file_open(path, golden_claim_of(hardware), about->comm,
				period_of(hardware, about->ghz, about->period), err);
	if (!file)
		return NULL;
	w = gus_zalloc(sizeof(*w));
	*w = (struct golden_words){ .hardware = hardware, .machine = golden_claim_of(hardware), .file = file,
		.pid = about->pid, .ghz = about->ghz };
	gus_index_init(&w->threads, sizeof(uint32_t));
	gus_index_add(&w->threads, &w->pid, NULL);
	golden_ibs_init(&w->ibs, hardware == GOLDEN_IBS_OPS);
	if (is_spe(hardware))
		golden_spe_begin(&w->spe, w->pid, file);
	put_comm(w, about->comm);
	for (size_t i = 0; i < about->mappings_n; i++)
		put_mapping(w, &about->mappings[i]);
	return w;
}

/* SPE does not say how many it has lost, only that it has. */
static void put_lost(struct golden_words *w, uint64_t lost, uint64_t time)
{
	if (is_spe(w->hardware))
		golden_spe_end(&w->spe, time, lost, w->file);
	else if (lost)
		golden_file_put(w->file, PERF_RECORD_LOST_SAMPLES, 0, &lost, 1, w->pid, w->pid, time);
}

int golden_words_finish(struct golden_words *w, uint64_t lost, struct gus_error *err)
{
	uint64_t time = time_now(w);
	int rc;

	put_lost(w, lost, time);
	for (uint32_t i = w->threads.n; i-- > 0;) { /* the process's first one is its last */
		uint32_t tid;

		memcpy(&tid, gus_index_key(&w->threads, i), sizeof(tid));
		put_task(w, false, tid, time);
	}
	rc = golden_file_finish(w->file, err);
	gus_index_free(&w->threads);
	gus_vec_free(&w->turns);
	free(w);
	return rc;
}
