/* SPDX-License-Identifier: MIT */
/* What gusprof-replay does on each kind of machine: to read the image and put it where it was. It has no library, so
 * the kernel's interface is here as well, as far as it is needed. */
#ifndef GUS_TRACING_REPLAY_LOAD_H
#define GUS_TRACING_REPLAY_LOAD_H

#include <stdint.h>

#include "tracing/replay/image_format.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define STACK_SIZE 65536

enum { PROT_RW = 3, MAP_SHARED_ = 1, MAP_PRIVATE_ = 2, MAP_FIXED_ = 0x10, MAP_ANONYMOUS_ = 0x20 };

#if defined(__x86_64__)
enum { SYS_WRITE = 1, SYS_MMAP = 9, SYS_MPROTECT = 10, SYS_MUNMAP = 11, SYS_RT_SIGACTION = 13,
	SYS_RT_SIGRETURN = 15, SYS_PREAD = 17, SYS_EXIT = 60, SYS_SIGALTSTACK = 131, SYS_PRCTL = 157,
	SYS_ARCH_PRCTL = 158, SYS_SECCOMP = 317 };

static inline long call(long n, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx",
			 "r11", "memory");
	return result;
}
#else
enum { SYS_WRITE = 64, SYS_PREAD = 67, SYS_EXIT = 93, SYS_SIGALTSTACK = 132, SYS_RT_SIGACTION = 134,
	SYS_RT_SIGRETURN = 139, SYS_MUNMAP = 215, SYS_MMAP = 222, SYS_MPROTECT = 226 };

static inline long call(long n, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	register uint64_t x4 __asm__("x4") = e, x5 __asm__("x5") = f, x8 __asm__("x8") = (uint64_t)n;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
	return (long)x0;
}
#endif

/* What gus_replay_load has read; its registers and state are for who goes on. */
extern struct gus_replay_image replay_image HIDDEN;

/* The last words, in hexadecimal where a number helps; an exit status of gus_replay_status. */
void gus_replay_give_up(int status, const char *text, uint64_t number) __attribute__((noreturn)) HIDDEN;
/* Bytes of a file to an address: all of them, or it gives up. */
void gus_replay_read_all(int fd, uint64_t to, uint64_t size, uint64_t at) HIDDEN;
/* The image, which is open as that descriptor: all its memory is in its place then. */
void gus_replay_load(int fd) HIDDEN;
/* The descriptor whose number a word is. */
int gus_replay_number_of(const char *word) HIDDEN;

#endif
