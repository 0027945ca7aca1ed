# SPDX-License-Identifier: MIT
noinst_LIBRARIES += collector/libcollector.a
collector_libcollector_a_SOURCES = \
	collector/counters/aux.c collector/counters/aux.h \
	collector/counters/counters.c collector/counters/counters.h \
	collector/counters/merge.c collector/counters/merge.h \
	collector/counters/open.c \
	collector/counters/ring.c collector/counters/ring.h \
	collector/counters/ring_map.c \
	collector/counters/tally.c collector/counters/tally.h \
	collector/doctor/doctor.c collector/doctor/doctor.h \
	collector/doctor/facts.c collector/doctor/facts.h \
	collector/doctor/refusal.c collector/doctor/refusal.h \
	collector/doctor/verdict.h \
	collector/events/attr.c collector/events/attr.h \
	collector/events/cargo.h \
	collector/events/event.c collector/events/event.h \
	collector/events/features.h \
	collector/events/names.c collector/events/names.h \
	collector/events/parse.c \
	collector/events/period.c collector/events/period.h \
	collector/events/pfm.c collector/events/pfm.h \
	collector/events/pmu.c collector/events/pmu.h \
	collector/events/planned.c collector/events/planned.h \
	collector/host/build_id.c collector/host/build_id.h \
	collector/host/clock.c collector/host/clock.h \
	collector/host/frequency.c collector/host/frequency.h \
	collector/host/host.c collector/host/host.h \
	collector/host/key.c collector/host/key.h \
	collector/host/mapped.c collector/host/mapped.h \
	collector/host/peek.c collector/host/peek.h \
	collector/host/priority.c collector/host/priority.h \
	collector/host/procfs.c collector/host/procfs.h \
	collector/host/text.c collector/host/text.h \
	collector/host/vdso.c collector/host/vdso.h \
	collector/kernel/abi.h \
	collector/kernel/perf.c collector/kernel/perf.h \
	collector/perfdata/attr.c collector/perfdata/attr.h \
	collector/perfdata/auxtrace.c collector/perfdata/auxtrace.h \
	collector/perfdata/container.c collector/perfdata/container.h \
	collector/perfdata/declare.c collector/perfdata/declare.h \
	collector/perfdata/describe.c collector/perfdata/describe.h \
	collector/perfdata/event_name.c collector/perfdata/event_name.h \
	collector/perfdata/features.c collector/perfdata/features.h \
	collector/perfdata/import.c collector/perfdata/import.h \
	collector/perfdata/notices.c collector/perfdata/notices.h \
	collector/perfdata/packed.c collector/perfdata/packed.h \
	collector/perfdata/passes.c collector/perfdata/passes.h \
	collector/perfdata/put.h \
	collector/perfdata/record.c collector/perfdata/record.h \
	collector/perfdata/samples.c collector/perfdata/samples.h \
	collector/perfdata/survey.c collector/perfdata/survey.h \
	collector/perfdata/window.c collector/perfdata/window.h \
	collector/perfdata/write.c collector/perfdata/write.h \
	collector/plan/amd.c \
	collector/plan/arm.c \
	collector/plan/cpus.c \
	collector/plan/fit.c collector/plan/fit.h \
	collector/plan/intel.c \
	collector/plan/make.c collector/plan/make.h \
	collector/plan/plan.c collector/plan/plan.h \
	collector/plan/rows.h \
	collector/plan/table.h \
	collector/plan/verdict.c collector/plan/verdict.h \
	collector/records/hardware.c collector/records/hardware.h \
	collector/records/ibs.c collector/records/ibs.h \
	collector/records/origin.c collector/records/origin.h \
	collector/records/psv.c collector/records/psv.h \
	collector/records/records.c collector/records/records.h \
	collector/records/sideband.c collector/records/sideband.h \
	collector/records/spe.c collector/records/spe.h \
	collector/session/area.c collector/session/area.h \
	collector/session/call_graph.c collector/session/call_graph.h \
	collector/session/control.c collector/session/control.h \
	collector/session/cost.c collector/session/cost.h \
	collector/session/cost_work.c collector/session/cost_work.h \
	collector/session/files.c \
	collector/session/governor.c collector/session/governor.h \
	collector/session/header.c collector/session/header.h \
	collector/session/hits.c collector/session/hits.h \
	collector/session/join.c collector/session/join.h \
	collector/session/kept.c collector/session/kept.h \
	collector/session/lanes.c collector/session/lanes.h \
	collector/session/living.c collector/session/living.h \
	collector/session/made.c collector/session/made.h \
	collector/session/members.c collector/session/members.h \
	collector/session/options.h \
	collector/session/private.h \
	collector/session/rate.c \
	collector/session/session.c collector/session/session.h \
	collector/session/trace.c \
	collector/session/visits.c collector/session/visits.h \
	collector/session/wide.c \
	collector/session/wide_rules.c collector/session/wide_rules.h \
	collector/snapshot/hold.c collector/snapshot/hold.h \
	collector/snapshot/late.c collector/snapshot/late.h \
	collector/snapshot/memory.c collector/snapshot/memory.h \
	collector/snapshot/registers.c collector/snapshot/registers.h \
	collector/snapshot/denial.c collector/snapshot/denial.h \
	collector/snapshot/snapshot.c collector/snapshot/snapshot.h \
	collector/snapshot/stored.c collector/snapshot/stored.h \
	collector/snapshot/thin.c collector/snapshot/thin.h \
	collector/snapshot/turns.c \
	collector/stat/attach.c collector/stat/attach.h \
	collector/stat/stat.c collector/stat/stat.h \
	collector/stat/stat_target.c collector/stat/stat_target.h \
	collector/target/child.c collector/target/child.h \
	collector/target/signals.c collector/target/signals.h \
	collector/target/target.c collector/target/target.h \
	collector/timing/alone.c collector/timing/alone.h \
	collector/timing/arena.c collector/timing/arena.h \
	collector/timing/child.c collector/timing/child.h \
	collector/timing/counter.c collector/timing/counter.h \
	collector/timing/enter.c collector/timing/enter.h \
	collector/timing/forbid.c collector/timing/forbid.h \
	collector/timing/places.c collector/timing/places.h \
	collector/timing/process.c collector/timing/process.h \
	collector/timing/job.h \
	collector/timing/shared.h \
	collector/timing/sharing.c collector/timing/sharing.h \
	collector/timing/sum.c collector/timing/sum.h \
	collector/timing/timing.c collector/timing/timing.h \
	collector/trial/branches.c collector/trial/branches.h \
	collector/trial/carried.c collector/trial/carried.h \
	collector/trial/callers.c collector/trial/callers.h \
	collector/trial/planned.c \
	collector/trial/probe.c collector/trial/probe.h \
	collector/trial/self.c collector/trial/self.h \
	collector/trial/skid.c collector/trial/skid.h \
	collector/trial/survey.c collector/trial/survey.h \
	collector/trial/trial.c collector/trial/trial.h \
	collector/uncore/table.c collector/uncore/table.h \
	collector/uncore/uncore.c collector/uncore/uncore.h
