/* SPDX-License-Identifier: MIT */
/* A trace: what a program really executed. Code stands in it once, as blocks of bytes; then come steps, one for each
 * time that a block was executed, with the addresses that it touched. It is frames in a recording (FORMAT.md, section
 * 6), so a cut, a corrupt place and a newer version are told apart in the way of any other, and nothing has to be read
 * twice.
 *
 * A stream is one thread. Its steps come in order; those of different streams are interleaved by frame.
 *
 * A trace is of a command, or of a window of a process that ran already, which was replayed from a snapshot (about's
 * moment); of windows a recording may have several. */
#ifndef GUS_PROTO_TRACE_H
#define GUS_PROTO_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/gusprof.pb-c.h"

struct gus_error;

/* What a file may hold, so that a reader's memory is bounded whatever the bytes say. Writers keep to the same. */
#define GUS_TRACE_BLOCK_INSNS 4096              /* in a block; QEMU ends them at 512 */
#define GUS_TRACE_INSN_BYTES 16                 /* of one instruction */
#define GUS_TRACE_BLOCKS_MAX (4u << 20)
#define GUS_TRACE_STREAMS_MAX (1u << 20)        /* threads; they are numbered from 0 */
#define GUS_TRACE_CODE_MAX (256u << 20)         /* bytes of code and of lengths, each body once */
#define GUS_TRACE_STEPS_MAX 32768               /* in a frame */
#define GUS_TRACE_ACCESSES_MAX 131072           /* in a frame */
#define GUS_TRACE_STEP_ACCESSES 8192            /* of one step; more are counted as omitted */
#define GUS_TRACE_RECORDS_MAX 65536             /* mappings and names */
#define GUS_TRACE_RECORDS_BYTES (16u << 20)     /* which they take in the file */

/* Code that is executed from its first byte to its last. Blocks of the same bytes at different addresses share them. */
struct gus_trace_block {
	uint64_t address;
	const uint8_t *lengths; /* of each instruction, in bytes */
	const uint8_t *bytes;
	uint32_t insns, size;
};

/* What one instruction read or wrote in one piece: pieces that lie behind each other are one access. */
struct gus_trace_access {
	uint64_t address;
	uint32_t size;
	uint16_t insn;          /* which of its block */
	bool store;
};

/* How a step was left. What follows is the stream's next step; in a trace of ranges, code outside may have run in
 * between. */
enum gus_trace_next {
	GUS_TRACE_NEXT_UNKNOWN, /* the window, the thread or the trace ends here */
	GUS_TRACE_NEXT_FALLS,   /* what follows lies behind the block */
	GUS_TRACE_NEXT_TAKEN,   /* it lies elsewhere: a branch that was taken, or a signal */
};

struct gus_trace_step {
	uint32_t stream;
	uint32_t block;
	uint64_t window;        /* of its stream, from 0 */
	uint64_t at;            /* instructions of its stream before it, those outside windows included */
	enum gus_trace_next next;
	const struct gus_trace_access *accesses; /* in order */
	uint32_t accesses_n;
};

/* Writing. Not safe for several threads at once. */

struct gus_trace_writer;

struct gus_trace_raw { uint32_t block, accesses_n; };

/* Steps of one window of one stream that follow each other. */
struct gus_trace_run {
	uint32_t stream;
	uint64_t window, at;                     /* of the first step */
	const struct gus_trace_raw *steps;
	const struct gus_trace_access *accesses; /* of all steps, one after the other */
	size_t n;
	enum gus_trace_next last;                /* how the last step was left */
};

/* Creates the file as gus_writer_create does. NULL on failure, with err. */
struct gus_trace_writer *gus_trace_writer_create(const char *path, const Gusprof__Header *header,
						 const Gusprof__Trace *trace, struct gus_error *err);
/* The same onto a pipe or what else is open as fd, which is closed in any case, as gus_writer_create_fd does. */
struct gus_trace_writer *gus_trace_writer_create_fd(int fd, const Gusprof__Header *header, const Gusprof__Trace *trace,
						    struct gus_error *err);
