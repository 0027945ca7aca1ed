/* SPDX-License-Identifier: MIT */
/* Recordings whose every text is hostile: what a terminal obeys, an end of a line, bytes of no character, what orders
 * or hides text, and what a spreadsheet calculates.
 *
 *   make-hostile IN OUT   the recording IN, with hostile text around each of its texts and in the names of functions
 *   make-hostile - OUT    one with a record of each kind, whose every text is hostile; for dump
 *
 * Fields are found by the messages' descriptors, so one that is new is hostile by itself. */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "proto/writer.h"

#define HOSTILE "=\x1b]0;title\a\nFORGED \x7f\xc2\x9b" "31m" \
	"\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf,\"\t"

#define KERNEL 0xffffffff81000000ull

static const struct { enum gus_frame_type type; const ProtobufCMessageDescriptor *message; } kinds[] = {
	{ GUS_FRAME_SIDEBAND, &gusprof__sideband__descriptor },
	{ GUS_FRAME_KERNEL_SYMBOLS, &gusprof__kernel_symbols__descriptor },
	{ GUS_FRAME_IMAGE, &gusprof__image__descriptor },
	{ GUS_FRAME_EMBEDDED, &gusprof__embedded__descriptor },
	{ GUS_FRAME_TRACE, &gusprof__trace__descriptor },
	{ GUS_FRAME_TRACE_TOTAL, &gusprof__trace_total__descriptor },
	{ GUS_FRAME_TRACE_SIDEBAND, &gusprof__sideband__descriptor },
	{ GUS_FRAME_SNAPSHOT, &gusprof__snapshot__descriptor },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void spoil_text(char **text, const void *none)
{
	char *spoilt = gus_format("%s%s%s", HOSTILE, *text ? *text : "", HOSTILE);

	if (*text != none)
		free(*text);
	*text = spoilt;
}

static ProtobufCMessage *new_message(const ProtobufCMessageDescriptor *descriptor)
{
	ProtobufCMessage *m = gus_alloc(descriptor->sizeof_message);

	protobuf_c_message_init(descriptor, m);
	return m;
}

/* The parts of a message that it lacks: one of each. Of a choice the last stays, or what `choice` says. */
static void complete(ProtobufCMessage *m, unsigned choice)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		char *at = (char *)m + f->offset, *quantifier = (char *)m + f->quantifier_offset;
		bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED, text = f->type == PROTOBUF_C_TYPE_STRING;
		ProtobufCMessage *part;
		void **list;

		if ((f->type != PROTOBUF_C_TYPE_MESSAGE && !(text && repeated)) ||
		    (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && i != choice))
			continue;
		part = text ? NULL : new_message(f->descriptor);
		if (part)
			complete(part, choice);
		if (repeated) {
			list = gus_alloc(sizeof(*list));
			*list = text ? (void *)gus_strdup("") : (void *)part;
			*(size_t *)(void *)quantifier = 1;
			*(void **)(void *)at = list;
		} else {
			*(void **)(void *)at = part;
			if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
				*(uint32_t *)(void *)quantifier = f->id;
		}
	}
}

static void spoil(ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		char *at = (char *)m + f->offset, *quantifier = (char *)m + f->quantifier_offset;
		bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
		size_t n = repeated ? *(size_t *)(void *)quantifier : 1;
		void **list = repeated ? *(void ***)(void *)at : (void **)(void *)at;

		if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && *(uint32_t *)(void *)quantifier != f->id)
			continue;
		for (size_t k = 0; k < n; k++)
			if (f->type == PROTOBUF_C_TYPE_STRING)
				spoil_text((char **)&list[k], repeated ? NULL : f->default_value);
			else if (f->type == PROTOBUF_C_TYPE_MESSAGE && list[k])
				spoil(list[k]);
	}
}

