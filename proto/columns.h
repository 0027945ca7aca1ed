/* SPDX-License-Identifier: MIT */
/* How a column's values are written: shared by what encodes and what decodes them (FORMAT.md, section 4). */
#ifndef GUS_PROTO_COLUMNS_H
#define GUS_PROTO_COLUMNS_H

enum gus_encoding {
	GUS_ENCODING_CONSTANT = 0, /* one zigzag varint, the value of every row */
	GUS_ENCODING_DELTA = 1,    /* a zigzag varint each: the difference to the row before, the first to 0 */
	GUS_ENCODING_PLAIN = 2,    /* a varint each */
	GUS_ENCODING_TABLE = 3,    /* the distinct values, ascending; then a varint number into them for each row */
	GUS_ENCODING_PAIRS = 4,    /* the distinct branches, ascending; then likewise */
};


#endif