/* From now on frames are not compressed: for a reader that waits for them. */
void gus_trace_writer_plain(struct gus_trace_writer *w);
/* The number of a block, the same one each time. -1 with err if it is no block, or the file holds all that it may. */
int gus_trace_writer_block(struct gus_trace_writer *w, const struct gus_trace_block *block, uint32_t *number,
			   struct gus_error *err);
/* How many blocks there are; the time of what is told of them next. */
uint32_t gus_trace_writer_blocks(const struct gus_trace_writer *w);
/* Tells where the code of the blocks that follow is from. -1 with err, GUS_E_FULL if a trace may not hold it: then it
 * is left out, and later calls go on. */
int gus_trace_writer_records(struct gus_trace_writer *w, const Gusprof__Sideband *records, struct gus_error *err);
/* Adds steps, of any number. -1 with err, as every later call. */
int gus_trace_writer_steps(struct gus_trace_writer *w, const struct gus_trace_run *run, struct gus_error *err);
uint64_t gus_trace_writer_size(const struct gus_trace_writer *w);
/* Ends the file and frees w, also on failure. Counts in total that the writer knows are filled in here. */
int gus_trace_writer_finish(struct gus_trace_writer *w, Gusprof__TraceTotal *total, struct gus_error *err);
/* Frees w and leaves the file as it is. */
void gus_trace_writer_abandon(struct gus_trace_writer *w);

/* Reading. */

struct gus_trace;

/* NULL with err if it cannot be opened, or is a recording that has no trace. */
struct gus_trace *gus_trace_open(const char *path, struct gus_error *err);
/* Over bytes, which are borrowed: for tests and fuzz targets. */
struct gus_trace *gus_trace_open_memory(const void *bytes, size_t size, struct gus_error *err);
/* From a pipe or what else is open as fd, while it is written; closed by gus_trace_close, and on failure. Waits for
 * bytes. */
struct gus_trace *gus_trace_open_fd(int fd, struct gus_error *err);
void gus_trace_close(struct gus_trace *t);
const Gusprof__Trace *gus_trace_about(const struct gus_trace *t);
/* As gus_reader_owner. */
bool gus_trace_owner(const struct gus_trace *t, uid_t *owner);
/* Bytes of the file, all traces in it; 0 of a pipe. */
uint64_t gus_trace_size(const struct gus_trace *t);

/* The next step: 1; its accesses are valid until the next call. 0: the trace is over, all of it was read, and what was
 * read is what was written. -1 with err: it was cut or is corrupt; all steps before are good, and it stays at -1. */
int gus_trace_next(struct gus_trace *t, struct gus_trace_step *step, struct gus_error *err);

/* Whether the next call of gus_trace_next has a step at hand, and reads nothing for it. */
bool gus_trace_has_step(const struct gus_trace *t);

/* Blocks so far; a step's is always among them. Valid until the next call of gus_trace_next. */
uint32_t gus_trace_blocks(const struct gus_trace *t);
struct gus_trace_block gus_trace_block(const struct gus_trace *t, uint32_t number);
/* Mappings and names so far, *n of them, in the order of the file; what a step's block needs is among them. Their times
 * are numbers of blocks: a mapping is that of blocks from this number on, until a later one covers it. The array is
 * valid until the next call of gus_trace_next, the records until gus_trace_close. */
const Gusprof__Record *const *gus_trace_records(const struct gus_trace *t, size_t *n);
/* A recording may hold several traces, one behind the other. Passes over what is left of this one, whether it could be
 * read or not, and begins with the next: 1, and all that was said of the last one, its blocks and records, is gone. 0
 * if there is none, -1 with err if the file cannot be read on. */
int gus_trace_more(struct gus_trace *t, struct gus_error *err);
/* What the writer counted; NULL before the end. */
const Gusprof__TraceTotal *gus_trace_total(const struct gus_trace *t);

#endif
