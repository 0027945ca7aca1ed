/* SPDX-License-Identifier: MIT */
/* Fuzz target of the trace reader: blocks and steps of arbitrary bytes, behind sums that are put right first. Whatever
 * is given out is read to its last byte, steps agree with their blocks, and an end without success has a reason. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/trace.h"
#include "tests/fuzz/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check_step(const struct gus_trace *t, const struct gus_trace_step *step)
{
	struct gus_trace_block block;
	uint32_t size = 0;
	volatile uint8_t last;  /* kept by the compiler */

	demand(step->block < gus_trace_blocks(t));
	demand(step->next <= GUS_TRACE_NEXT_TAKEN && step->accesses_n <= GUS_TRACE_STEP_ACCESSES);
	block = gus_trace_block(t, step->block);
	demand(block.insns && block.insns <= GUS_TRACE_BLOCK_INSNS);
	for (uint32_t i = 0; i < block.insns; i++)
		size += block.lengths[i];
	demand(size == block.size);
	last = block.bytes[size - 1];
	(void)last;
	for (uint32_t i = 0; i < step->accesses_n; i++)
		demand(step->accesses[i].insn < block.insns && step->accesses[i].size);
}

/* Every record is there to its last letter, and no more of them than a trace may have. */
static void check_records(const struct gus_trace *t)
{
	size_t n, letters = 0;
	const Gusprof__Record *const *records = gus_trace_records(t, &n);

	demand(n <= GUS_TRACE_RECORDS_MAX);
	for (size_t i = 0; i < n; i++)
		if (records[i]->kind_case == GUSPROF__RECORD__KIND_MMAP)
			letters += strlen(records[i]->mmap->path) + records[i]->mmap->build_id.len;
	demand(letters <= GUS_TRACE_RECORDS_BYTES);
}

static uint64_t read_all(struct gus_trace *t)
{
	struct gus_error err = { 0 };
	struct gus_trace_step step;
	uint64_t steps = 0;
	int got;

	demand(gus_trace_about(t) != NULL);
	while ((got = gus_trace_next(t, &step, &err)) == 1) {
		check_step(t, &step);
		steps++;
	}
	demand(got == 0 ? gus_trace_total(t) && gus_trace_total(t)->steps == steps : err.code != GUS_OK && err.text[0]);
	demand(gus_trace_next(t, &step, &err) == got); /* it stays at its end */
	check_records(t);
	return steps;
}

/* Read as a pipe is read, front to back, it is the same. */
static void read_as_stream(const uint8_t *bytes, size_t size, bool opens, uint64_t steps)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct gus_error err = { 0 };
	struct gus_trace *t;

	demand(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	t = gus_trace_open_fd(fd, &err);
	demand(!t == !opens);
	if (t)
		demand(read_all(t) == steps);
	gus_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = gus_alloc(size);
	struct gus_error err = { 0 };
	struct gus_trace *t;
	uint64_t steps = 0;
	uint8_t leave = size ? data[0] : 0;

	size -= size > 0;
	if (size)
		memcpy(copy, data + 1, size);
	if (!(leave & 8))
		seal(copy, size, leave);
	t = gus_trace_open_memory(copy, size, &err);
	demand(t || err.code != GUS_OK);
	if (t)
		steps = read_all(t);
	read_as_stream(copy, size, t != NULL, steps);
	gus_trace_close(t);
	free(copy);
	return 0;
}