/* Names of the first functions of the file in made_stacks, which has room for them behind its own. */
static void spoil_symbols(ProtobufCBinaryData *file)
{
	static const char names[][12] = { "=f_\x1b[1m\n", "@g_\xc2\x9b\xff", "+m_\xe2\x80\xae" };
	Elf64_Ehdr *header = (void *)file->data;
	Elf64_Shdr *sections;
	size_t n = 0;

	if (file->len < sizeof(*header) || header->e_shoff + header->e_shnum * sizeof(*sections) > file->len)
		return;
	sections = (void *)(file->data + header->e_shoff);
	for (unsigned i = 0; i < header->e_shnum; i++) {
		Elf64_Sym *symbols = (void *)(file->data + sections[i].sh_offset);
		char *strings = (char *)file->data + sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (size_t k = 1; k < sections[i].sh_size / sizeof(*symbols) && n < 3; k++, n++) {
			symbols[k].st_name = (Elf64_Word)(8 + n * sizeof(names[0])); /* behind "\0f\0g\0m\0" */
			memcpy(strings + symbols[k].st_name, names[n], sizeof(names[n]));
		}
	}
}

static bool write_message(struct gus_writer *w, enum gus_frame_type type, ProtobufCMessage *m)
{
	bool good;

	spoil(m);
	if (type == GUS_FRAME_IMAGE)
		spoil_symbols(&((Gusprof__Image *)(void *)m)->bytes);
	good = gus_writer_message(w, type, m, NULL) == 0;
	protobuf_c_message_free_unpacked(m, NULL);
	return good;
}

static const ProtobufCMessageDescriptor *message_of(enum gus_frame_type type)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].type == type)
			return kinds[i].message;
	return NULL;
}

static bool copy(struct gus_reader *r, struct gus_writer *w)
{
	struct gus_frame frame;
	struct gus_bytes raw = { 0 };
	bool good = true;

	while (gus_reader_next_of(r, UINT32_MAX, &frame, NULL) == GUS_READ_FRAME && good) {
		/* What a trace is of has to be known, or it is not read. */
		const ProtobufCMessageDescriptor *message = frame.type == GUS_FRAME_TRACE ? NULL :
							    message_of(frame.type);

		if (frame.type == GUS_FRAME_HEADER || frame.type == GUS_FRAME_INDEX || frame.type == GUS_FRAME_FOOTER)
			continue;
		if (message) {
			good = write_message(w, frame.type, gus_frame_message(&frame, message, NULL));
			continue;
		}
		raw.n = 0;
		gus_vec_append(&raw, frame.payload, frame.size);
		good = gus_writer_payload(w, frame.type, &raw, NULL) == 0;
	}
	gus_vec_free(&raw);
	return good;
}

static bool write_kinds(struct gus_writer *w)
{
	bool good = true;

	for (size_t i = 0; i < KINDS; i++)
		for (unsigned choice = 0; choice < (kinds[i].message == &gusprof__sideband__descriptor ?
		     gusprof__record__descriptor.n_fields : 1); choice++) {
			ProtobufCMessage *m = new_message(kinds[i].message);

			complete(m, choice);
			good = good && write_message(w, kinds[i].type, m);
		}
	return good;
}

/* A module that only the recording has names for, its lines and its code, and a sample there. */
static bool write_embedded(struct gus_writer *w)
{
	static uint32_t numbers[] = { 1, 1 };
	static const uint8_t code[] = { 0x01, 0xc0, 0xeb, 0xfc }; /* f: add eax, eax; jmp f */
	static char *texts[] = { (char *)(uintptr_t)HOSTILE };
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT, *records[] = { &record };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Embedded m = GUSPROF__EMBEDDED__INIT;
	Gusprof__EmbeddedFunction function = GUSPROF__EMBEDDED_FUNCTION__INIT, *functions[] = { &function };
	Gusprof__EmbeddedChain chain = GUSPROF__EMBEDDED_CHAIN__INIT, *chains[] = { &chain };
	Gusprof__EmbeddedLines line = GUSPROF__EMBEDDED_LINES__INIT, *lines[] = { &line };
	Gusprof__EmbeddedCode bytes = GUSPROF__EMBEDDED_CODE__INIT, *pieces[] = { &bytes };
	struct gus_columns samples = { 0 };
	bool good;

	map.path = m.path = m.trouble = (char *)(uintptr_t)("/" HOSTILE);
	map.pid = 10;
	map.time = 1000000000;
	map.start = 0x7000000;
	map.length = 0x1000;
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	sideband.n_records = 1;
	sideband.records = records;
	function.offset = line.offset = bytes.offset = function.address = 0x100;
	function.size = line.size = sizeof(code);
	bytes.bytes = (ProtobufCBinaryData){ sizeof(code), (uint8_t *)(uintptr_t)code };
	function.name = 1;
	chain.n_functions = chain.n_files = chain.n_lines = 2;
	chain.functions = chain.files = chain.lines = numbers;
	m.machine = EM_X86_64;
	m.n_texts = m.n_functions = m.n_chains = m.n_lines = m.n_code = 1;
	m.texts = texts;
	m.functions = functions;
	m.chains = chains;
	m.lines = lines;
	m.code = pieces;
	for (unsigned i = 0; i < 50; i++)
		gus_columns_push(&samples, &(struct gus_sample){ .ip = 0x7000100, .time = 1000000001 + i,
				 .period = 100000, .pid = 10, .tid = 10, .mode = GUS_MODE_USER });
	good = gus_writer_sideband(w, &sideband, NULL) == 0 && gus_writer_samples(w, &samples, NULL) == 0 &&
	       gus_writer_message(w, GUS_FRAME_EMBEDDED, &m.base, NULL) == 0;
	gus_columns_free(&samples);
	return good;
}

