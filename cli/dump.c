/* SPDX-License-Identifier: MIT */
/* gusprof dump: a recording record by record, in file order, with what is wrong with it in the place where it is.
 * Messages are printed from their descriptors, so a new field shows up here by itself. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/common/filter.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/recording.h"
#include "cli/verbs.h"
#include "proto/reader.h"
#include "proto/sample.h"

struct dump_options {
	const char *input;
	struct gus_list types;
	bool frames_only;
};

static const struct {
	enum gus_frame_type type;
	const char *name;
	const ProtobufCMessageDescriptor *message; /* NULL: columns */
} frame_types[] = {
	{ GUS_FRAME_HEADER, "header", &gusprof__header__descriptor },
	{ GUS_FRAME_SIDEBAND, "sideband", &gusprof__sideband__descriptor },
	{ GUS_FRAME_SAMPLES, "samples", NULL },
	{ GUS_FRAME_SWITCHES, "switches", NULL },
	{ GUS_FRAME_KERNEL_SYMBOLS, "kernel-symbols", &gusprof__kernel_symbols__descriptor },
	{ GUS_FRAME_IMAGE, "image", &gusprof__image__descriptor },
	{ GUS_FRAME_INDEX, "index", &gusprof__index__descriptor },
	{ GUS_FRAME_FOOTER, "footer", &gusprof__footer__descriptor },
	{ GUS_FRAME_TRACE, "trace", &gusprof__trace__descriptor },
	{ GUS_FRAME_TRACE_BLOCKS, "trace-blocks", NULL },
	{ GUS_FRAME_TRACE_STEPS, "trace-steps", NULL },
	{ GUS_FRAME_TRACE_TOTAL, "trace-total", &gusprof__trace_total__descriptor },
	{ GUS_FRAME_TRACE_SIDEBAND, "trace-sideband", &gusprof__sideband__descriptor },
	{ GUS_FRAME_SNAPSHOT, "snapshot", &gusprof__snapshot__descriptor },
	{ GUS_FRAME_SNAPSHOT_PAGES, "snapshot-pages", NULL },
	{ GUS_FRAME_EMBEDDED, "embedded", &gusprof__embedded__descriptor },
	{ GUS_FRAME_AUX, "aux", &gusprof__aux__descriptor },
	{ GUS_FRAME_SLOTS, "slots", &gusprof__slots__descriptor },
	{ GUS_FRAME_TRAFFIC, "traffic", &gusprof__traffic__descriptor },
};
#define FRAME_TYPES (sizeof(frame_types) / sizeof(*frame_types))

#define AT(field) offsetof(struct dump_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read, - for standard input; gusprof.data by default.",
	  GUS_OPTION_STRING, AT(input),
	  .choices = "@file", .fit = { .excludes = "--", .why = "both name the recording" } },
	{ 0, "type", "TYPE[,TYPE]", "Only frames of these types: header, sideband, samples, switches, "
	  "kernel-symbols, image, embedded, aux, slots, traffic, index, footer, trace, trace-blocks, trace-steps, "
	  "trace-total, snapshot, snapshot-pages.", GUS_OPTION_LIST, AT(types),
	  .choices = "header sideband samples switches kernel-symbols image embedded aux slots traffic index footer "
	  "trace trace-blocks trace-steps trace-total snapshot snapshot-pages" },
	{ 0, "frames-only", NULL, "One line for each frame, without what is in it.", GUS_OPTION_FLAG,
	  AT(frames_only) },
	{ 0 },
};

/* Printing of any message. */

static void print_text(const char *text, size_t size)
{
	putchar('"');
	for (size_t left = size; left; ) {
		struct gus_text_char c = gus_text_next(text, left);

		if (c.class == GUS_TEXT_PLAIN && *text != '"' && *text != '\\')
			fwrite(text, 1, c.size, stdout);
		else
			for (size_t i = 0; i < c.size; i++)
				printf("\\x%02x", (unsigned char)text[i]);
		text += c.size;
		left -= c.size;
	}
	putchar('"');
}

