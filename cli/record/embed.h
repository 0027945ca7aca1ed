/* SPDX-License-Identifier: MIT */
/* record --embed: what the code that was sampled is called, and if wanted its lines and bytes, taken along at the end
 * of a recording, while its programs are where they were. */
#ifndef GUS_CLI_RECORD_EMBED_H
#define GUS_CLI_RECORD_EMBED_H

#include <stddef.h>
#include <stdint.h>

#include "collector/session/options.h"
#include "symbolizer/symbols/embedding.h"

struct gus_space;

struct gus_record_embed {
	enum gus_embed what;
	const struct gus_log *log;
	struct gus_session_namer namer; /* for the session; its context is this */
	size_t most;                    /* bytes of messages in a file */
	/* of the present file */
	struct gus_space *space;
	size_t records;                 /* in it */
	uint64_t records_left_out;
	/* of all files */
	uint64_t functions, line_bytes, code_bytes;
	uint64_t bytes;                 /* that they take in the files */
};

/* max_size: bytes that the recording may have, 0 if there is no limit. */
void gus_record_embed_init(struct gus_record_embed *e, enum gus_embed what, uint64_t max_size,
			   const struct gus_log *log);
void gus_record_embed_free(struct gus_record_embed *e);

#endif
