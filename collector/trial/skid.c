/* SPDX-License-Identifier: MIT */
/* A loop of one slow instruction and a line of quick ones behind it. Each round waits for the slow one of the round
 * before, so nearly all the time it is the oldest that has not retired, and where a sample lands tells how far samples
 * are carried from there. The quick ones depend on nothing; there are enough of them that even a core that retires
 * eight in a cycle ends the line only after some cycles, and few enough that their own time hardly counts.
 * Products are waited for as well, each by the next; there are no quick ones.
 *
 * The load goes round a ring of lines of the caches, in an order that no prefetcher follows, and before each pass all
 * of them are flushed. (A ring larger than the caches would take longer to make than the whole test.) */
#include "collector/trial/skid.h"

#include <string.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "collector/events/attr.h"
#include "collector/events/cargo.h"
#include "collector/events/event.h"
#include "collector/host/clock.h"
#include "collector/kernel/perf.h"
#include "collector/records/records.h"
#include "collector/trial/self.h"

#define PERIOD_NS 30011         /* 33,000 samples a second: more of them, and it is the kernel that is sampled */
#define PERIOD_CYCLES 100003
#define ENOUGH_SAMPLES 500      /* a kind; of a share of 99 % the half of a 95 % interval is one */
#define GIVE_UP_NS 30000000     /* a kind */
#define SILENT_NS 5000000       /* without a single one */
#define LINE 28                 /* quick ones */
#define BEFORE 3
#define NODES 2048
#define NODE_BYTES 128          /* two lines of most caches: what is fetched in pairs is fetched for nothing */
#define ROOTS 10000             /* of a pass: some 60 us */
#define PRODUCTS 20000          /* likewise */

struct node { struct node *next; char rest[NODE_BYTES - sizeof(void *)]; };

#if defined(__x86_64__)
#define TOLD "lea 2f(%%rip), %[slow]\n\tlea 3f(%%rip), %[first]\n\tlea 4f(%%rip), %[end]\n\tlea 5f(%%rip), %[last]\n\t"
#define ROUND(insn) ".p2align 6\n2:\t" insn "\n3:\t.rept 28\n\tnopl (%%rax)\n\t.endr\n4:\tdec %[n]\n5:\tjne 2b\n\t"
#define PRODUCT_ROUND ".p2align 6\n2:\timul %[x], %[x]\n3:\t.rept 5\n\timul %[x], %[x]\n\t.endr\n" \
	"4:\tdec %[n]\n5:\tjne 2b\n\t"
#define CHASE "mov (%[node]), %[node]"
#define ROOT "sqrtsd %[x], %[x]"
#define IN_VECTOR "+x"

static void flush(const void *line)
{
	__asm__ volatile("clflush (%0)" : : "r"(line) : "memory");
}

static void flushed(void)
{
	__asm__ volatile("mfence" : : : "memory");
}
#elif defined(__aarch64__)
#define TOLD "adr %[slow], 2f\n\tadr %[first], 3f\n\tadr %[end], 4f\n\tadr %[last], 5f\n\t"
#define ROUND(insn) ".p2align 6\n2:\t" insn "\n3:\t.rept 28\n\tnop\n\t.endr\n4:\tsubs %[n], %[n], #1\n5:\tb.ne 2b\n\t"
#define PRODUCT_ROUND ".p2align 6\n2:\tmul %[x], %[x], %[x]\n3:\t.rept 5\n\tmul %[x], %[x], %[x]\n\t.endr\n" \
	"4:\tsubs %[n], %[n], #1\n5:\tb.ne 2b\n\t"
#define CHASE "ldr %[node], [%[node]]"
#define ROOT "fsqrt %d[x], %d[x]"
#define IN_VECTOR "+w"

/* Allowed to programs: Linux sets SCTLR_EL1.UCI. */
static void flush(const void *line)
{
	__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}

static void flushed(void)
{
	__asm__ volatile("dsb ish" : : : "memory");
}
#endif

#ifdef TOLD
#define TELLS [slow] "=&r"(line->slow), [first] "=&r"(line->first), [end] "=&r"(line->end), [last] "=&r"(line->last)

/* Each is in one place of the program, so that its addresses are one line's. */
static __attribute__((noinline)) struct node *chase(struct gus_trial_line *line, struct node *node, uint64_t n)
{
	__asm__ volatile(TOLD ROUND(CHASE) : TELLS, [node] "+&r"(node), [n] "+&r"(n) : : "cc", "memory");
	return node;
}

static __attribute__((noinline)) double roots(struct gus_trial_line *line, double x, uint64_t n)
{
	__asm__ volatile(TOLD ROUND(ROOT) : TELLS, [x] IN_VECTOR(x), [n] "+&r"(n) : : "cc");
	return x;
}