static void print_bytes(const ProtobufCBinaryData *data)
{
	if (data->len > 32) {
		printf("<%zu bytes>", data->len);
		return;
	}
	for (size_t i = 0; i < data->len; i++)
		printf("%02x", data->data[i]);
}

static void print_message(const ProtobufCMessage *message);

static void print_value(const ProtobufCFieldDescriptor *field, const void *at)
{
	char number[400];

	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
		printf("%" PRIu32, *(const uint32_t *)at);
		break;
	case PROTOBUF_C_TYPE_UINT64:
		printf(strcmp(field->name, "address") == 0 || strcmp(field->name, "start") == 0 ? "0x%" PRIx64 :
		       "%" PRIu64, *(const uint64_t *)at);
		break;
	case PROTOBUF_C_TYPE_INT64:
		printf("%" PRId64, *(const int64_t *)at);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		printf("%s", *(const protobuf_c_boolean *)at ? "yes" : "no");
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		gus_fixed_format(number, sizeof(number), fabs(*(const double *)at), 6);
		gus_print("%s%s", signbit(*(const double *)at) ? "-" : "", number);
		break;
	case PROTOBUF_C_TYPE_STRING:
		print_text(*(char *const *)at, strlen(*(char *const *)at));
		break;
	case PROTOBUF_C_TYPE_BYTES:
		print_bytes(at);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		print_message(*(const ProtobufCMessage *const *)at);
		break;
	default:
		printf("?");
	}
}

static size_t size_of(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
		return sizeof(uint32_t);
	case PROTOBUF_C_TYPE_UINT64:
		return sizeof(uint64_t);
	default: /* no other type repeats but strings and messages */
		return sizeof(void *);
	}
}

static const uint8_t *member(const ProtobufCMessage *message, unsigned offset)
{
	return (const uint8_t *)message + offset;
}

static bool is_default(const ProtobufCFieldDescriptor *field, const void *at)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
		return *(const uint32_t *)at == 0;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_INT64:
		return *(const uint64_t *)at == 0;
	case PROTOBUF_C_TYPE_DOUBLE: /* of 0 all bits are */
		return *(const uint64_t *)at == 0;
	case PROTOBUF_C_TYPE_BOOL:
		return !*(const protobuf_c_boolean *)at;
	case PROTOBUF_C_TYPE_STRING:
		return !*(char *const *)at || !**(char *const *)at;
	case PROTOBUF_C_TYPE_BYTES:
		return ((const ProtobufCBinaryData *)at)->len == 0;
	default:
		return !*(void *const *)at;
	}
}

static void print_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	const uint8_t *at = member(message, field->offset);

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF &&
	    *(const uint32_t *)(const void *)member(message, field->quantifier_offset) != field->id)
		return;
	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		size_t n = *(const size_t *)(const void *)member(message, field->quantifier_offset);
		const uint8_t *list = *(uint8_t *const *)(const void *)at;

		for (size_t i = 0; i < n; i++) {
			gus_print(" %s ", field->name);
			print_value(field, list + i * size_of(field));
		}
	} else if (!is_default(field, at)) {
		gus_print(" %s ", field->name);
		print_value(field, at);
	}
}

static void print_message(const ProtobufCMessage *message)
{
	printf("{");
	for (unsigned i = 0; i < message->descriptor->n_fields; i++)
		print_field(message, &message->descriptor->fields[i]);
	printf(" }");
}

/* The parts of a message a line each; a repeated part's elements too. */
static void print_parts(const ProtobufCMessage *message)
{
	for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const uint8_t *at = member(message, field->offset);
		bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
		size_t n = repeated ? *(const size_t *)(const void *)member(message, field->quantifier_offset) : 1;
		const uint8_t *list = repeated ? *(uint8_t *const *)(const void *)at : at;

		if (!repeated && is_default(field, at))
			continue;
		for (size_t k = 0; k < n; k++) {
			gus_print("    %s ", field->name);
			print_value(field, list + k * size_of(field));
			putchar('\n');
		}
	}
}

/* Samples and switches. */

static const char *const modes[16] = { "unknown", "kernel", "user", "hypervisor", "guest-kernel", "guest-user" };

