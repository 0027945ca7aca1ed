/* SPDX-License-Identifier: MIT */
#include "tests/words/ibs_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCESS "LdOp|StOp,"
#define CACHED ACCESS "!DcUcMemAcc,"
#define MISSED CACHED "DcMiss,"
/* Erratum 1293 of the first Zen 3. */
#define BEHIND MISSED "!Milan|!SwPf,!Milan|!DcMissNoMabAlloc,"
#define SOURCE BEHIND "LdOp,"
#define TRANSLATED ACCESS "DcLinAddrValid,!cap19|DcPhyAddrValid,"

const struct words_ibs_field words_ibs_op[] = {
	{ "IbsOpCtl", "MaxCnt", "15:0", "" },
	{ "IbsOpCtl", "L3MissOnly", "16", "cap11" },
	{ "IbsOpCtl", "En", "17", "" },
	{ "IbsOpCtl", "Val", "18", "" },
	{ "IbsOpCtl", "CntCtl", "19", "cap4" },
	{ "IbsOpCtl", "MaxCntExt", "26:20", "cap6" },
	{ "IbsOpCtl", "CurCnt", "51:32", "cap3" },
	{ "IbsOpCtl", "CurCntExt", "58:52", "cap3,cap6" },
	{ "IbsOpCtl", "LdLatThrsh", "62:59", "cap12,LdLatEn" },
	{ "IbsOpCtl", "LdLatEn", "63", "cap12" },
	{ "IbsOpRip", "Rip", "63:0", "!cap7|!RipInvalid" },
	{ "IbsOpData", "CompToRetCtr", "15:0", "" },
	{ "IbsOpData", "TagToRetCtr", "31:16", "" },
	{ "IbsOpData", "OpReturn", "34", "BrnRet" },
	{ "IbsOpData", "OpBrnTaken", "35", "BrnRet" },
	{ "IbsOpData", "OpBrnMisp", "36", "BrnRet" },
	{ "IbsOpData", "BrnRet", "37", "" },
	{ "IbsOpData", "RipInvalid", "38", "" },
	{ "IbsOpData", "BrnFuse", "39", "cap8,BrnRet" },
	{ "IbsOpData", "Microcode", "40", "" },
	{ "IbsOpData2", "DataSrcLo", "2:0", SOURCE },
	{ "IbsOpData2", "RmtNode", "4", SOURCE "Source" },
	{ "IbsOpData2", "CacheHitSt", "5", SOURCE "State,!Milan,!Vermeer" },
	{ "IbsOpData2", "DataSrcHi", "7:6", SOURCE "cap11" },
	{ "IbsOpData2", "StrmSt", "8", "cap16,StOp" },
	{ "IbsOpData2", "RmtSocket", "9", SOURCE "cap16,Source" },
	{ "IbsOpData3", "LdOp", "0", "" },
	{ "IbsOpData3", "StOp", "1", "" },
	{ "IbsOpData3", "DcL1TlbMiss", "2", TRANSLATED },
	{ "IbsOpData3", "DcL2TlbMiss", "3", TRANSLATED },
	{ "IbsOpData3", "DcL1TlbHit2M", "4", TRANSLATED "!cap19,!DcL1TlbMiss,!DcL2TlbMiss" },
	{ "IbsOpData3", "DcL1TlbHit1G", "5", TRANSLATED "!cap19,!DcL1TlbMiss,!DcL2TlbMiss" },
	{ "IbsOpData3", "DcPageSize", "5:4", TRANSLATED "cap19" },
	{ "IbsOpData3", "DcL2TlbHit2M", "6", TRANSLATED "!cap19,DcL1TlbMiss,!DcL2TlbMiss" },
	{ "IbsOpData3", "DcMiss", "7", CACHED },
	{ "IbsOpData3", "DcMisAcc", "8", ACCESS },
	{ "IbsOpData3", "DcWcMemAcc", "13", ACCESS },
	{ "IbsOpData3", "DcUcMemAcc", "14", ACCESS },
	{ "IbsOpData3", "DcLockedOp", "15", ACCESS },
	{ "IbsOpData3", "DcMissNoMabAlloc", "16", MISSED "!Family15h" },
	{ "IbsOpData3", "DcLinAddrValid", "17", "" },
	{ "IbsOpData3", "DcPhyAddrValid", "18", "" },
	{ "IbsOpData3", "DcL2TlbHit1G", "19", TRANSLATED "!cap19,DcL1TlbMiss,!DcL2TlbMiss" },
	{ "IbsOpData3", "L2Miss", "20", BEHIND },
	{ "IbsOpData3", "SwPf", "21", ACCESS },
	{ "IbsOpData3", "OpMemWidth", "25:22", ACCESS },
	{ "IbsOpData3", "OpDcMissOpenMemReqs", "31:26", BEHIND },
	{ "IbsOpData3", "DcMissLat", "47:32", MISSED "LdOp,!SwPf" },
	{ "IbsOpData3", "TlbRefillLat", "63:48", TRANSLATED "DcL1TlbMiss,!cap11|DcPhyAddrValid" },
	{ "IbsDcLinAd", "DcLinAd", "63:0", ACCESS "DcLinAddrValid" },
	{ "IbsDcPhysAd", "DcPhysAd", "63:0", ACCESS "DcPhyAddrValid,!cap11|DcLinAddrValid" },
	{ "IbsBrTarget", "BrTarget", "63:0", "cap5,BrnRet,!Family15h" },
	{ "IbsOpData4", "OpData4", "63:0", "cap10" },
	{ NULL, NULL, NULL, NULL },
};

