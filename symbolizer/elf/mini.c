/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/mini.h"

#include <lzma.h>
#include <stdlib.h>

#define STEP ((size_t)256 << 10) /* bytes that are made at once */
/* Bytes that the unpacker may take; xz -9 asks for 65 MB. */
#define UNPACKER (128u << 20)

struct made gus_vec(uint8_t);

/* Unpacks all of the stream, piece by piece, each of which is charged before it is made. */
static bool unpack(struct gus_elf *e, lzma_stream *stream, struct made *made)
{
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK) {
		if (!gus_elf_charge(e, &e->made, STEP, "its packed symbols are more than such a file may have"))
			return false;
		gus_vec_reserve(made, made->n + STEP);
		stream->next_out = made->v + made->n;
		stream->avail_out = STEP;
		status = lzma_code(stream, LZMA_FINISH);
		made->n += STEP - stream->avail_out;
	}
	return status == LZMA_STREAM_END;
}

struct gus_elf *gus_mini_open(struct gus_elf *e)
{
	GElf_Shdr header;
	Elf_Data *data = gus_elf_raw(e, gus_elf_section(e, ".gnu_debugdata", &header));
	lzma_stream stream = LZMA_STREAM_INIT;
	struct gus_elf *found = NULL;
	struct made made = { 0 };
	char *name;

	if (!data || lzma_stream_decoder(&stream, UNPACKER, 0) != LZMA_OK)
		return NULL;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	if (unpack(e, &stream, &made)) {
		name = gus_format("%s (.gnu_debugdata)", e->path);
		found = gus_elf_copy(name, made.v, made.n, NULL);
		free(name);
	}
	lzma_end(&stream);
	gus_vec_free(&made);
	return found;
}