/* A name of the process, a sample in the kernel and the kernel's names. */
static bool write_more(struct gus_writer *w)
{
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT, *records[] = { &record };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Symbol symbol = GUSPROF__SYMBOL__INIT, *symbols[] = { &symbol };
	Gusprof__KernelSymbols kernel = GUSPROF__KERNEL_SYMBOLS__INIT;
	struct gus_columns samples = { 0 };
	bool good;

	comm.pid = comm.tid = 10;
	comm.name = symbol.name = symbol.module = kernel.refusal = (char *)(uintptr_t)HOSTILE;
	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &comm;
	sideband.n_records = 1;
	sideband.records = records;
	symbol.address = KERNEL;
	symbol.size = 16;
	kernel.n_symbols = 1;
	kernel.symbols = symbols;
	gus_columns_push(&samples, &(struct gus_sample){ .ip = KERNEL, .time = 1000000001, .period = 100000, .pid = 10,
							 .tid = 10, .mode = GUS_MODE_KERNEL });
	good = gus_writer_sideband(w, &sideband, NULL) == 0 && gus_writer_samples(w, &samples, NULL) == 0 &&
	       gus_writer_message(w, GUS_FRAME_KERNEL_SYMBOLS, &kernel.base, NULL) == 0;
	gus_columns_free(&samples);
	return good;
}

int main(int argc, char **argv)
{
	struct gus_reader *r = argc == 3 && strcmp(argv[1], "-") != 0 ? gus_reader_open(argv[1], NULL) : NULL;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	ProtobufCMessage *header;
	struct gus_writer *w;
	bool good;

	if (argc != 3 || (!r && strcmp(argv[1], "-") != 0))
		return 1;
	if (r) {
		size_t size = gusprof__header__get_packed_size(gus_reader_header(r));
		uint8_t *packed = gus_alloc(size);

		gusprof__header__pack(gus_reader_header(r), packed);
		header = protobuf_c_message_unpack(&gusprof__header__descriptor, NULL, size, packed);
		free(packed);
		((Gusprof__Header *)(void *)header)->host = (void *)new_message(&gusprof__host__descriptor);
		((Gusprof__Header *)(void *)header)->frequency = (void *)new_message(&gusprof__frequency__descriptor);
	} else {
		header = new_message(&gusprof__header__descriptor);
		complete(header, 0);
	}
	spoil(header);
	w = gus_writer_create(argv[2], (void *)header, NULL);
	protobuf_c_message_free_unpacked(header, NULL);
	if (!w)
		return 1;
	good = r ? write_more(w) && write_embedded(w) && copy(r, w) : write_kinds(w);
	footer.end_ns = 1000001000;
	footer.ended_by = (char *)(uintptr_t)HOSTILE;
	good = gus_writer_finish(w, &footer, NULL) == 0 && good;
	if (r)
		gus_reader_close(r);
	return !good;
}
