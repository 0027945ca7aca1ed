/* SPDX-License-Identifier: MIT */
/* A profile with calling paths that are written down call by call, for what shows trees: real names of a program, a
 * library and the kernel that are nowhere on this machine. Weights are ns of cpu-clock. */
#ifndef GUS_TESTS_UNIT_MADE_CALLS_H
#define GUS_TESTS_UNIT_MADE_CALLS_H

#include "attribution/profile/calls.h"
#include "attribution/profile/profile.h"

/* Functions of 0x100 bytes. At NEST "nest" is the function, in it stands "middle" and in that "inner". */
#define MAIN 0x400000u
#define WORK 0x400100u
#define HELP 0x400200u
#define NEST 0x400300u
#define NAMELESS 0x400800u       /* of the same program */
#define SORT 0x7f1200000000u     /* /opt/lib/libsort.so.6 */
#define COMPARE 0x7f1200000100u  /* "cmp;are" there */
#define OTHER_SORT 0x7f3400000000u /* "qsort" of /opt/lib/libalt.so */
#define ODD 0x7f5600000000u      /* /opt/odd/, without a name */
#define VDSO 0x7fff00000000u     /* the same */
#define KERNEL 0xffffffff81000000u
#define NOWHERE 0x10000u

struct made_calls {
	struct gus_profile profile;
	struct gus_calls calls;  /* with made_calls_add_up */
	Gusprof__Header header;
	Gusprof__Event event, *events[2]; /* only the first one is */
};

/* Threads are 0: 10/10 "app", and 1: 10/11 "worker"; so are comms. */
struct made_calls *made_calls_new(void);
void made_calls_free(struct made_calls *m);
/* A path below another one, 0 for none. */
uint32_t made_path(struct made_calls *m, uint32_t caller, uint64_t address);
/* A sample there, of thread 0 and of this weight. Holds until the next one. */
struct gus_cell *made_sample(struct made_calls *m, uint32_t caller, uint64_t address, uint64_t weight);
void made_calls_add_up(struct made_calls *m, bool inlines);

#endif