/* A fetch of family 1Ah that has no physical address was given up before anything was known of it. */
#define KNOWN "PhyAddrValid|!Family1Ah,"

const struct words_ibs_field words_ibs_fetch[] = {
	{ "IbsFetchCtl", "MaxCnt", "15:0", "" },
	{ "IbsFetchCtl", "Cnt", "31:16", "" },
	{ "IbsFetchCtl", "Lat", "47:32", KNOWN },
	{ "IbsFetchCtl", "En", "48", "" },
	{ "IbsFetchCtl", "Val", "49", "" },
	{ "IbsFetchCtl", "Comp", "50", "" },
	{ "IbsFetchCtl", "IcMiss", "51", KNOWN "!Milan" },
	{ "IbsFetchCtl", "PhyAddrValid", "52", "" },
	{ "IbsFetchCtl", "L1TlbPgSz", "54:53", "PhyAddrValid,!Nobody" },
	{ "IbsFetchCtl", "L1TlbMiss", "55", KNOWN },
	{ "IbsFetchCtl", "L2TlbMiss", "56", KNOWN },
	{ "IbsFetchCtl", "RandEn", "57", "" },
	{ "IbsFetchCtl", "L2Miss", "58", KNOWN "Comp" },
	{ "IbsFetchCtl", "L3MissOnly", "59", "cap11" },
	{ "IbsFetchCtl", "FetchOcMiss", "60", KNOWN "cap11" },
	{ "IbsFetchCtl", "FetchL3Miss", "61", KNOWN "cap11" },
	{ "IbsFetchLinAd", "FetchLinAd", "63:0", "!Milan|FetchLinAd" },
	{ "IbsFetchPhysAd", "FetchPhysAd", "63:0", "PhyAddrValid" },
	{ "IcIbsExtdCtl", "ItlbRefillLat", "15:0", KNOWN "cap9" },
	{ NULL, NULL, NULL, NULL },
};

/* Which place a register has; of those that not all hardware has, what it needs. */
static const struct { const char *name; unsigned cap; } op_registers[] = { { "IbsOpCtl", 0 }, { "IbsOpRip", 0 },
	{ "IbsOpData", 0 }, { "IbsOpData2", 0 }, { "IbsOpData3", 0 }, { "IbsDcLinAd", 0 }, { "IbsDcPhysAd", 0 },
	{ "IbsBrTarget", 5 }, { "IbsOpData4", 10 }, { NULL, 0 } },
	fetch_registers[] = { { "IbsFetchCtl", 0 }, { "IbsFetchLinAd", 0 }, { "IbsFetchPhysAd", 0 },
	{ "IcIbsExtdCtl", 9 }, { NULL, 0 } };

