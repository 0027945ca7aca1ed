/* SPDX-License-Identifier: MIT */
#include "collector/host/peek.h"

#include <sys/uio.h>

#define PIECE 4096u /* a call ends at the first piece that is not all there, and pages are no smaller */
#define PIECES (GUS_PEEK_MOST / PIECE + 1)

size_t gus_peek(pid_t pid, uint64_t address, void *out, size_t size)
{
	struct iovec there[PIECES], here = { out, size };
	size_t n = 0;
	ssize_t got;

	if (size > GUS_PEEK_MOST)
		size = here.iov_len = GUS_PEEK_MOST;
	for (uint64_t at = address, left = size; left; n++) {
		size_t piece = PIECE - at % PIECE;

		piece = piece < left ? piece : left;
		there[n] = (struct iovec){ (void *)(uintptr_t)at, piece }; /* the other's addresses are numbers */
		at += piece;
		left -= piece;
	}
	got = process_vm_readv(pid, &here, 1, there, n, 0);
	return got > 0 ? (size_t)got : 0;
}

size_t gus_peek_words(pid_t pid, const uint64_t *addresses, uint64_t *out, size_t n)
{
	struct iovec there[GUS_PEEK_WORDS], here = { out, n * sizeof(*out) };
	ssize_t got;

	if (n > GUS_PEEK_WORDS)
		return 0;
	for (size_t i = 0; i < n; i++)
		there[i] = (struct iovec){ (void *)(uintptr_t)addresses[i], sizeof(*out) };
	got = process_vm_readv(pid, &here, 1, there, n, 0);
	return got > 0 ? (size_t)got / sizeof(*out) : 0;
}
