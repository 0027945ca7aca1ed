# SPDX-License-Identifier: MIT
noinst_LIBRARIES += attribution/libattribution.a
attribution_libattribution_a_SOURCES = \
	attribution/annotation.c attribution/annotation.h \
	attribution/interval.c attribution/interval.h \
	attribution/profile.c attribution/profile.h \
	attribution/replay.c attribution/replay.h \
	attribution/routes.c attribution/routes.h attribution/routes_private.h \
	attribution/routes_regions.c \
	attribution/routes_samples.c \
	attribution/routes_stacks.c \
	attribution/rows.c attribution/rows.h \
	attribution/series.c attribution/series.h \
	attribution/traced.c attribution/traced.h attribution/traced_private.h \
	attribution/traced_code.c attribution/traced_knobs.c attribution/traced_thread.c \
	attribution/units.c attribution/units.h
