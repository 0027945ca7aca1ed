/* SPDX-License-Identifier: MIT */
#include "attribution/profile/frames.h"

#include "base/error.h"

int gus_frames_each(struct gus_reader *reader, uint32_t types,
		    void (*take)(void *context, const struct gus_frame *frame), void *context, struct gus_error *err)
{
	gus_reader_rewind(reader);
	for (;;) {
		struct gus_error damage = { 0 };
		struct gus_frame frame;

		switch (gus_reader_next_of(reader, types, &frame, &damage)) {
		case GUS_READ_FRAME:
			take(context, &frame);
			break;
		case GUS_READ_CORRUPT:
			break;
		case GUS_READ_END:
		case GUS_READ_CUT:
			return 0;
		case GUS_READ_ERROR:
			if (err)
				*err = damage;
			return -1;
		}
	}
}
