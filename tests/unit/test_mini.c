/* SPDX-License-Identifier: MIT */
/* The symbols that a stripped program brings along, packed: unpacked piece by piece they are what was packed, they cost
 * what they take, and what is damaged, cut or asks for too much is none. */
#include <elf.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "symbolizer/elf/mini.h"

#define PIECE ((size_t)256 << 10) /* that is unpacked at once */

struct bytes gus_vec(uint8_t);

static void put(struct bytes *b, const void *bytes, size_t size)
{
	gus_vec_append(b, (const uint8_t *)bytes, size);
}

/* An ELF file of one section beside the names, of these bytes. */
static struct bytes make_elf(const char *name, const void *bytes, size_t size)
{
	static const char names[] = "\0.shstrtab";
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
			    .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(head),
			    .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
			    .e_shoff = sizeof(head) };
	Elf64_Shdr headers[3] = {
		[1] = { .sh_name = sizeof(names), .sh_type = SHT_PROGBITS, .sh_offset = sizeof(head) + sizeof(headers),
			.sh_size = size, .sh_addralign = 1 },
		[2] = { .sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof(names) + strlen(name) + 1,
			.sh_offset = headers[1].sh_offset + size, .sh_addralign = 1 } };
	struct bytes b = { 0 };

	headers[2].sh_offset = headers[1].sh_offset + size;
	put(&b, &head, sizeof(head));
	put(&b, headers, sizeof(headers));
	put(&b, bytes, size);
	put(&b, names, sizeof(names));
	put(&b, name, strlen(name) + 1);
	return b;
}

/* One of exactly so many bytes, which do not pack to nothing. */
static struct bytes make_symbols(size_t size)
{
	struct bytes empty = make_elf(".made", NULL, 0), b;
	uint8_t *filler = gus_alloc(size);
	uint32_t random = 1;

	for (size_t i = 0; i < size; i++) {
		random = random * 1664525 + 1013904223;
		filler[i] = (uint8_t)(random >> 30);
	}
	b = make_elf(".made", filler, size - empty.n);
	assert_int_equal(b.n, size);
	free(filler);
	gus_vec_free(&empty);
	return b;
}

/* As the tool xz does it: a stream of one block, whose header says nothing of sizes. */
static struct bytes pack_with(const struct bytes *b, lzma_check check)
{
	size_t room = lzma_stream_buffer_bound(b->n) + 1024;
	lzma_stream stream = LZMA_STREAM_INIT;
	struct bytes packed = { 0 };

	gus_vec_reserve(&packed, room);
	assert_int_equal(lzma_easy_encoder(&stream, 1, check), LZMA_OK);
	stream.next_in = b->v;
	stream.avail_in = b->n;
	stream.next_out = packed.v;
	stream.avail_out = room;
	assert_int_equal(lzma_code(&stream, LZMA_FINISH), LZMA_STREAM_END);
	packed.n = stream.total_out;
	lzma_end(&stream);
	return packed;
}

static struct bytes pack(const struct bytes *b)
{
	return pack_with(b, LZMA_CHECK_CRC64);
}

static struct gus_elf *program_with(const void *packed, size_t size)
{
	struct bytes b = make_elf(".gnu_debugdata", packed, size);
	struct gus_elf *e = gus_elf_copy("program", b.v, b.n, NULL);

	assert_non_null(e);
	gus_vec_free(&b);
	return e;
}

static bool opens(const void *packed, size_t size)
{
	struct gus_elf *e = program_with(packed, size), *mini = gus_mini_open(e);
	bool opened = mini != NULL;

	gus_elf_close(mini);
	gus_elf_close(e);
	return opened;
}

