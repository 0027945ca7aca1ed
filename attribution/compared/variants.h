/* SPDX-License-Identifier: MIT */
/* Functions that a library has several of, one for each kind of CPU, and of which it takes one when it is loaded. An
 * emulator shows another CPU than the one that was measured on, so time is measured in one of them and modelled in
 * another, or in one and the same that goes another way by what the CPU has: by `rep movsb`, or by a loop.
 *
 * They are told by their names, as glibc makes them: what it does, and then for what: __memmove_avx_unaligned_erms and
 * __memmove_sse2_unaligned, __sin_fma, __memcpy_a64fx. Those without a name are not told. */
#ifndef GUS_ATTRIBUTION_COMPARED_VARIANTS_H
#define GUS_ATTRIBUTION_COMPARED_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_coverage;
struct gus_traced;

/* Whether two functions of one library are variants, or one and the same that is a variant. */
bool gus_libvariant_is_same(const char *a, const char *b);

/* The function of the trace that stands for the one at that place of coverage->elsewhere: of the same file, and of
 * several that which took longest; GUS_TRACED_NONE: there is none. */
uint32_t gus_libvariant_modelled(const struct gus_traced *t, const struct gus_coverage *coverage, size_t elsewhere);
/* The place in coverage->elsewhere of what was measured where the trace has this function; NONE likewise. */
uint32_t gus_libvariant_measured(const struct gus_traced *t, const struct gus_coverage *coverage, uint32_t function);

#endif
