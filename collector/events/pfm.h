/* SPDX-License-Identifier: MIT */
/* Event names that libpfm4 knows. Apart from the rest because libpfm4's headers bring their own perf_event.h, which
 * cannot be included beside the kernel's. */
#ifndef GUS_COLLECTOR_EVENTS_PFM_H
#define GUS_COLLECTOR_EVENTS_PFM_H

#include <stdbool.h>
#include <stdint.h>

struct gus_pfm {
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t period, frequency; /* at most one is not 0 */
	bool exclude_user, exclude_kernel, exclude_hv, pinned, exclusive;
	uint8_t precise;
};

enum gus_pfm_result {
	GUS_PFM_OK,
	GUS_PFM_UNKNOWN,   /* no event, or no unit, of that name */
	GUS_PFM_ELSEWHERE, /* libpfm4 knows it, but for another CPU than this one */
	GUS_PFM_BAD,       /* the event exists; one of its attributes is wrong */
};

/* On anything but OK, *reason is libpfm4's own explanation (a constant). */
enum gus_pfm_result gus_pfm_encode(const char *name, struct gus_pfm *out, const char **reason);

#endif
