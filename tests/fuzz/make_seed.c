/* SPDX-License-Identifier: MIT */
/* Turns a recording into a seed for fuzz_recording: `make_seed RECORDING >SEED`. Frames are stored raw, so that the
 * fuzzer changes what is in them and not just zstd's bytes; their sums are put right by the target. The index comes
 * twice, as the halves of a long one would. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "proto/reader.h"

static uint64_t at, sequence;

static void put(uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		putchar((int)(value >> 8 * i & 0xff));
	at += (uint64_t)size;
}

static void put_frame(enum gus_frame_type type, const uint8_t *payload, size_t size)
{
	put(GUS_FRAME_MARK, 4);
	put(type, 2);
	put(GUS_CODING_RAW, 2);
	put(size, 4);
	put(size, 4);
	put(sequence++, 8);
	put(0, 16);
	fwrite(payload, 1, size, stdout);
	at += size;
}

static void put_footer(const struct gus_frame *frame, uint64_t index_at)
{
	Gusprof__Footer *footer = (Gusprof__Footer *)gus_frame_message(frame, &gusprof__footer__descriptor, NULL);
	uint8_t bytes[4096];

	footer->index_offset = index_at;
	footer->frames = sequence;
	put_frame(GUS_FRAME_FOOTER, bytes, gusprof__footer__pack(footer, bytes));
	gusprof__footer__free_unpacked(footer, NULL);
}

int main(int argc, char **argv)
{
	struct gus_error err = { 0 };
	struct gus_reader *r = argc == 2 ? gus_reader_open(argv[1], &err) : NULL;
	struct gus_frame frame;
	uint64_t footer_at = 0, index_at = 0;

	if (!r) {
		fprintf(stderr, "usage: make_seed RECORDING >SEED\n%s\n", err.text);
		return 1;
	}
	putchar(0); /* the target's control byte: seal everything */
	fwrite(GUS_MAGIC, 1, GUS_MAGIC_SIZE, stdout);
	at = GUS_MAGIC_SIZE;
	put(GUS_VERSION_MAJOR, 4);
	put(GUS_VERSION_MINOR, 4);
	put(0, 8);
	while (gus_reader_next_of(r, UINT32_MAX, &frame, NULL) == GUS_READ_FRAME) {
		if (frame.type == GUS_FRAME_INDEX) {
			index_at = at;
			put_frame(frame.type, frame.payload, frame.size);
		}
		footer_at = at;
		if (frame.type == GUS_FRAME_FOOTER)
			put_footer(&frame, index_at);
		else
			put_frame(frame.type, frame.payload, frame.size);
	}
	fwrite(GUS_TRAILER_MAGIC, 1, 8, stdout);
	put(footer_at, 8);
	put(0, 8);
	gus_reader_close(r);
	return fflush(stdout) != 0;
}