static void print_since(uint64_t time, uint64_t start)
{
	uint64_t since = time >= start ? time - start : start - time;

	printf("    %s%" PRIu64 ".%09" PRIu64, time >= start ? "+" : "-", since / 1000000000, since % 1000000000);
}

/* As perf script writes them, newest first: FROM/TO, mispredicted or predicted, in a transaction, aborted, cycles. */
static void print_branches(const struct gus_sample *s)
{
	for (uint32_t i = 0; i < s->branches_n; i++) {
		const struct gus_branch *b = &s->branches[i];
		uint32_t type = b->flags >> GUS_BRANCH_TYPE_SHIFT;

		printf("%s0x%" PRIx64 "/0x%" PRIx64 "/%s/%c/%c/%u", i ? " " : " branches ", b->from, b->to,
		       b->flags & GUS_BRANCH_MISPREDICTED ? "M" : b->flags & GUS_BRANCH_PREDICTED ? "P" : "-",
		       b->flags & GUS_BRANCH_IN_TX ? 'X' : '-', b->flags & GUS_BRANCH_ABORT ? 'A' : '-', b->cycles);
		if (type)
			printf("/0x%x", type);
	}
	if (s->branch_index)
		printf(" index %" PRIu64, s->branch_index - 1);
}

static void print_words(const char *name, const uint64_t *v, uint32_t n)
{
	if (n)
		gus_print(" %s", name);
	for (uint32_t i = 0; i < n; i++)
		printf(" 0x%" PRIx64, v[i]);
}

/* What some hardware tells besides, by the names that FORMAT.md has for it. What nobody told is left out; a zero that
 * was told is not. */
#define COLUMN(name) offsetof(struct gus_sample, name), sizeof(((struct gus_sample *)NULL)->name)
static const struct { const char *name; size_t at, size; uint64_t told; bool hex; } told_columns[] = {
	{ "address", COLUMN(address), GUS_TOLD_ADDRESS, true },
	{ "physical", COLUMN(physical), 0, true },
	{ "data_page", COLUMN(data_page), 0, false },
	{ "code_page", COLUMN(code_page), 0, false },
	{ "data_source", COLUMN(data_source), 0, true },
	{ "events", COLUMN(events), 0, true },
	{ "weight", COLUMN(weight), GUS_TOLD_WEIGHT, false },
	{ "instruction_latency", COLUMN(instruction_latency), GUS_TOLD_INSTRUCTION, false },
	{ "issue_latency", COLUMN(issue_latency), GUS_TOLD_ISSUE, false },
	{ "translation_latency", COLUMN(translation_latency), GUS_TOLD_TRANSLATION, false },
	{ "retire_latency", COLUMN(retire_latency), GUS_TOLD_RETIRE | GUS_TOLD_COMPLETE, false },
	{ "transaction", COLUMN(transaction), 0, true },
	{ "cgroup", COLUMN(cgroup), 0, false },
};

static void print_told(const struct gus_sample *s)
{
	for (size_t i = 0; i < sizeof(told_columns) / sizeof(*told_columns); i++) {
		const void *at = (const char *)s + told_columns[i].at;
		uint64_t value = told_columns[i].size == sizeof(uint32_t) ? *(const uint32_t *)at :
			*(const uint64_t *)at;

		if (value || s->told & told_columns[i].told)
			gus_print(told_columns[i].hex ? " %s 0x%" PRIx64 : " %s %" PRIu64, told_columns[i].name, value);
	}
	if (s->told & GUS_TOLD_COMPLETE) /* or else from the retirement before */
		printf(" retire_from completion");
}

