/* SPDX-License-Identifier: MIT */
#include "collector/uncore/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define READ GUS_DIRECTION_READ
#define WRITTEN GUS_DIRECTION_WRITTEN
#define BOTH GUS_DIRECTION_BOTH
#define LINE 64 /* bytes of a burst of DRAM, of a line, and of a CAS command on all that is below */

#define SKX "libpfm4 4.13, skx_unc_imc, UNC_M_CAS_COUNT; Linux, uncore_snbep.c, hswep_uncore_imc_events"
#define ICX "Intel, Ice Lake uncore manual 1.00, 2.4.7, CAS_COUNT; Linux, uncore_snbep.c, snr_uncore_imc_events"
#define SPR "Linux, uncore_snbep.c, spr_uncore_imc_events"
#define GNR "Linux, uncore_snbep.c, gnr_uncore_imc_events"
#define SNB "Linux, uncore_snb.c, snb_uncore_imc_events"
#define TGL "Linux, uncore_snb.c, tgl_uncore_imc_events"
#define DF "Linux, pmu-events/amdzen2/data-fabric.json and amdzen3: requests with data, 64 bytes"
#define UMC "Linux, pmu-events/amdzen4/memory-controller.json and amdzen5; format in amd/uncore.c"
#define CMN "Linux, arm-cmn.c: HN-F, node type 5, event 13, requests to memory"
#define HNS "Linux, arm-cmn.c: HN-S, requests to memory; no encoding at hand, so as the kernel names them"
#define DMC "Linux, arm_dmc620_pmu.c: 0x12 of clkdiv2; 64 bytes by Linaro's test-definitions, altra_pmu"
#define NAMED "as the kernel names it"

/* Until Cascade and Cooper Lake a umask has two bits for reads and two for writes; from Ice Lake on there are more. */
static const struct gus_uncore_row skylake_server[] = {
	{ "cas_count_read", "event=0x04,umask=0x03", READ, LINE, SKX },
	{ "cas_count_write", "event=0x04,umask=0x0c", WRITTEN, LINE, SKX },
};
static const struct gus_uncore_row icelake_server[] = {
	{ "cas_count_read", "event=0x04,umask=0x0f", READ, LINE, ICX },
	{ "cas_count_write", "event=0x04,umask=0x30", WRITTEN, LINE, ICX },
};
static const struct gus_uncore_row sapphire_rapids[] = {
	{ "cas_count_read", "event=0x05,umask=0xcf", READ, LINE, SPR },
	{ "cas_count_write", "event=0x05,umask=0xf0", WRITTEN, LINE, SPR },
};
/* A channel has two schedulers, one a sub-channel, and an event for each. */
static const struct gus_uncore_row granite_rapids[] = {
	{ "cas_count_read_sch0", "event=0x05,umask=0xcf", READ, LINE, GNR },
	{ "cas_count_read_sch1", "event=0x06,umask=0xcf", READ, LINE, GNR },
	{ "cas_count_write_sch0", "event=0x05,umask=0xf0", WRITTEN, LINE, GNR },
	{ "cas_count_write_sch1", "event=0x06,umask=0xf0", WRITTEN, LINE, GNR },
};
static const struct gus_uncore_row client[] = {
	{ "data_reads", "event=0x1", READ, LINE, SNB },
	{ "data_writes", "event=0x2", WRITTEN, LINE, SNB },
};
static const struct gus_uncore_row client_free_running[] = {
	{ "data_read", "event=0xff,umask=0x20", READ, LINE, TGL },
	{ "data_write", "event=0xff,umask=0x30", WRITTEN, LINE, TGL },
};
/* Of Intel's CPUs of which no encoding stands here. */
static const struct gus_uncore_row named_cas[] = {
	{ "cas_count_read", NULL, READ, LINE, NAMED }, { "cas_count_write", NULL, WRITTEN, LINE, NAMED },
};
static const struct gus_uncore_row named_client[] = {
	{ "data_reads", NULL, READ, LINE, NAMED }, { "data_writes", NULL, WRITTEN, LINE, NAMED },
};
static const struct gus_uncore_row named_free_running[] = {
	{ "data_read", NULL, READ, LINE, NAMED }, { "data_write", NULL, WRITTEN, LINE, NAMED },
};

