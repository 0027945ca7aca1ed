/* SPDX-License-Identifier: MIT */
/* A look into a running process's memory, without holding it. */
#ifndef GUS_COLLECTOR_HOST_PEEK_H
#define GUS_COLLECTOR_HOST_PEEK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GUS_PEEK_MOST (1u << 20) /* bytes at a time */

/* Copies up to size bytes from that address on. Returns how many there are up to the first page that is not mapped: 0
 * also if the process has gone, or is none that this user may look into (ptrace's rules). */
size_t gus_peek(pid_t pid, uint64_t address, void *out, size_t size);

#define GUS_PEEK_WORDS 64u

/* The words at n addresses, at most GUS_PEEK_WORDS. Returns how many there are up to the first that is not mapped. */
size_t gus_peek_words(pid_t pid, const uint64_t *addresses, uint64_t *out, size_t n);

#endif
