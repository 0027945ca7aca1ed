/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/attr.h"

/* Bit fields begin at the lowest bit of a byte, or on machines of the other order at the highest; bytes stand as they
 * come. The one that has two bits, precise_ip, is turned with all others and has to be turned back. */
static uint64_t read_flags(struct gus_cursor *c)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < 8; i++) {
		unsigned byte = gus_cursor_u8(c), turned = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			turned |= (byte >> bit & 1) << (7 - bit);
		flags |= (uint64_t)(c->big_endian ? turned : byte) << 8 * i;
	}
	if (c->big_endian)
		flags = (flags & ~(UINT64_C(3) << GUS_PERFDATA_PRECISE)) |
			(flags >> GUS_PERFDATA_PRECISE & 1) << (GUS_PERFDATA_PRECISE + 1) |
			(flags >> (GUS_PERFDATA_PRECISE + 1) & 1) << GUS_PERFDATA_PRECISE;
	return flags;
}

struct gus_perfdata_attr gus_perfdata_attr_read(struct gus_cursor whole)
{
	struct gus_cursor c = whole;
	struct gus_perfdata_attr a;
	size_t room;

	gus_cursor_u32(&c);
	room = gus_cursor_u32(&c);
	room = room < GUS_PERFDATA_ATTR_SMALLEST ? GUS_PERFDATA_ATTR_SMALLEST : room;
	c = gus_cursor(whole.at, room < gus_cursor_left(&whole) ? room : gus_cursor_left(&whole));
	c.big_endian = whole.big_endian;
	a = (struct gus_perfdata_attr){ .type = gus_cursor_u32(&c), .size = gus_cursor_u32(&c) };
	a.config = gus_cursor_u64(&c);
	a.period = gus_cursor_u64(&c);
	a.sample_type = gus_cursor_u64(&c);
	a.read_format = gus_cursor_u64(&c);
	a.flags = read_flags(&c);
	gus_cursor_take(&c, 8); /* wakeup_events, bp_type */
	a.config1 = gus_cursor_u64(&c);
	a.config2 = gus_cursor_u64(&c);
	a.branch_type = gus_cursor_u64(&c);
	a.regs_user = gus_cursor_u64(&c);
	a.stack_user = gus_cursor_u32(&c);
	a.clockid = gus_cursor_u32(&c);
	a.regs_intr = gus_cursor_u64(&c);
	gus_cursor_take(&c, 8); /* aux_watermark, sample_max_stack */
	gus_cursor_take(&c, 8); /* aux_sample_size, aux_action */
	gus_cursor_take(&c, 8); /* sig_data */
	a.config3 = gus_cursor_u64(&c);
	a.config4 = gus_cursor_u64(&c);
	return a;
}
