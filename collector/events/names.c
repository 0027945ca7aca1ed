/* SPDX-License-Identifier: MIT */
#include "collector/events/names.h"

#include <linux/perf_event.h>
#include <string.h>
#include <strings.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Generic events, canonical name first. */
static const struct gus_event_name generics[] = {
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "bpf-output", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
};

/* Cache events are CACHE[-OPERATION][-RESULT]; which operations a cache has is the kernel's interface. */
#define READ_BIT (1u << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE_BIT (1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH_BIT (1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)

static const struct cache_name {
	const char *names[6]; /* canonical first */
	unsigned operations;
} caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { { "L1-dcache", "L1-d", "L1d", "L1-data" }, READ_BIT | WRITE_BIT | PREFETCH_BIT },
	[PERF_COUNT_HW_CACHE_L1I] = { { "L1-icache", "L1-i", "L1i", "L1-instruction" }, READ_BIT | PREFETCH_BIT },
	[PERF_COUNT_HW_CACHE_LL] = { { "LLC", "L2" }, READ_BIT | WRITE_BIT | PREFETCH_BIT },
	[PERF_COUNT_HW_CACHE_DTLB] = { { "dTLB", "d-tlb", "Data-TLB" }, READ_BIT | WRITE_BIT | PREFETCH_BIT },
	[PERF_COUNT_HW_CACHE_ITLB] = { { "iTLB", "i-tlb", "Instruction-TLB" }, READ_BIT },
	[PERF_COUNT_HW_CACHE_BPU] = { { "branch", "branches", "bpu", "btb", "bpc" }, READ_BIT },
	[PERF_COUNT_HW_CACHE_NODE] = { { "node" }, READ_BIT | WRITE_BIT | PREFETCH_BIT },
};

static const struct cache_word {
	const char *word;
	bool is_result;
	unsigned value;
} cache_words[] = {
	{ "loads", false, PERF_COUNT_HW_CACHE_OP_READ },
	{ "load", false, PERF_COUNT_HW_CACHE_OP_READ },
	{ "read", false, PERF_COUNT_HW_CACHE_OP_READ },
	{ "stores", false, PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "store", false, PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "write", false, PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetches", false, PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "prefetch", false, PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-read", false, PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-load", false, PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "misses", true, PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "miss", true, PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "refs", true, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "reference", true, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "ops", true, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "access", true, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
};

const struct gus_event_name *gus_event_name_find(struct gus_piece name)
{
	for (size_t i = 0; i < COUNT(generics); i++)
		if (gus_piece_is(name, generics[i].name) ||
		    (generics[i].alias && gus_piece_is(name, generics[i].alias)))
			return &generics[i];
	return NULL;
}

const struct gus_event_name *gus_event_name_at(size_t i)
{
	return i < COUNT(generics) ? &generics[i] : NULL;
}

/* The number of the cache that s begins with, taken off s; the longest name wins (L1-d is a prefix of L1-dcache). */
static int take_cache(struct gus_piece *s)
{
	size_t best = 0;
	int cache = -1;

	for (size_t c = 0; c < COUNT(caches); c++)
		for (size_t i = 0; i < COUNT(caches[c].names) && caches[c].names[i]; i++) {
			size_t n = strlen(caches[c].names[i]);

			if (n > best && n < s->size && s->text[n] == '-' &&
			    strncasecmp(s->text, caches[c].names[i], n) == 0) {
				best = n;
				cache = (int)c;
			}
		}
	s->text += best;
	s->size -= best;
	return cache;
}

/* Takes "-WORD" off s. */
static const struct cache_word *take_cache_word(struct gus_piece *s)
{
	for (size_t i = 0; i < COUNT(cache_words); i++) {
		size_t n = strlen(cache_words[i].word);

		if (s->size > n && s->text[0] == '-' && strncasecmp(s->text + 1, cache_words[i].word, n) == 0 &&
		    (s->size == n + 1 || s->text[n + 1] == '-')) {
			s->text += n + 1;
			s->size -= n + 1;
			return &cache_words[i];
		}
	}
	return NULL;
}

bool gus_event_cache_parse(struct gus_piece s, uint64_t *config)
{
	unsigned operation = PERF_COUNT_HW_CACHE_OP_READ, result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	const struct cache_word *word;
	bool seen[2] = { false, false };
	int cache = take_cache(&s);

	if (cache < 0)
		return false;
	while (s.size) {
		word = take_cache_word(&s);
		if (!word || seen[word->is_result])
			return false;
		seen[word->is_result] = true;
		*(word->is_result ? &result : &operation) = word->value;
	}
	if (!(caches[cache].operations & (1u << operation)))
		return false;
	*config = (uint64_t)cache | operation << 8 | result << 16;
	return true;
}
