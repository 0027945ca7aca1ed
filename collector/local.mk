# SPDX-License-Identifier: MIT
noinst_LIBRARIES += collector/libcollector.a
collector_libcollector_a_SOURCES = \
	collector/attr.c collector/attr.h \
	collector/branches.c collector/branches.h \
	collector/build_id.c collector/build_id.h \
	collector/child.c collector/child.h \
	collector/control.c collector/control.h \
	collector/cost.c collector/cost.h \
	collector/counters.c collector/counters.h \
	collector/counters_open.c collector/counters_private.h \
	collector/doctor.c collector/doctor.h \
	collector/event.c collector/event.h \
	collector/event_names.c collector/event_names.h \
	collector/event_parse.c \
	collector/facts.c collector/facts.h \
	collector/frequency.c collector/frequency.h \
	collector/governor.c collector/governor.h \
	collector/header.c collector/header.h \
	collector/host.c collector/host.h \
	collector/kernel.c collector/kernel.h \
	collector/lanes.c collector/lanes.h \
	collector/living.c collector/living.h \
	collector/period.c collector/period.h \
	collector/pfm.c collector/pfm.h \
	collector/pmu.c collector/pmu.h \
	collector/priority.c collector/priority.h \
	collector/probe.c collector/probe.h \
	collector/procfs.c collector/procfs.h \
	collector/records.c collector/records.h \
	collector/ring.c collector/ring.h \
	collector/session.c collector/session.h \
	collector/session_files.c collector/session_private.h \
	collector/session_rate.c \
	collector/session_trace.c \
	collector/sideband.c collector/sideband.h \
	collector/signals.c collector/signals.h \
	collector/snapshot.c collector/snapshot.h collector/snapshot_private.h \
	collector/snapshot_hold.c \
	collector/snapshot_memory.c \
	collector/snapshot_turns.c \
	collector/stat.c collector/stat.h \
	collector/stat_attach.c collector/stat_attach.h \
	collector/tally.c collector/tally.h \
	collector/target.c collector/target.h \
	collector/topdown.c collector/topdown.h \
	collector/trial.c collector/trial.h \
	collector/vdso.c collector/vdso.h
