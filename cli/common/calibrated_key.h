/* SPDX-License-Identifier: MIT */
/* What a calibration is told by. */
#ifndef GUS_CLI_COMMON_CALIBRATED_KEY_H
#define GUS_CLI_COMMON_CALIBRATED_KEY_H

#include "collector/host/key.h"
#include "model/tables/uarch.h"

/* What a host is told by. Not to be copied: values point into host. */
struct gus_calibrated_key {
	struct gus_host_key host;
	struct gus_uarch_valid values[GUS_HOST_PARTS]; /* of each part; "none" of what the machine does not say */
	char hostname[65];              /* for people, and no part of the key */
};

#endif
