# SPDX-License-Identifier: MIT
noinst_LIBRARIES += collector/libcollector.a
collector_libcollector_a_SOURCES = \
	collector/attr.c collector/attr.h \
	collector/child.c collector/child.h \
	collector/counters.c collector/counters.h \
	collector/event.c collector/event.h \
	collector/event_names.c collector/event_names.h \
	collector/event_parse.c \
	collector/frequency.c collector/frequency.h \
	collector/host.c collector/host.h \
	collector/kernel.c collector/kernel.h \
	collector/period.c collector/period.h \
	collector/pfm.c collector/pfm.h \
	collector/pmu.c collector/pmu.h \
	collector/probe.c collector/probe.h \
	collector/records.c collector/records.h \
	collector/ring.c collector/ring.h \
	collector/session.c collector/session.h \
	collector/sideband.c collector/sideband.h \
	collector/vdso.c collector/vdso.h