/* Around the ends of pieces, each of which costs a whole one. */
static void it_is_what_was_packed_and_costs_its_pieces(void **state)
{
	static const size_t sizes[] = { 1000, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE, 3 * PIECE + 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bytes symbols = make_symbols(sizes[i]), packed = pack(&symbols);
		uint64_t cost = (sizes[i] + PIECE - 1) / PIECE * PIECE;
		struct gus_elf *e = program_with(packed.v, packed.n), *mini;

		e->made.left = cost;
		mini = gus_mini_open(e);
		assert_non_null(mini);
		assert_int_equal(mini->size, sizes[i]);
		assert_memory_equal(mini->bytes, symbols.v, sizes[i]);
		assert_string_equal(mini->path, "program (.gnu_debugdata)");
		assert_int_equal(e->made.left, 0);
		assert_null(e->trouble);
		gus_elf_close(mini);
		e->made.left = cost - 1;
		assert_null(gus_mini_open(e));
		assert_non_null(strstr(e->trouble, "packed symbols"));
		gus_elf_close(e);
		gus_vec_free(&symbols);
		gus_vec_free(&packed);
	}
}

static void any_checksum_will_do(void **state)
{
	static const lzma_check checks[] = { LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256 };
	struct bytes symbols = make_symbols(700);

	(void)state;
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct bytes packed = pack_with(&symbols, checks[i]);

		assert_true(opens(packed.v, packed.n));
		gus_vec_free(&packed);
	}
	gus_vec_free(&symbols);
}

static void what_is_cut_or_changed_anywhere_is_none(void **state)
{
	struct bytes symbols = make_symbols(700), packed = pack(&symbols);

	(void)state;
	assert_true(opens(packed.v, packed.n));
	for (size_t i = 0; i < packed.n; i++) {
		assert_false(opens(packed.v, i));
		packed.v[i] ^= 0x10;
		assert_false(opens(packed.v, packed.n));
		packed.v[i] ^= 0x10;
	}
	put(&packed, "\0\0\0", 4); /* what is behind it does not matter */
	assert_true(opens(packed.v, packed.n));
	gus_vec_free(&symbols);
	gus_vec_free(&packed);
}

/* Its dictionary is what unpacking takes: 64 MiB, as xz -9 has it, and 96 are given, 128 and 4 GiB are not. */
static void what_takes_too_much_memory_is_none(void **state)
{
	static const struct { uint8_t dictionary; bool good; } of[] = {
		{ 28, true }, { 29, true }, { 30, false }, { 40, false } };
	enum { HEADER = 12, DICTIONARY = HEADER + 4, CHECKSUM = HEADER + 8 }; /* of the block, behind the stream's */
	struct bytes symbols = make_symbols(700), packed = pack(&symbols);
	uint32_t checksum;

	(void)state;
	assert_true(packed.v[HEADER] == 2 && packed.v[HEADER + 1] == 0);
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		packed.v[DICTIONARY] = of[i].dictionary;
		checksum = lzma_crc32(packed.v + HEADER, CHECKSUM - HEADER, 0);
		memcpy(packed.v + CHECKSUM, &checksum, sizeof(checksum));
		assert_int_equal(opens(packed.v, packed.n), of[i].good);
	}
	gus_vec_free(&symbols);
	gus_vec_free(&packed);
}

static void what_is_no_such_file_is_none(void **state)
{
	struct bytes text = { 0 }, nothing = { 0 }, packed, other;
	struct gus_elf *e;

	(void)state;
	put(&text, "This is no ELF file, but it is longer than the header of one: so much is looked at.", 80);
	packed = pack(&text);
	assert_false(opens(packed.v, packed.n));
	gus_vec_free(&packed);
	packed = pack(&nothing);
	assert_false(opens(packed.v, packed.n));
	other = make_elf(".debugdata", packed.v, packed.n);
	e = gus_elf_copy("other", other.v, other.n, NULL);
	assert_null(gus_mini_open(e));
	assert_null(e->trouble);
	gus_elf_close(e);
	gus_vec_free(&text);
	gus_vec_free(&packed);
	gus_vec_free(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_was_packed_and_costs_its_pieces),
		cmocka_unit_test(any_checksum_will_do),
		cmocka_unit_test(what_is_cut_or_changed_anywhere_is_none),
		cmocka_unit_test(what_takes_too_much_memory_is_none),
		cmocka_unit_test(what_is_no_such_file_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
