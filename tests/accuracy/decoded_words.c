/* SPDX-License-Identifier: MIT */
/* Says what the decoders make of words of hardware, for tests/accuracy/words. Each line of standard input is a
 * question, its bytes in hexadecimal, and each answer a line of NAME=VALUE; values are decimal, or words.
 *
 *	op FAMILY MODEL BYTES     IBS: what PERF_SAMPLE_RAW brings of an op
 *	fetch FAMILY MODEL BYTES  and of a fetch
 *	spe MIDR BYTES            SPE: a line for each record, then one of what was lost
 *	sample TYPE BYTES         a PERF_RECORD_SAMPLE, its sample_type a number
 *	topdown COUNT...          slots, and what Intel's core counts beside them: the share of each
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/builtin.h"
#include "attribution/topdown/tree.h"
#include "base/cursor.h"
#include "collector/records/hardware.h"
#include "collector/records/ibs.h"
#include "collector/records/records.h"
#include "collector/records/spe.h"
#include "model/tables/cpus.h"
#include "proto/data_source.h"

static uint8_t bytes[1 << 20];

static size_t from_hex(const char *text)
{
	size_t n = 0;
	unsigned byte;

	for (; n < sizeof(bytes) && sscanf(text, "%2x", &byte) == 1; text += 2)
		bytes[n++] = (uint8_t)byte;
	return n;
}

/* Each said only if the record vouches for it. */
static void say(bool told, const char *name, uint64_t value)
{
	if (told)
		printf(" %s=%" PRIu64, name, value);
}

static void say_source(uint64_t word)
{
	static const char *const snoops[] = { "unknown", "none", "miss", "hit", "forward", "peer", "modified" };
	static const char *const tlbs[] = { "unknown", "L1", "L2", "L1-or-L2", "walk" };
	struct gus_data_source d = gus_data_source_of_kernel(word);

	printf(" does=%u missed=%d remote=%d snoop=%s tlb=%s", d.does, d.missed, d.remote, snoops[d.snoop],
	       tlbs[d.tlb]);
	say(d.lock_told, "locked", d.locked);
	printf(" blocked=%u level=", d.blocked);
	for (const char *name = gus_data_level_name(d.level); *name; name++)
		putchar(*name == ' ' ? '-' : *name);
}

static void say_sample(const struct gus_sample *s)
{
	say(true, "ip", s->ip);
	say(true, "time", s->time);
	say(true, "pid", s->pid);
	say(true, "tid", s->tid);
	say(true, "cpu", s->cpu);
	say(true, "exact", s->exact);
	say(true, "mode", s->mode);
	say(s->told & GUS_TOLD_ADDRESS, "address", s->address);
	say(s->told & GUS_TOLD_WEIGHT, "weight", s->weight);
	say(s->told & GUS_TOLD_INSTRUCTION, "instruction", s->instruction_latency);
	say(s->told & GUS_TOLD_ISSUE, "issue", s->issue_latency);
	say(s->told & GUS_TOLD_TRANSLATION, "translation", s->translation_latency);
	say(s->told & (GUS_TOLD_RETIRE | GUS_TOLD_COMPLETE), "retire", s->retire_latency);
	say(s->physical, "physical", s->physical);
	say(s->data_page, "page", s->data_page);
	say(true, "word", s->data_source);
	say_source(s->data_source);
	say(s->branches_n, "from", s->branches_n ? s->branches[0].from : 0);
	say(s->branches_n, "to", s->branches_n ? s->branches[0].to : 0);
	say(true, "proved", s->events & UINT16_MAX);
	say(true, "excluded", s->events >> 16);
}