/* Of odd numbers, which products of odd ones are. */
static __attribute__((noinline)) uint64_t multiply(struct gus_trial_line *line, uint64_t x, uint64_t n)
{
	__asm__ volatile(TOLD PRODUCT_ROUND : TELLS, [x] "+&r"(x), [n] "+&r"(n) : : "cc");
	return x;
}
#endif

/* Where the three before the slow one end: they are the last ones of the round before. */
static bool is_before(const struct gus_trial_line *line, uint64_t ip, uint64_t size)
{
	return ip == line->last || ip == line->end || (BEFORE > 2 && ip == line->end - size);
}

void gus_trial_land(struct gus_skid_counts *counts, const struct gus_trial_line *line, uint64_t ip)
{
	uint64_t size = (line->end - line->first) / line->quick, at;

	if (ip < line->slow || ip > line->last)
		return;
	if (is_before(line, ip, size)) {
		counts->before++;
		return;
	}
	at = ip < line->first ? 0 : 1 + (ip - line->first) / size;
	if (at < GUS_SKID_NEAR)
		counts->at[at]++;
	else
		counts->farther++;
}

#ifdef TOLD
/* One kind while it is tried. */
struct test {
	struct gus_self self;
	struct gus_records records;
	struct gus_trial_line line;
	struct gus_skid_counts *counts;
	uint64_t samples;       /* anywhere */
	struct node *ring;
	uint64_t product;
	double x;               /* of the roots: below 1 they come to all ones, which no divider is quick with */
};

static void take(const void *record, size_t size, void *context)
{
	struct test *t = context;
	struct perf_event_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, record, sizeof(h));
	if (h.type != PERF_RECORD_SAMPLE)
		return;
	t->samples++;
	gus_trial_land(t->counts, &t->line, gus_records_parse(&t->records, record, size, NULL).sample.ip);
}

/* An order through all nodes that looks like chance: x -> a x + 1 modulo a power of two has no
 * shorter period if a is one above a multiple of four (Knuth, The Art of Computer Programming 2, 3.2.1.2). */
static struct node *ring_make(void)
{
	struct node *nodes = gus_alloc(NODES * sizeof(*nodes));

	for (size_t i = 0; i < NODES; i++)
		nodes[i].next = &nodes[(1629 * i + 1) % NODES];
	return nodes;
}

static void pass(struct test *t, enum gus_skid_slow slow)
{
	for (size_t i = 0; slow == GUS_SKID_LOAD && i < NODES; i++)
		flush(&t->ring[i]);
	flushed();
	gus_perf.ioctl(t->self.fd, PERF_EVENT_IOC_ENABLE, 0);
	if (slow == GUS_SKID_LOAD)
		t->ring = chase(&t->line, t->ring, NODES);
	else if (slow == GUS_SKID_ROOT)
		t->x = roots(&t->line, t->x, ROOTS);
	else
		t->product = multiply(&t->line, t->product, PRODUCTS);
	/* This empties the buffers of precise events into the ring. */
	gus_perf.ioctl(t->self.fd, PERF_EVENT_IOC_DISABLE, 0);
	gus_ring_drain(&t->self.ring, take, t);
}

static void try_slow(struct test *t, enum gus_skid_slow slow)
{
	uint64_t start = gus_clock_ns(CLOCK_MONOTONIC), since;

	do {
		pass(t, slow);
		since = gus_clock_ns(CLOCK_MONOTONIC) - start;
	} while (gus_skid_samples(t->counts) < ENOUGH_SAMPLES && since < GIVE_UP_NS &&
		 (t->samples || since < SILENT_NS));
}

void gus_trial_skid(const struct gus_event *event, struct gus_skid *skid)
{
	const struct gus_cargo flat = { 0 };
	const struct gus_attr_plan plan = { .cargo = flat };
	uint64_t period = gus_event_is_clock(event) ? PERIOD_NS : PERIOD_CYCLES;
	struct node *ring;

	*skid = (struct gus_skid){ 0 };
	if (strcmp(event->unit, "ns") != 0 && strcmp(event->unit, "cycles") != 0)
		return;
	ring = ring_make();
	for (unsigned s = 0; s < GUS_SKID_SLOWS; s++) {
		struct test t = { .counts = &skid->counts[s], .ring = ring,
			.line.quick = s == GUS_SKID_PRODUCT ? GUS_SKID_PRODUCTS - 1 : LINE, .x = 0.3, .product = 3 };

		if (gus_self_open(&t.self, event, period, &flat) != 0)
			break;
		gus_records_init(&t.records, gus_attr_sample_type(&plan), 0, 1);
		try_slow(&t, (enum gus_skid_slow)s);
		gus_records_free(&t.records);
		gus_self_close(&t.self);
	}
	free(ring);
}
#else
void gus_trial_skid(const struct gus_event *event, struct gus_skid *skid)
{
	(void)event;
	*skid = (struct gus_skid){ 0 };
}
#endif
