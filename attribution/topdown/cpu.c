/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/cpu.h"

#include "proto/gusprof.pb-c.h"

struct gus_cpu_id gus_topdown_cpu(const Gusprof__Host *host)
{
	return (struct gus_cpu_id){
		.vendor = host->cpu_vendor, .family = host->cpu_family, .model = host->cpu_model_number,
		.stepping = host->cpu_stepping, .midr = host->midr,
	};
}