static void say_op(const char *hex, uint32_t family, uint32_t model)
{
	struct gus_ibs_cpu cpu = { family, model };
	struct gus_sample s = { 0 };
	struct gus_branch room;
	struct gus_ibs_op o;

	if (!gus_ibs_op_parse(bytes, from_hex(hex), &cpu, &o)) {
		printf("none\n");
		return;
	}
	printf("MaxCnt=%" PRIu64 " L3MissOnly=%d Val=%d CntCtl=%d CurCnt=%u CompToRetCtr=%u TagToRetCtr=%u BrnRet=%d "
	       "BrnFuse=%d Microcode=%d RipInvalid=%d LdOp=%d StOp=%d DcMisAcc=%d DcWcMemAcc=%d DcUcMemAcc=%d "
	       "DcLockedOp=%d SwPf=%d OpMemWidth=%u", o.period, o.l3_miss_only, o.valid, o.counts_ops, o.count,
	       o.complete_to_retire, o.tag_to_retire, o.branch, o.fused, o.microcoded, !(o.known & GUS_IBS_RIP),
	       o.load, o.store, o.misaligned, o.write_combining, o.uncached, o.locked, o.software_prefetch, o.bytes);
	say(o.known & GUS_IBS_RIP, "Rip", o.rip);
	say(o.known & GUS_IBS_TLB, "DcL1TlbMiss", o.l1_tlb_miss);
	say(o.known & GUS_IBS_TLB, "DcL2TlbMiss", o.l2_tlb_miss);
	say(o.known & GUS_IBS_CACHE, "DcMiss", o.dc_miss);
	say(o.known & GUS_IBS_NO_MAB, "DcMissNoMabAlloc", o.no_mab);
	say(o.known & GUS_IBS_L2, "L2Miss", o.l2_miss);
	say(o.known & GUS_IBS_MISSES_OPEN, "OpDcMissOpenMemReqs", o.misses_open);
	say(o.known & GUS_IBS_DC_LATENCY, "DcMissLat", o.dc_latency);
	say(true, "TlbRefillLat", o.tlb_latency); /* 0 is also that there was no refill */
	say(o.known & GUS_IBS_SOURCE, "DataSrc", o.source_number);
	say(o.known & GUS_IBS_SOURCE, "RmtNode", o.remote_node);
	say(o.known & GUS_IBS_HIT_STATE, "CacheHitSt", o.cache_owned);
	say(o.known & GUS_IBS_LINEAR, "DCLinAd", o.linear);
	say(o.known & GUS_IBS_PHYSICAL, "DCPhysAd", o.physical);
	gus_hardware_ibs_op(&o, &s, &room);
	say_sample(&s);
	printf("\n");
}

static void say_fetch(const char *hex, uint32_t family, uint32_t model)
{
	struct gus_ibs_cpu cpu = { family, model };
	struct gus_sample s = { 0 };
	struct gus_ibs_fetch f;

	if (!gus_ibs_fetch_parse(bytes, from_hex(hex), &cpu, &f)) {
		printf("none\n");
		return;
	}
	printf("MaxCnt=%" PRIu64 " Cnt=%u Val=%d Comp=%d RandEn=%d L3MissOnly=%d", f.period, f.count, f.valid,
	       f.completed, f.randomised, f.l3_miss_only);
	say(f.known & GUS_IBS_FETCH_LATENCY, "Lat", f.latency);
	say(f.known & GUS_IBS_FETCH_CACHE, "IcMiss", f.ic_miss);
	say(f.known & GUS_IBS_FETCH_TLB, "L1TlbMiss", f.l1_tlb_miss);
	say(f.known & GUS_IBS_FETCH_TLB, "L2TlbMiss", f.l2_tlb_miss);
	say(f.known & GUS_IBS_FETCH_L2, "L2Miss", f.l2_miss);
	say(f.known & GUS_IBS_FETCH_L3, "FetchOcMiss", f.oc_miss);
	say(f.known & GUS_IBS_FETCH_L3, "FetchL3Miss", f.l3_miss);
	say(f.known & GUS_IBS_FETCH_PAGE, "L1TlbPgSz", f.page_bytes);
	gus_hardware_ibs_fetch(&f, &s);
	say_sample(&s);
	printf("\n");
}

