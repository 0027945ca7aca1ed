/* SPDX-License-Identifier: MIT */
/* Turns a recording into a seed for fuzz_recording: `make_seed RECORDING >SEED`. Frames are stored raw, so that the fuzzer
 * changes what is in them and not just zstd's bytes; their sums are put right by the target. */
#include <stdio.h>
#include <string.h>

#include "proto/reader.h"

static void put(uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		putchar((int)(value >> 8 * i & 0xff));
}

static void put_frame(const struct gus_frame *frame)
{
	put(GUS_FRAME_MARK, 4);
	put(frame->type, 2);
	put(GUS_CODING_RAW, 2);
	put(frame->size, 4);
	put(frame->size, 4);
	put(frame->sequence, 8);
	put(0, 16);
	fwrite(frame->payload, 1, frame->size, stdout);
}

int main(int argc, char **argv)
{
	struct gus_error err = { 0 };
	struct gus_reader *r = argc == 2 ? gus_reader_open(argv[1], &err) : NULL;
	struct gus_frame frame;
	uint64_t at = GUS_PREAMBLE_SIZE, footer = 0;

	if (!r) {
		fprintf(stderr, "usage: make_seed RECORDING >SEED\n%s\n", err.text);
		return 1;
	}
	putchar(0); /* the target's control byte: seal everything */
	fwrite(GUS_MAGIC, 1, GUS_MAGIC_SIZE, stdout);
	put(GUS_VERSION_MAJOR, 4);
	put(GUS_VERSION_MINOR, 4);
	put(0, 8);
	while (gus_reader_next(r, &frame, NULL) == GUS_READ_FRAME) {
		footer = at;
		at += GUS_FRAME_HEADER_SIZE + frame.size;
		put_frame(&frame);
	}
	fwrite(GUS_TRAILER_MAGIC, 1, 8, stdout);
	put(footer, 8);
	put(0, 8);
	gus_reader_close(r);
	return fflush(stdout) != 0;
}