/* What a sample brought along: bytes as they stand in memory, words as numbers. */
static void print_extras(const struct gus_sample *s)
{
	static const struct { enum gus_extra kind; const char *name; bool words; } kinds[] = {
		{ GUS_EXTRA_RAW, "raw", false }, { GUS_EXTRA_REGS, "interrupted", true },
		{ GUS_EXTRA_COUNTS, "counts", true }, { GUS_EXTRA_BRANCH_COUNTS, "branch_counts", true },
		{ GUS_EXTRA_USER_REGS, "user_regs", true },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		size_t bytes;
		unsigned detail;
		const uint8_t *at = gus_sample_extra(s, kinds[k].kind, &bytes, &detail);

		if (!at)
			continue;
		gus_print(detail ? " %s abi %u" : " %s", kinds[k].name, detail);
		for (size_t i = 0; i < bytes; i += kinds[k].words ? 8 : 1) {
			uint64_t word;

			if (!kinds[k].words) {
				printf("%s%02x", i ? "" : " ", at[i]);
				continue;
			}
			memcpy(&word, at + i, sizeof(word));
			printf(" 0x%" PRIx64, word);
		}
	}
}

static void print_sample(const struct gus_columns *batch, size_t i, uint64_t start)
{
	struct gus_sample s = gus_columns_sample(batch, i);

	print_since(s.time, start);
	printf(" sample");
	if (s.cpu != GUS_CPU_UNKNOWN)
		printf(" cpu %u", s.cpu);
	gus_print(" pid %d tid %d event %u period %" PRIu64 " ip 0x%" PRIx64 " %s%s", (int32_t)s.pid,
		  (int32_t)s.tid, s.event, s.period, s.ip, modes[s.mode] ? modes[s.mode] : "?", s.exact ? " exact" :
			"");
	print_words("chain", s.chain, s.chain_n);
	if (s.callers)
		printf(" callers 0x%" PRIx64, s.callers);
	print_branches(&s);
	print_words("regs", s.regs, s.regs_n);
	print_words("stack", s.stack, s.stack_n);
	print_told(&s);
	print_extras(&s);
	putchar('\n');
}

static void print_switch(const struct gus_columns *batch, size_t i, uint64_t start)
{
	struct gus_switch sw = gus_columns_switch(batch, i);

	print_since(sw.time, start);
	printf(" switch %s", sw.out ? "out" : "in");
	if (sw.cpu != GUS_CPU_UNKNOWN)
		printf(" cpu %u", sw.cpu);
	printf(" pid %u tid %u%s\n", sw.pid, sw.tid, sw.preempt ? " preempted" : "");
}

static int print_batch(const struct gus_frame *frame, uint64_t start, struct gus_error *err)
{
	struct gus_columns batch = { 0 };
	int rc = gus_frame_rows(frame, &batch, err);

	for (size_t i = 0; i < batch.n; i++) /* none if it does not decode */
		(frame->type == GUS_FRAME_SAMPLES ? print_sample : print_switch)(&batch, i, start);
	gus_columns_free(&batch);
	return rc;
}

/* Frames. */

static size_t find_type(unsigned type)
{
	size_t i = 0;

	while (i < FRAME_TYPES && frame_types[i].type != type)
		i++;
	return i;
}

/* What a module takes of the recording, on the line of the frame. */
static void print_embedded(const struct gus_frame *frame)
{
	ProtobufCMessage *message = gus_frame_message(frame, &gusprof__embedded__descriptor, NULL);
	const Gusprof__Embedded *m = (const Gusprof__Embedded *)message;
	uint64_t lines = 0, code = 0;

	if (!m)
		return; /* which is said where it is printed */
	for (size_t i = 0; i < m->n_lines; i++)
		lines += m->lines[i]->size;
	for (size_t i = 0; i < m->n_code; i++)
		code += m->code[i]->bytes.len;
	gus_print("; of %s: %zu functions, lines of %" PRIu64 " bytes of code, %" PRIu64 " bytes of code", m->path,
		  m->n_functions, lines, code);
	protobuf_c_message_free_unpacked(message, NULL);
}

static int print_frame(const struct dump_options *o, const struct gus_frame *frame, uint64_t start,
		       struct gus_error *err)
{
	size_t type = find_type(frame->type);
	ProtobufCMessage *message;

