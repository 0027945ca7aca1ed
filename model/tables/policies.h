/* SPDX-License-Identifier: MIT */
/* The policies of caches and of memory renaming, as tables say them: which line goes for another (model/oracles/sets.h
 * explains each), what a level holds beside what the levels before it hold (model/oracles/cache.h), and which loads are
 * registers that were stored. */
#ifndef GUS_MODEL_TABLES_POLICIES_H
#define GUS_MODEL_TABLES_POLICIES_H

#define GUS_REPLACEMENT_WORDS \
	"lru tree_plru random srrip qlru_h00_m1_r0_u1 qlru_h00_m1_r2_u1 qlru_h11_m1_r0_u0 qlru_h11_m1_r1_u2"
enum gus_replacement {
	GUS_REPLACE_LRU, GUS_REPLACE_TREE_PLRU, GUS_REPLACE_RANDOM, GUS_REPLACE_SRRIP, GUS_REPLACE_QLRU_H00_M1_R0_U1,
	GUS_REPLACE_QLRU_H00_M1_R2_U1, GUS_REPLACE_QLRU_H11_M1_R0_U0, GUS_REPLACE_QLRU_H11_M1_R1_U2, GUS_REPLACEMENTS
};

#define GUS_INCLUSION_WORDS "none inclusive exclusive"
enum gus_inclusion { GUS_INCLUSION_NONE, GUS_INCLUSION_INCLUSIVE, GUS_INCLUSION_EXCLUSIVE, GUS_INCLUSIONS };

/* What memory renaming takes, in the order of the words (model/code/forwarding.c). */
#define GUS_STORE_FORWARD_ZERO_WORDS "no loads updates based"
enum gus_store_forward_zero {
	GUS_STORE_FORWARD_ZERO_NO, GUS_STORE_FORWARD_ZERO_LOADS, GUS_STORE_FORWARD_ZERO_UPDATES,
	GUS_STORE_FORWARD_ZERO_BASED
};

#endif
