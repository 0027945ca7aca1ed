/* SPDX-License-Identifier: MIT */
#include "tracing/plugin/calls.h"

#include <linux/sched.h>
#include <stddef.h>

struct row { int16_t number, call; };

/* mmap, mprotect, munmap, mremap, shmat, pkey_mprotect; fork, vfork; clone; execve; execveat; kill, tkill, tgkill;
 * close; close_range; dup2, dup3; rt_sigaction: from the kernel's arch/x86/entry/syscalls/syscall_64.tbl,
 * syscall_32.tbl, and include/uapi/asm-generic/unistd.h. Of 32 bits, which nothing is followed of, the first line. */
static const struct row x86_64[] = {
	{ 9, GUS_CALL_MAPS }, { 10, GUS_CALL_MAPS }, { 11, GUS_CALL_MAPS }, { 25, GUS_CALL_MAPS },
		{ 30, GUS_CALL_MAPS },
	{ 329, GUS_CALL_MAPS }, { 57, GUS_CALL_FORK }, { 58, GUS_CALL_FORK }, { 56, GUS_CALL_CLONE },
		{ 59, GUS_CALL_EXECVE },
	{ 322, GUS_CALL_EXECVEAT }, { 62, GUS_CALL_KILL }, { 200, GUS_CALL_KILL }, { 234, GUS_CALL_KILL },
	{ 3, GUS_CALL_CLOSE }, { 436, GUS_CALL_CLOSE_RANGE }, { 33, GUS_CALL_DUP }, { 292, GUS_CALL_DUP },
	{ 13, GUS_CALL_SIGACTION },
};
/* Also old mmap, and ipc, in which shmat is. */
static const struct row x86_32[] = {
	{ 90, GUS_CALL_MAPS }, { 192, GUS_CALL_MAPS }, { 125, GUS_CALL_MAPS }, { 91, GUS_CALL_MAPS },
		{ 163, GUS_CALL_MAPS },
	{ 117, GUS_CALL_MAPS }, { 397, GUS_CALL_MAPS }, { 380, GUS_CALL_MAPS }, { 2, GUS_CALL_FORK },
		{ 190, GUS_CALL_FORK },
	{ 120, GUS_CALL_CLONE }, { 11, GUS_CALL_EXECVE }, { 358, GUS_CALL_EXECVEAT }, { 37, GUS_CALL_KILL },
	{ 238, GUS_CALL_KILL }, { 270, GUS_CALL_KILL },
};
static const struct row arm64[] = {
	{ 222, GUS_CALL_MAPS }, { 226, GUS_CALL_MAPS }, { 215, GUS_CALL_MAPS }, { 216, GUS_CALL_MAPS },
		{ 196, GUS_CALL_MAPS },
	{ 288, GUS_CALL_MAPS }, { 220, GUS_CALL_CLONE }, { 221, GUS_CALL_EXECVE }, { 281, GUS_CALL_EXECVEAT },
	{ 129, GUS_CALL_KILL }, { 130, GUS_CALL_KILL }, { 131, GUS_CALL_KILL },
	{ 57, GUS_CALL_CLOSE }, { 436, GUS_CALL_CLOSE_RANGE }, { 24, GUS_CALL_DUP }, { 134, GUS_CALL_SIGACTION },
};
static const struct { const struct row *rows; size_t n; } tables[] = {
	[GUS_TRANSLATED_X86_64] = { x86_64, sizeof(x86_64) / sizeof(*x86_64) },
	[GUS_TRANSLATED_X86_32] = { x86_32, sizeof(x86_32) / sizeof(*x86_32) },
	[GUS_TRANSLATED_ARM64] = { arm64, sizeof(arm64) / sizeof(*arm64) },
};

enum gus_system_call gus_system_call_of(enum gus_translated_isa isa, int64_t number)
{
	if (isa == GUS_TRANSLATED_OTHER)
		return GUS_CALL_MAPS;
	for (size_t i = 0; i < tables[isa].n; i++)
		if (tables[isa].rows[i].number == number)
			return (enum gus_system_call)tables[isa].rows[i].call;
	return GUS_CALL_OTHER;
}

bool gus_system_call_clones(uint64_t flags)
{
	return !(flags & CLONE_VM) || flags & CLONE_VFORK;
}
