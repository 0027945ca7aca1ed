/* SPDX-License-Identifier: MIT */
/* Memory that is always there. A profiler that cannot get a few megabytes cannot do anything useful with the
 * failure; it stops with one message, and the recording on disk stays whole up to its last frame. Sizes that come
 * from foreign bytes are bounded by their parser before they get here. */
#ifndef GUS_BASE_ALLOC_H
#define GUS_BASE_ALLOC_H

#include <stddef.h>
#include <string.h>

/* Ends the program for want of so many bytes, with a line on stderr and status 125. For those who allocate otherwise
 * than with the functions below; libraries that take their memory from malloc are seen to in cli/memory.c. */
void gus_alloc_failed(size_t size) __attribute__((noreturn, cold));
void *gus_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *gus_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
/* Room for count things of the given size each; stops the program if the product overflows. */
void *gus_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *gus_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *gus_strndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));
/* A new string by format; the caller frees it. */
char *gus_format(const char *format, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* A growing array of T. `struct gus_vec(T) name = {0};`, elements name.v[0 .. name.n-1], freed with gus_vec_free.
 * Pushing may move the elements: keep indexes, not pointers. */
#define gus_vec(T) { T *v; size_t n, room; }
#define gus_vec_reserve(vec, count) \
	do { \
		size_t want_ = (count); \
		if (want_ > (vec)->room) { \
			(vec)->room = want_ > 2 * (vec)->room ? want_ : 2 * (vec)->room; \
			(vec)->v = gus_resize((vec)->v, (vec)->room, sizeof(*(vec)->v)); \
		} \
	} while (0)
#define gus_vec_push(vec, ...) \
	do { \
		gus_vec_reserve(vec, (vec)->n < 8 ? 8 : (vec)->n + 1); \
		(vec)->v[(vec)->n++] = (__VA_ARGS__); \
	} while (0)
#define gus_vec_append(vec, from, count) \
	do { \
		size_t count_ = (count); \
		if (count_) { \
			gus_vec_reserve(vec, (vec)->n + count_); \
			memcpy((vec)->v + (vec)->n, (from), count_ * sizeof(*(vec)->v)); \
			(vec)->n += count_; \
		} \
	} while (0)
#define gus_vec_free(vec) \
	do { \
		free((vec)->v); \
		(vec)->v = NULL; \
		(vec)->n = (vec)->room = 0; \
	} while (0)

#endif