static void say_spe(const char *hex, uint64_t midr)
{
	struct gus_cursor c = gus_cursor(bytes, from_hex(hex));
	struct gus_spe_lost lost = { 0 };
	struct gus_spe_record r;

	while (gus_spe_record(&c, &r, &lost)) {
		struct gus_sample s = { 0 };
		struct gus_branch room;

		gus_hardware_spe(&r, midr, &s, &room);
		printf("record=1");
		say(r.known & GUS_SPE_HAS_PC, "PC", r.pc);
		say(r.known & GUS_SPE_HAS_PC, "el", r.level);
		say(r.known & GUS_SPE_HAS_PC, "ns", r.non_secure);
		say(r.known & GUS_SPE_HAS_TARGET, "TGT", r.target);
		say(r.known & GUS_SPE_HAS_VIRTUAL, "VA", r.virtual);
		say(r.known & GUS_SPE_HAS_TOTAL, "TOT", r.total);
		say(r.known & GUS_SPE_HAS_ISSUE, "ISSUE", r.issue);
		say(r.known & GUS_SPE_HAS_TRANSLATION, "XLAT", r.translation);
		say(r.known & GUS_SPE_HAS_EVENTS, "EV", r.events);
		say(r.known & GUS_SPE_HAS_OPERATION, "class", r.class);
		say(r.known & GUS_SPE_HAS_OPERATION, "operation", r.operation);
		say(r.known & GUS_SPE_HAS_SOURCE, "DATA-SOURCE", r.source);
		say(r.known & GUS_SPE_HAS_CONTEXT, "CONTEXT", r.context);
		say(r.known & GUS_SPE_HAS_CONTEXT, "context-el", r.context_level);
		say(r.known & GUS_SPE_HAS_TIMESTAMP, "TS", r.timestamp);
		say_sample(&s);
		printf("\n");
	}
	printf("record=0 bytes=%" PRIu64 " damaged=%" PRIu64 " cut=%" PRIu64 "\n", lost.bytes, lost.damaged, lost.cut);
}

static void say_record(const char *hex, uint64_t type)
{
	struct gus_sideband sideband = { 0 };
	struct gus_records r;
	struct gus_record out;

	gus_records_init(&r, type, 0, 1);
	out = gus_records_parse(&r, bytes, from_hex(hex), &sideband);
	if (out.kind == GUS_RECORD_SAMPLE) {
		unsigned detail;
		size_t size = 0;
		const uint8_t *raw = gus_sample_extra(&out.sample, GUS_EXTRA_RAW, &size, &detail);

		if (!raw)
			gus_hardware_data(&out.sample);
		printf("sample=1 raw=");
		for (size_t i = 0; i < size; i++)
			printf("%02x", raw[i]);
		say_sample(&out.sample);
		printf("\n");
	} else {
		printf("none\n");
	}
	gus_records_free(&r);
	gus_sideband_free(&sideband);
}

static void say_topdown(const double *counts)
{
	static const char *const names[] = { "slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
		"topdown-be-bound" };
	static const struct gus_topdown_pmu cpu = { "cpu", names, 5, 0 };
	static const struct gus_cpu_id id = { "GenuineIntel", 6, 0x6a, 6, 0 };
	static const struct gus_topdown_host icelake = { .cpu = &id, .pmus = &cpu, .pmus_n = 1 };
	struct gus_topdown_tables tables = { 0 };
	struct gus_topdown_count c[7] = { { 0 } }; /* of the corrections, which come last, there are no counts */
	struct gus_topdown_tree tree;

	if (gus_topdown_find(&tables, &icelake, NULL) != 0 || tables.n != 1)
		exit(2);
	for (unsigned i = 0; i < 7; i++)
		c[i] = (struct gus_topdown_count){ i < 5 ? counts[i] : 0, 1, 1, true };
	gus_topdown_evaluate(&tree, tables.v[0], 1, c, NULL, 0);
	for (size_t i = 0; i < tables.v[0]->nodes.n; i++)
		if (tree.shares[i].known)
			printf(" %s=%.6f", tables.v[0]->nodes.v[i].name, 100 * tree.shares[i].value);
	printf("\n");
	gus_topdown_tree_free(&tree);
	gus_topdown_tables_free(&tables);
}

int main(void)
{
	static char line[2 << 20], hex[2 << 20];
	unsigned family, model;
	uint64_t number;
	double c[5];

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "op %x %x %s", &family, &model, hex) == 3)
			say_op(hex, family, model);
		else if (sscanf(line, "fetch %x %x %s", &family, &model, hex) == 3)
			say_fetch(hex, family, model);
		else if (sscanf(line, "spe %" SCNx64 " %s", &number, hex) == 2)
			say_spe(hex, number);
		else if (sscanf(line, "sample %" SCNx64 " %s", &number, hex) == 2)
			say_record(hex, number);
		else if (sscanf(line, "topdown %lf %lf %lf %lf %lf", c, c + 1, c + 2, c + 3, c + 4) == 5)
			say_topdown(c);
		else
			return 2;
	}
	return 0;
}