static const struct words_ibs_field *field_of(const struct words_ibs *w, const char *name)
{
	for (const struct words_ibs_field *f = w->fields; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	fprintf(stderr, "no field %s\n", name);
	abort();
}

static unsigned place_of(const struct words_ibs *w, const char *reg)
{
	unsigned i = 0;

	while (strcmp((w->fields == words_ibs_op ? op_registers : fetch_registers)[i].name, reg) != 0)
		i++;
	return i;
}

uint64_t words_ibs_get(const struct words_ibs *w, const char *name)
{
	const struct words_ibs_field *f = field_of(w, name);

	return words_get(w->regs[place_of(w, f->reg)], f->bits);
}

void words_ibs_set(struct words_ibs *w, const char *name, uint64_t value)
{
	const struct words_ibs_field *f = field_of(w, name);
	uint64_t *reg = &w->regs[place_of(w, f->reg)];

	*reg = words_set(*reg, f->bits, value);
}

/* Conditions of their own. Silicon that is not known may be any, so it has all faults. */

static bool is_cpu(const struct words_ibs *w, uint32_t family, uint32_t first, uint32_t last)
{
	return !w->family || (w->family == family && first <= w->model && w->model <= last);
}

static bool is_milan(const struct words_ibs *w) { return is_cpu(w, 0x19, 0, 0xf); }
static bool is_vermeer(const struct words_ibs *w) { return is_cpu(w, 0x19, 0x20, 0x5f); }
static bool is_family_15h(const struct words_ibs *w) { return is_cpu(w, 0x15, 0, 0xff); }
static bool is_family_1ah(const struct words_ibs *w) { return !w->family || w->family >= 0x1a; }
static bool is_nobody(const struct words_ibs *w) { return !w->family; }

static uint64_t source_number(const struct words_ibs *w)
{
	return words_ibs_get(w, "DataSrcLo") + (w->caps >> 11 & 1 ? 8 * words_ibs_get(w, "DataSrcHi") : 0);
}

static bool has_source(const struct words_ibs *w) { return source_number(w) != 0; }

static bool tells_state(const struct words_ibs *w)
{
	uint64_t n = source_number(w);

	return n == 2 || ((w->caps >> 11 & 1) && (n == 1 || n == 5));
}

static const struct { const char *name; bool (*holds)(const struct words_ibs *); } conditions[] = {
	{ "Milan", is_milan }, { "Vermeer", is_vermeer }, { "Family15h", is_family_15h },
	{ "Family1Ah", is_family_1ah }, { "Nobody", is_nobody }, { "Source", has_source }, { "State", tells_state },
};

static bool is_true(const struct words_ibs *w, const char *name)
{
	unsigned cap;

	if (sscanf(name, "cap%u", &cap) == 1)
		return w->caps >> cap & 1;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		if (!strcmp(conditions[i].name, name))
			return conditions[i].holds(w);
	return words_ibs_get(w, name) != 0;
}

bool words_ibs_holds(const struct words_ibs *w, const char *needs)
{
	char text[256], *rest = text, *alternatives, *name;

	snprintf(text, sizeof(text), "%s", needs);
	while ((alternatives = strsep(&rest, ",")) != NULL) {
		bool any = !*alternatives;

		while ((name = strsep(&alternatives, "|")) != NULL && *name)
			any |= *name == '!' ? !is_true(w, name + 1) : is_true(w, name);
		if (!any)
			return false;
	}
	return true;
}

void words_ibs_bytes(const struct words_ibs *w, struct words_bytes *b)
{
	words_put(b, w->caps, 4);
	for (unsigned i = 0; (w->fields == words_ibs_op ? op_registers : fetch_registers)[i].name; i++) {
		unsigned cap = (w->fields == words_ibs_op ? op_registers : fetch_registers)[i].cap;

		if (!cap || (w->caps >> cap & 1))
			words_put(b, w->regs[i], 8);
	}
}
