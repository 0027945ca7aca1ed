/* SPDX-License-Identifier: MIT */
/* find-bytes FILE: which frames of a recording have any eight bytes in a row of standard input, in what they hold, not
 * as they are compressed. Prints a line for each, and how many frames there were. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "proto/reader.h"

enum { SECRET_MOST = 64, PIECE = 8 };

int main(int argc, char **argv)
{
	uint8_t secret[SECRET_MOST];
	size_t size = fread(secret, 1, sizeof(secret), stdin), frames = 0;
	struct gus_error err = { 0 };
	struct gus_reader *reader = argc == 2 && size >= PIECE ? gus_reader_open(argv[1], &err) : NULL;
	struct gus_frame frame;
	enum gus_read got = GUS_READ_END;

	if (!reader) {
		fprintf(stderr, "find-bytes: %s\n", *err.text ? err.text : "usage: find-bytes FILE <SECRET");
		return 1;
	}
	while ((got = gus_reader_next_of(reader, UINT32_MAX, &frame, &err)) == GUS_READ_FRAME) {
		frames++;
		for (size_t i = 0; i + PIECE <= size; i++)
			if (memmem(frame.payload, frame.size, secret + i, PIECE))
				printf("frame of type %d at %llu has bytes %zu and on\n", (int)frame.type,
				       (unsigned long long)frame.offset, i);
	}
	printf("%zu frames\n", frames);
	gus_reader_close(reader);
	return got == GUS_READ_END ? 0 : 1;
}
