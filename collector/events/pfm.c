/* SPDX-License-Identifier: MIT */
#include "collector/events/pfm.h"

#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

static enum gus_pfm_result result_of(int code)
{
	static const struct { int code; enum gus_pfm_result result; } table[] = {
		{ PFM_SUCCESS, GUS_PFM_OK },
		{ PFM_ERR_NOTFOUND, GUS_PFM_UNKNOWN },
		{ PFM_ERR_NOINIT, GUS_PFM_UNKNOWN },
		{ PFM_ERR_NOTSUPP, GUS_PFM_ELSEWHERE },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].code == code)
			return table[i].result;
	return GUS_PFM_BAD;
}

/* libpfm4 says "not found" too when the PMU before the :: is one that it knows but did not detect on this host. */
static bool known_elsewhere(const char *name)
{
	const char *colons = strstr(name, "::");
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	if (!colons)
		return false;
	pfm_for_all_pmus(pmu) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && strlen(info.name) == (size_t)(colons - name) &&
		    strncmp(info.name, name, strlen(info.name)) == 0)
			return !info.is_present;
	}
	return false;
}

enum gus_pfm_result gus_pfm_encode(const char *name, struct gus_pfm *out, const char **reason)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int code = pfm_initialize();

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	arg.attr = &attr;
	arg.size = sizeof(arg);
	if (code == PFM_SUCCESS)
		code = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT_EXT, &arg);
	if (code != PFM_SUCCESS) {
		*reason = pfm_strerror(code);
		return code == PFM_ERR_NOTFOUND && known_elsewhere(name) ? GUS_PFM_ELSEWHERE : result_of(code);
	}
	*out = (struct gus_pfm){
		.type = attr.type,
		.config = attr.config,
		.config1 = attr.config1,
		.config2 = attr.config2,
		.period = attr.freq ? 0 : attr.sample_period,
		.frequency = attr.freq ? attr.sample_freq : 0,
		.exclude_user = attr.exclude_user,
		.exclude_kernel = attr.exclude_kernel,
		.exclude_hv = attr.exclude_hv,
		.pinned = attr.pinned,
		.exclusive = attr.exclusive,
		.precise = (uint8_t)attr.precise_ip,
	};
	return GUS_PFM_OK;
}
