/* SPDX-License-Identifier: MIT */
/* What kernels of different age can do with an event. */
#ifndef GUS_COLLECTOR_EVENTS_FEATURES_H
#define GUS_COLLECTOR_EVENTS_FEATURES_H

/* What kernels have learnt since 3.16, newest first: the order in which it is given up. */
enum gus_attr_feature {
	GUS_ATTR_LOST = 1 << 0,     /* 6.0: read() tells what an event lost */
	GUS_ATTR_BUILD_ID = 1 << 1, /* 5.12: mappings carry build ids */
	GUS_ATTR_KSYMBOL = 1 << 2,  /* 5.1 */
	GUS_ATTR_SWITCH = 1 << 3,   /* 4.3: context switches */
	GUS_ATTR_CLOCK = 1 << 4,    /* 4.1: a clock of our choice */
	GUS_ATTR_MMAP2 = 1 << 5,    /* 3.16 */
	GUS_ATTR_ALL = (1 << 6) - 1,
};

#endif
