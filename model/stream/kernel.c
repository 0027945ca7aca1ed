/* SPDX-License-Identifier: MIT */
/* The kernel for each width of vectors. A pass runs as many lanes as the processor does at once: more in one type are
 * spilled to the stack and back (32 lanes in one type: 5 M instructions a second where four passes of 8 reach 18 M). */
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "model/stream/private.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors go to inlined functions only */

/* Ticks after which times are taken down: half of what fits; how far ahead of dispatch retirement may be (100,000
 * cycles); and after how many ops that is looked at, if none of them takes 13,000 cycles (STREAM_SLOW). */
enum { REBASE = 1 << 30, AHEAD_MOST = 1 << 29, REBASE_EVERY = 16, TOSSES_EVERY = 64 };

/* Zeroed, and as vectors must lie. */
static void *aligned_zalloc(size_t size)
{
	void *memory;

	size = (size + 63) / 64 * 64;
	memory = aligned_alloc(64, size);
	if (!memory)
		gus_alloc_failed(size);
	return memset(memory, 0, size);
}

static bool always(void)
{
	return true;
}

#define VECTOR_LATER(type, a, b) \
	__extension__({ type a_ = (a), b_ = (b), later_ = a_ > b_; (a_ & later_) | (b_ & ~later_); })

#define VECTOR_SOONER(type, a, b) \
	__extension__({ type a_ = (a), b_ = (b), sooner_ = a_ < b_; (a_ & sooner_) | (b_ & ~sooner_); })

#if defined(__x86_64__)
static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

typedef int32_t sixteen __attribute__((vector_size(64)));
#define NAME(name) name##_16
#define stream_time sixteen
#define LANES 16
#define LATER(a, b) ((sixteen)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#define SOONER(a, b) ((sixteen)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#define ANY_LATER(a, b) (_mm512_cmpgt_epi32_mask((__m512i)(a), (__m512i)(b)) != 0)
#define LATER_MASK(a, b) ((a) > (b))
#define LANE(t, k) ((t)[k])
#define FIRST(t) ((t)[0])
#define TARGET __attribute__((target("avx512f")))
#include "model/stream/kernel.h"

typedef int32_t eight __attribute__((vector_size(32)));
#define NAME(name) name##_8
#define stream_time eight
#define LANES 8
#define LATER(a, b) ((eight)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define SOONER(a, b) ((eight)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define ANY_LATER(a, b) (_mm256_movemask_epi8(_mm256_cmpgt_epi32((__m256i)(a), (__m256i)(b))) != 0)
#define LATER_MASK(a, b) ((a) > (b))
#define LANE(t, k) ((t)[k])
#define FIRST(t) ((t)[0])
#define TARGET __attribute__((target("avx2")))
#include "model/stream/kernel.h"
#endif

typedef int32_t four __attribute__((vector_size(16)));
#define NAME(name) name##_4
#define stream_time four
#define LANES 4
#define LATER(a, b) VECTOR_LATER(four, a, b)
#define SOONER(a, b) VECTOR_SOONER(four, a, b)
#define ANY_LATER(a, b) \
	__extension__({ four later_ = (a) > (b); (later_[0] | later_[1] | later_[2] | later_[3]) != 0; })
#define LATER_MASK(a, b) ((a) > (b))
#define LANE(t, k) ((t)[k])
#define FIRST(t) ((t)[0])
#define TARGET
#include "model/stream/kernel.h"

static inline int32_t later_1(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static inline int32_t sooner_1(int32_t a, int32_t b)
{
	return a < b ? a : b;
}
#define NAME(name) name##_1
#define stream_time int32_t
#define LANES 1
#define LATER(a, b) later_1(a, b)
#define SOONER(a, b) sooner_1(a, b)
#define ANY_LATER(a, b) ((a) > (b))
#define LATER_MASK(a, b) (-(int32_t)((a) > (b)))
#define LANE(t, k) ((void)(k), (t))
#define FIRST(t) (t)
#define TARGET
#include "model/stream/kernel.h"

const struct stream_kernel gus_stream_kernels[] = {
#if defined(__x86_64__)
	{ 16, has_avx512, open_16, grow_16, run_16, now_16, region_of_16, op_of_16, close_16 },
	{ 8, has_avx2, open_8, grow_8, run_8, now_8, region_of_8, op_of_8, close_8 },
#endif
	{ 4, always, open_4, grow_4, run_4, now_4, region_of_4, op_of_4, close_4 },
	{ 1, always, open_1, grow_1, run_1, now_1, region_of_1, op_of_1, close_1 },
};
