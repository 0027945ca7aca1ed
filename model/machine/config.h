/* SPDX-License-Identifier: MIT */
/* The machine that the core engine is: sizes, widths, rules and latencies, by the names of the parameters of tables.
 * A plain struct, so that whoever asks "what if" copies it and changes one. */
#ifndef GUS_MODEL_MACHINE_CONFIG_H
#define GUS_MODEL_MACHINE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct gus_error;
struct gus_uarch;

#define GUS_CORE_PORTS 64       /* as many as a table may have */
enum { GUS_CORE_CYCLES_A_NS = 4 };      /* tables have ns for memory, and a core of this kind some 4 cycles in one */
/* A latency or a penalty of a machine, the bytes of a line, and entries of store sets, for which there is memory. Real
 * ones are below 1,000, 256, and 10,000. */
enum { GUS_CORE_CYCLES_MOST = 10000, GUS_CORE_LINE_MOST = 4096, GUS_CORE_SETS_MOST = 1 << 20 };

/* All sizes, widths and rules, by the names of the parameters of tables. A size of 0 is no limit. */
#define GUS_CORE_SETTINGS(X) \
	X(issue_width) X(retire_width) X(issue_delay) X(loop_boundary) \
	X(rob) X(rs) X(rs_int) X(rs_int_port) X(rs_vector) X(rs_memory) \
	X(load_buffer) X(store_buffer) X(branch_buffer) \
	X(renames) X(int_renames) X(vector_renames) X(mask_renames) \
	X(port_binding) X(move_elimination_slots) \
	X(predecode_width) X(fetch_bytes) X(decode_queue) X(decode_width) X(decode_uops) X(decode_complex) \
	X(decode_fuse_last) X(decode_branch_last) X(decode_pop_5c) X(decode_delay) X(lcp_penalty) \
	X(microcode_width) X(microcode_switch) X(microcode_switch_decoders) \
	X(uop_cache_width) X(uop_cache_line) X(uop_cache_lines) X(uop_cache_window) X(uop_cache_size) \
	X(uop_cache_block) X(uop_cache_reads) X(uop_cache_by_end) X(uop_cache_second) X(uop_cache_wide) X(jcc_erratum) \
	X(queue_size) X(loop_buffer) X(loop_unroll_2) X(loop_unroll_3) X(loop_unroll_4) X(loop_unroll_5) \
	X(loop_unroll_6) X(loop_unroll_8) X(mispredict_penalty) X(serialise_penalty) X(indirect_path) \
	X(branch_histories) X(branch_history) X(branch_override) X(branch_quick) \
	X(predicted_branches) X(predicted_behind_call) X(predicted_call) \
	X(l1i_size) X(l1i_ways) X(itlb_size) X(itlb_ways) \
	X(l1d_latency) X(l1d_stores) X(l1d_store_width) X(l1d_bank_ports) X(l1d_misses) \
	X(l2_latency) X(l2_bandwidth) X(l3_latency) X(l3_bandwidth) \
	X(memory_latency) X(memory_bandwidth) X(writeback_path) X(line_size) X(stlb_latency) X(page_walk_latency) \
	X(page_walks) \
	X(store_forward_latency) X(store_forward_computed) X(store_forward_vector) X(store_forward_address) \
	X(store_forward_blocked) X(store_forward_wider) X(store_forward_zero) \
	X(line_split_penalty) X(page_split_penalty) X(page_size) X(alias_penalty) X(store_sets)

struct gus_core_config {
#define X(name) uint32_t name;
	GUS_CORE_SETTINGS(X)
#undef X
};

/* How a uop that has a choice gets its port: the words of port_binding, in their order (model/tables/uarch.c). */
enum gus_core_binding {
	GUS_CORE_BIND_FEWEST,           /* when it is issued, the one with the fewest waiting, of those the lowest */
	GUS_CORE_BIND_ALTERNATE,        /* in turn */
	GUS_CORE_BIND_ROUND_ROBIN,      /* in turn among those with the fewest */
	GUS_CORE_BIND_SLOTS,            /* the fewest or the second, by the place in the group that is issued */
	GUS_CORE_BIND_RANKS,            /* by how many had the same choice in this cycle, and the place in the group */
	GUS_CORE_BIND_ROTATE,           /* from the one with the fewest on, by the place in the group */
	GUS_CORE_BIND_TURNS,            /* integer uops in turn, past schedulers that are full; others as `any` */
	GUS_CORE_BIND_ANY,              /* not before it is dispatched: the first that is free */
};

/* What decoders make of pop by the opcode 5C: the words of decode_pop_5c, in their order. */
enum gus_core_pop_5c {
	GUS_CORE_POP_ANY,               /* one simple instruction as others are */
	GUS_CORE_POP_COMPLEX,           /* the first decoder takes it, as if it had several uops */
	GUS_CORE_POP_ENDS,              /* and no other decoder takes anything beside it */
};

/* What the uop cache delivers of a second line in the same cycle: the words of uop_cache_second, in their order. */
enum gus_core_second {
	GUS_CORE_SECOND_ANY,            /* as much as there is width for */
	GUS_CORE_SECOND_FORWARD,        /* in pairs of slots if it is of another window, but no jump inside a window */
	GUS_CORE_SECOND_WHOLE,          /* of its own window only whole, of the target of a jump in pairs of slots */
};

/* Where a uop waits until it is executed: in one scheduler, or in the part of it that its port belongs to, which is
 * told by the names that tables give to ports. */
enum gus_core_station { GUS_CORE_STATION_WHOLE, GUS_CORE_STATION_INT, GUS_CORE_STATION_VECTOR, GUS_CORE_STATION_MEMORY,
			GUS_CORE_STATIONS };
enum gus_core_station gus_core_station_of(const struct gus_core_config *c, const char *port);

/* What a table says; what it does not say is unlimited, or for widths the plainest value. */
void gus_core_config_of(struct gus_core_config *c, const struct gus_uarch *u);
/* Whether there is one of that name. */
bool gus_core_config_has(const char *name);
/* 0: there is none of that name, too. */
uint32_t gus_core_config_get(const struct gus_core_config *c, const char *name);
/* Sets one by its name. -1 with err if there is none of that name or the value makes no machine. */
int gus_core_config_set(struct gus_core_config *c, const char *name, uint64_t value, struct gus_error *err);
/* All buffers without end, widths and ports as they are. */
void gus_core_config_infinite(struct gus_core_config *c);
/* Whether it makes a machine. -1 with err. */
int gus_core_config_check(const struct gus_core_config *c, struct gus_error *err);

#endif