/* One a channel. There are four counters, so that the kernel takes turns. */
#define CHANNEL(n, event) \
	{ "dram_channel_data_controller_" #n, "event=" event ",umask=0x38", BOTH, LINE, DF }
static const struct gus_uncore_row data_fabric[] = {
	CHANNEL(0, "0x07"), CHANNEL(1, "0x47"), CHANNEL(2, "0x87"), CHANNEL(3, "0xc7"), CHANNEL(4, "0x107"),
	CHANNEL(5, "0x147"), CHANNEL(6, "0x187"), CHANNEL(7, "0x1c7"),
};
static const struct gus_uncore_row umc[] = {
	{ "umc_cas_cmd.rd", "event=0x0a,rdwrmask=0x1", READ, LINE, UMC },
	{ "umc_cas_cmd.wr", "event=0x0a,rdwrmask=0x2", WRITTEN, LINE, UMC },
};

/* Masks that tell a controller's reads from its writes are in no manual at hand. */
static const struct gus_uncore_row dmc620[] = {
	{ "clkdiv2_rdwr", "event=0x12,clkdiv2=0x1", BOTH, LINE, DMC },
};
/* Of home nodes: a request may be for less than a line, so that this is the most it can be. */
static const struct gus_uncore_row cmn[] = {
	{ "hnf_mc_reqs", "type=0x5,eventid=0xd", BOTH, LINE, CMN },
};
static const struct gus_uncore_row cmn_s3[] = {
	{ "hns_mc_reqs_local_all", NULL, BOTH, LINE, HNS }, { "hns_mc_reqs_remote_all", NULL, BOTH, LINE, HNS },
};

#define ROWS(table) .rows = (table), .n = COUNT(table)

/* What is nearer to memory, and what tells reads from writes, first. HBM of Xeon Max has a PMU of its own, which is
 * not here. CMN S3 has the names of its own home nodes, and so goes before those of CMN-600 to 700, which have an
 * encoding that is good for a PMU of any of them. */
static const struct gus_uncore_family families[] = {
	{ .pmu = "uncore_imc", .cpus = " skylake-avx512 cascadelake cooperlake ", .title = "Skylake-SP",
	  ROWS(skylake_server) },
	{ .pmu = "uncore_imc", .cpus = " icelake-server ", .title = "Ice Lake-SP", ROWS(icelake_server) },
	{ .pmu = "uncore_imc", .cpus = " sapphirerapids emeraldrapids ", .title = "Sapphire Rapids",
	  ROWS(sapphire_rapids) },
	{ .pmu = "uncore_imc", .cpus = " graniterapids ", .title = "Granite Rapids", ROWS(granite_rapids) },
	{ .pmu = "uncore_imc", .cpus = " skylake icelake-client ", .title = "Skylake to Ice Lake", ROWS(client) },
	{ .pmu = "uncore_imc_free_running",
	  .cpus = " tigerlake rocketlake alderlake gracemont raptorlake meteorlake arrowlake ",
	  .title = "Tiger Lake to Arrow Lake", ROWS(client_free_running) },
	{ .pmu = "uncore_imc", .title = "Intel", ROWS(named_cas) },
	{ .pmu = "uncore_imc", .title = "Intel", ROWS(named_client) },
	{ .pmu = "uncore_imc_free_running", .title = "Intel", ROWS(named_free_running) },
	{ .pmu = "amd_df", .cpus = " znver2 znver3 ", .title = "Zen 2 and 3", ROWS(data_fabric),
	  .absent = "the module amd-uncore brings it" },
	{ .pmu = "amd_umc", .cpus = " znver4 znver5 ", .title = "Zen 4 and 5", ROWS(umc),
	  .absent = "Linux has it from 6.7 on, by the module amd-uncore" },
	{ .pmu = "arm_dmc620", .title = "Arm DMC-620", ROWS(dmc620) },
	{ .pmu = "arm_cmn", .title = "Arm CMN S3", ROWS(cmn_s3) },
	{ .pmu = "arm_cmn", .title = "Arm CMN", ROWS(cmn) },
};

const struct gus_uncore_family *gus_uncore_family_at(size_t i)
{
	return i < COUNT(families) ? &families[i] : NULL;
}

bool gus_uncore_family_has(const struct gus_uncore_family *family, const char *cpu)
{
	char *word;
	bool has;

	if (!family->cpus || !cpu)
		return !family->cpus;
	word = gus_format(" %s ", cpu);
	has = strstr(family->cpus, word) != NULL;
	free(word);
	return has;
}

bool gus_uncore_family_is(const struct gus_uncore_family *family, const char *pmu)
{
	size_t n = strlen(family->pmu);

	if (strncmp(pmu, family->pmu, n) != 0)
		return false;
	if (!pmu[n])
		return true;
	if (pmu[n++] != '_' || !pmu[n])
		return false;
	while (isxdigit((unsigned char)pmu[n]))
		n++;
	return !pmu[n];
}