	gus_print("@%" PRIu64 " frame %" PRIu64 " %s: %zu bytes, stored in %" PRIu64, frame->offset, frame->sequence,
		  type < FRAME_TYPES ? frame_types[type].name : "of an unknown type", frame->size, frame->stored);
	if (frame->type == GUS_FRAME_EMBEDDED)
		print_embedded(frame);
	putchar('\n');
	if (o->frames_only || type == FRAME_TYPES)
		return 0;
	if (frame->type == GUS_FRAME_TRACE_BLOCKS || frame->type == GUS_FRAME_TRACE_STEPS ||
	    frame->type == GUS_FRAME_SNAPSHOT_PAGES)
		return 0; /* only sizes: they are for programs */
	if (!frame_types[type].message)
		return print_batch(frame, start, err);
	message = gus_frame_message(frame, frame_types[type].message, err);
	if (!message)
		return -1;
	print_parts(message);
	protobuf_c_message_free_unpacked(message, NULL);
	return 0;
}

static int unknown_type(const char *word)
{
	const char *names[FRAME_TYPES];
	char meant[128];

	for (size_t i = 0; i < FRAME_TYPES; i++)
		names[i] = frame_types[i].name;
	gus_suggest_format(gus_suggest(word, names, FRAME_TYPES), meant, sizeof(meant));
	gus_text_print(stderr, "gusprof: dump: there is no frame type '%s'%s\n", word,
		       *meant ? meant : "; see 'gusprof dump --help'");
	return -1;
}

static int parse_types(const struct gus_list *list, uint32_t *types)
{
	*types = list->n ? 0 : UINT32_MAX;
	for (size_t i = 0; i < list->n; i++) {
		size_t type = 0;

		while (type < FRAME_TYPES && strcmp(frame_types[type].name, list->v[i]) != 0)
			type++;
		if (type == FRAME_TYPES) {
			return unknown_type(list->v[i]);
		}
		*types |= 1u << frame_types[type].type;
	}
	return 0;
}

/* 0 if the recording is whole, 1 if anything is wrong with it; or that it could not be read, which was said. */
static int dump(const struct dump_options *o, struct gus_reader *reader, uint32_t types)
{
	const Gusprof__Header *header = gus_reader_header(reader);
	uint64_t start = header->clock ? header->clock->start_ns : 0;
	int status = 0;

	for (;;) {
		struct gus_error err = { 0 };
		struct gus_frame frame;
		enum gus_read got = gus_reader_next_of(reader, types, &frame, &err);

		if (got == GUS_READ_END)
			break;
		if (got == GUS_READ_FRAME && print_frame(o, &frame, start, &err) == 0)
			continue;
		if (got == GUS_READ_FRAME)
			gus_reader_bad_payload(reader, &frame);
		status = 1;
		if (got == GUS_READ_ERROR) { /* which is not the recording's fault, so not a line about it */
			gus_complain(&err);
			return GUS_EXIT_OWN_FAILURE;
		}
		gus_print("! %s\n", err.text);
		if (got == GUS_READ_CUT)
			break;
	}
	if (gus_reader_damage(reader)->missing_frames) {
		printf("! %" PRIu64 " frames are missing\n", gus_reader_damage(reader)->missing_frames);
		status = 1;
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct dump_options o = { .input = GUS_RECORDING_DEFAULT };
	struct gus_error err = { 0 };
	struct gus_reader *reader;
	uint32_t types;
	int status;

	if (gus_options_parse(&gus_verb_dump, &o, &argc, &argv, &status) != 0)
		goto out;
	if (argc == 1)
		o.input = argv[0];
	status = GUS_EXIT_USAGE;
	if (parse_types(&o.types, &types) != 0)
		goto out;
	reader = gus_recording_stream(o.input, &err);
	if (!reader) {
		gus_complain(&err);
		status = GUS_EXIT_OWN_FAILURE;
		goto out;
	}
	status = dump(&o, reader, types);
	gus_reader_close(reader);
out:
	gus_list_free(&o.types);
	return status;
}

const struct gus_verb gus_verb_dump = {
	.name = "dump",
	.synopsis = "[OPTION...] [FILE]",
	.summary = "Show a recording record by record.",
	.details = "Times count from the recording's start, in seconds. What is wrong with the file stands in lines "
	"that\nbegin with '!', and the exit status is then 1.",
	.options = options,
	.run = run,
	.argument_choices = "@file",
	.word = "FILE",
};
