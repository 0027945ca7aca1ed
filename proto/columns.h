/* SPDX-License-Identifier: MIT */
/* How rows stand in a SAMPLES or SWITCHES frame: shared by what writes columns (sample.c) and what reads them back
 * (columns_decode.c). FORMAT.md, section 4, is the same for someone who has neither.
 *
 *	varint rows | column | column | ...		in ascending order of their numbers
 *
 *	a column:	varint number | varint encoding | varint length | length bytes
 *
 *	number	 1 .. 15	a value for each row
 *		16 .. 31	entries: any number of values for a row, which a column below 16 counts
 *		32 .. 95	a value for each row again
 *
 * One column after the other, because the values of a column resemble each other (times grow by about a period,
 * addresses come again) and those of a row do not: small differences and small numbers are short varints, and what is
 * left zstd finds.
 *
 * Three rules keep old and new programs together. A column that is not there is zero in every row, so what a machine
 * does not tell takes no bytes, and what is new is just absent in an old file. A column that the reader does not know
 * is passed over by its length, whatever its encoding. And numbers ascend: none can come twice, and a column's count is
 * known before its entries.
 *
 * An encoding says how many bytes n values take, which bounds what a reader allocates by the bytes that it really has,
 * with one exception: a constant is the value of any number of rows, hence GUS_ROWS_MAX, GUS_CHAIN_ENTRIES_MAX and
 * its like. A varint is LEB128 of 1 to 10 bytes. Zigzag makes small numbers of small negative ones. */
#ifndef GUS_PROTO_COLUMNS_H
#define GUS_PROTO_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

enum gus_encoding {
	/* One zigzag varint, the value of every row: at most 10 bytes. A process has one pid, a timer one event and
	 * period. */
	GUS_ENCODING_CONSTANT = 0,
	/* A zigzag varint for each: the difference to the row before, the first to 0, modulo 2^64. n to 10 n bytes.
	 * For times, and for periods, which move little from row to row, up as well as down. */
	GUS_ENCODING_DELTA = 1,
	/* A varint for each: n to 10 n bytes. For small numbers without an order, such as a CPU. */
	GUS_ENCODING_PLAIN = 2,
	/* The d distinct values, ascending, as differences; then each row's number among them: 1 + d + n to 10 (1 +
	 * d + n) bytes. For addresses: a program spends its time in a few places, whose numbers are one or two bytes
	 * where the differences between far places are four. */
	GUS_ENCODING_TABLE = 3,
	/* The d distinct branches, ascending by (from, to), each as the difference of its from and the distance that
	 * it jumps; then each entry's number among them: 1 + 2 d + n to 10 (1 + 2 d + n) bytes. A loop of a few
	 * branches fills a stack. */
	GUS_ENCODING_PAIRS = 4,
	/* Eight bytes for each, the lowest first: 8 n bytes. For what a stack holds: most of it are addresses, which as
	 * varints are longer than that, and samples of one thread have most of it in common, which zstd sees where a
	 * word has a length of its own. Nothing is cheaper to write, and of these there are many. */
	GUS_ENCODING_WORDS = 5,
};

/* What this program knows of a column that has a value for each row. */
struct gus_column_kind {
	uint8_t number;         /* enum gus_column: in the file, and of its values in struct gus_columns */
	uint8_t encoding;       /* enum gus_encoding, where the values are not all the same */
	uint16_t offset, size;  /* of its field in struct gus_sample: 4 or 8 bytes, or 0: two share it, see sample.c */
};

/* All of them, ascending by number. */
extern const struct gus_column_kind gus_column_kinds[];
extern const size_t gus_column_kinds_n;

#endif
