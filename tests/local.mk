# SPDX-License-Identifier: MIT
# `make check`: unit tests (cmocka), cases (the program from outside), lint. No privilege, PMU or network is needed;
# what a test skips, it names.
include tests/lint/local.mk

AM_TESTS_ENVIRONMENT = PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	GUSPROF='$(abs_top_builddir)/gusprof'; export GUSPROF; \
	GUS_DEMO='$(abs_top_builddir)/contrib/demo/demo'; export GUS_DEMO; \
	GUS_SRCDIR='$(abs_top_srcdir)'; export GUS_SRCDIR; \
	GUS_BUILDDIR='$(abs_top_builddir)'; export GUS_BUILDDIR; \
	GUSPROF_CACHE=; export GUSPROF_CACHE; \
	GUSPROF_DATA=; export GUSPROF_DATA; \
	LSAN_OPTIONS="suppressions=$(abs_top_srcdir)/tests/lsan.supp:print_suppressions=0"; export LSAN_OPTIONS;
EXTRA_DIST += tests/lsan.supp

# Not of `make check`: it fetches packages.
EXTRA_DIST += tests/arm-guest/check tests/arm-guest/guest.sh tests/arm-guest/init tests/arm-guest/phases.c
.PHONY: check-arm-pmu
check-arm-pmu:
	GUS_SRCDIR='$(abs_top_srcdir)' GUS_BUILDDIR='$(abs_top_builddir)' $(top_srcdir)/tests/arm-guest/check

case_tests = \
	tests/cases/accesses.sh \
	tests/cases/attach.sh \
	tests/cases/annotate.sh \
	tests/cases/calibrate.sh \
	tests/cases/callers.sh \
	tests/cases/completion.sh \
	tests/cases/container.sh \
	tests/cases/damage.sh \
	tests/cases/diff.sh \
	tests/cases/doctor.sh \
	tests/cases/copied-hostile.sh tests/cases/copied-stacks.sh \
	tests/cases/embed.sh \
	tests/cases/export.sh \
	tests/cases/faults.sh \
	tests/cases/filters.sh \
	tests/cases/first-hour.sh \
	tests/cases/flamegraph.sh \
	tests/cases/flamegraph-browser.sh \
	tests/cases/hostile-text.sh \
	tests/cases/import.sh \
	tests/cases/import-hostile.sh \
	tests/cases/jit.sh \
	tests/cases/kills.sh \
	tests/cases/limits.sh \
	tests/cases/model.sh \
	tests/cases/model-exec.sh \
	tests/cases/model-ended.sh \
	tests/cases/model-sleeping.sh \
	tests/cases/model-output.sh \
	tests/cases/off-cpu.sh \
	tests/cases/pipes.sh \
	tests/cases/names.sh \
	tests/cases/played.sh \
	tests/cases/record.sh \
	tests/cases/escape.sh \
	tests/cases/replay.sh \
	tests/cases/report.sh \
	tests/cases/rights.sh \
	tests/cases/screen.sh \
	tests/cases/script.sh \
	tests/cases/secret.sh \
	tests/cases/short-threads.sh \
	tests/cases/stacks.sh \
	tests/cases/stacks-kept.sh \
	tests/cases/stat.sh \
	tests/cases/statuses.sh \
	tests/cases/topdown.sh \
	tests/cases/trace.sh \
	tests/cases/trace-arm64.sh \
	tests/cases/trace-ends.sh \
	tests/cases/traced.sh \
	tests/cases/uarch.sh \
	tests/cases/unprivileged.sh \
	tests/cases/unwind.sh
# These are about figures, take minutes each with sanitizers, and execute what units and shorter cases do as well.
figure_tests = \
	tests/cases/account.sh \
	tests/cases/compare.sh \
	tests/cases/correlation.sh \
	tests/cases/explain-measured.sh \
	tests/cases/explain.sh \
	tests/cases/misled.sh \
	tests/cases/golden.sh \
	tests/cases/golden-causal.sh \
	tests/cases/kernels.sh \
	tests/cases/pathologies.sh \
	tests/cases/played-run.sh \
	tests/cases/rates.sh \
	tests/cases/shared.sh \
	tests/cases/suite.sh
TESTS += $(case_tests)
if !SANITIZED
TESTS += $(figure_tests)
endif
EXTRA_DIST += tests/cases/lib.sh
dist_check_SCRIPTS += $(case_tests) $(figure_tests)
check_PROGRAMS += tests/cases/forbid-perf
tests_cases_forbid_perf_SOURCES = tests/cases/forbid_perf.c
tests_cases_forbid_perf_LDADD =
check_PROGRAMS += tests/cases/off-target
tests_cases_off_target_SOURCES = tests/cases/off_target.c
tests_cases_off_target_CFLAGS = $(GUS_WARNINGS) -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls
tests_cases_off_target_LDADD = -lpthread
check_PROGRAMS += tests/cases/short-threads
tests_cases_short_threads_SOURCES = tests/cases/short_threads.c
tests_cases_short_threads_CFLAGS = $(GUS_WARNINGS) -O2 -g
tests_cases_short_threads_LDADD = -lpthread
check_PROGRAMS += tests/cases/trace-sums
tests_cases_trace_sums_SOURCES = tests/cases/trace_sums.c
check_PROGRAMS += tests/cases/find-bytes
tests_cases_find_bytes_SOURCES = tests/cases/find_bytes.c
if HOST_X86_64
check_PROGRAMS += tests/cases/secret-target tests/cases/shared-target
tests_cases_secret_target_SOURCES = tests/cases/secret_target.c
tests_cases_secret_target_LDADD =
tests_cases_shared_target_SOURCES = tests/cases/shared_target.c
# Without sanitizers, whose own code is none about shared lines.
tests_cases_shared_target_CFLAGS = $(GUS_WARNINGS) -g -O1
tests_cases_shared_target_LDFLAGS = -pthread
tests_cases_shared_target_LDADD = -lpthread
endif
check_PROGRAMS += tests/cases/replay-process
tests_cases_replay_process_SOURCES = tests/cases/replay_process.c
tests_cases_replay_process_LDADD = $(GUS_LAYERS) -lpthread
check_PROGRAMS += tests/cases/make-calls
tests_cases_make_calls_SOURCES = tests/cases/make_calls.c tests/unit/made_sideband.h $(made_mapping)
EXTRA_DIST += tests/cases/browser.py tests/cases/flame.py tests/cases/flame_browser.py tests/cases/flame_tree.js
check_PROGRAMS += tests/cases/make-columns
tests_cases_make_columns_SOURCES = tests/cases/make_columns.c tests/unit/made_sideband.h $(made_mapping)
EXTRA_DIST += tests/cases/explain_measured.py tests/cases/filters.py tests/cases/topdown.py
EXTRA_DIST += tests/cases/played_run.py
EXTRA_DIST += tests/cases/perfdata.py tests/cases/perfdata_hostile.py tests/cases/perfdata_known.py
check_PROGRAMS += tests/cases/tell-samples
tests_cases_tell_samples_SOURCES = tests/cases/tell_samples.c
check_PROGRAMS += tests/cases/make-hostile
tests_cases_make_hostile_SOURCES = tests/cases/make_hostile.c
# The same program, but for the names in it; without build ids there is only the path to know them by.
check_PROGRAMS += tests/cases/rights-public tests/cases/rights-secret
rights_cflags = $(GUS_WARNINGS) -g -O1
rights_ldflags = -Wl,--build-id=none
tests_cases_rights_public_SOURCES = tests/cases/rights_target.c
tests_cases_rights_public_CFLAGS = $(rights_cflags) -DFUNCTION=public_function
tests_cases_rights_public_LDFLAGS = $(rights_ldflags)
tests_cases_rights_public_LDADD =
tests_cases_rights_secret_SOURCES = tests/cases/rights_target.c
tests_cases_rights_secret_CFLAGS = $(rights_cflags) -DFUNCTION=secret_function
tests_cases_rights_secret_LDFLAGS = $(rights_ldflags)
tests_cases_rights_secret_LDADD =
check_PROGRAMS += tests/cases/callers-target tests/cases/callers-target-fp
tests_cases_callers_target_SOURCES = tests/cases/callers_target.c
tests_cases_callers_target_CFLAGS = $(GUS_WARNINGS) -Wno-vla -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls
tests_cases_callers_target_LDADD = -lpthread -ldl -lrt
tests_cases_callers_target_fp_SOURCES = tests/cases/callers_target.c
tests_cases_callers_target_fp_CFLAGS = $(GUS_WARNINGS) -Wno-vla -O2 -g -fno-omit-frame-pointer \
	-momit-leaf-frame-pointer -fno-optimize-sibling-calls
tests_cases_callers_target_fp_LDADD = -lpthread -ldl -lrt
check_PROGRAMS += tests/cases/jit-target
tests_cases_jit_target_SOURCES = tests/cases/jit_target.c
check_PROGRAMS += tests/cases/kill-target
tests_cases_kill_target_SOURCES = tests/cases/kill_target.c
tests_cases_kill_target_LDADD = -lpthread
check_PROGRAMS += tests/cases/make-accesses
EXTRA_DIST += tests/cases/accesses.py
tests_cases_make_accesses_LDFLAGS = -Wl,--build-id=sha1
tests_cases_make_accesses_SOURCES = tests/cases/make_accesses.c tests/unit/made_sideband.h $(made_mapping)
check_PROGRAMS += tests/cases/make-screen
tests_cases_make_screen_SOURCES = tests/cases/make_screen.c
check_PROGRAMS += tests/cases/show-screen
tests_cases_show_screen_SOURCES = tests/cases/show_screen.c cli/common/print.c cli/doctor_text.c cli/screen/cells.c \
	cli/bandwidth/bandwidth.c cli/bandwidth/text.c cli/common/csv.c cli/screen/screen.c cli/screen/shorten.c \
	cli/slots/text.c cli/stat/csv.c \
	cli/stat/text.c cli/stat/view.c
check_PROGRAMS += tests/cases/make-stacks
tests_cases_make_stacks_SOURCES = tests/cases/make_stacks.c tests/unit/made_stacks.c tests/unit/made_stacks.h
# What lets calls fail; a shared object.
if FAULTS
check_PROGRAMS += tests/faults/faults.so
tests_faults_faults_so_SOURCES = tests/faults/alloc.c tests/faults/calls.c tests/faults/faults.h tests/faults/run.c
tests_faults_faults_so_CFLAGS = -std=gnu11 $(GUS_WARNINGS) -fPIC -fno-builtin
tests_faults_faults_so_LDFLAGS = -shared
tests_faults_faults_so_LDADD = -lpthread -ldl
endif
# What is traced; the emulator has no sanitizers to offer them.
if HOST_X86_64
check_PROGRAMS += tests/cases/trace-target tests/cases/trace-threads tests/cases/replay-target
tests_cases_replay_target_SOURCES = tests/cases/replay_target.c
tests_cases_replay_target_CFLAGS = $(GUS_WARNINGS) -O1 -fno-pie
tests_cases_replay_target_LDFLAGS = -no-pie
tests_cases_replay_target_LDADD =
check_PROGRAMS += tests/cases/escape-target
tests_cases_escape_target_SOURCES = tests/cases/escape_target.c
tests_cases_escape_target_CFLAGS = $(GUS_WARNINGS) -O1 -fno-pie
tests_cases_escape_target_LDFLAGS = -no-pie
tests_cases_escape_target_LDADD =
check_PROGRAMS += tests/cases/trace-deaths
tests_cases_trace_deaths_SOURCES = tests/cases/trace_deaths.c
tests_cases_trace_deaths_CFLAGS = $(GUS_WARNINGS) -fno-pie
tests_cases_trace_deaths_LDFLAGS = -no-pie
tests_cases_trace_deaths_LDADD =
tests_cases_trace_target_SOURCES = tests/cases/trace_target.c
tests_cases_trace_target_CFLAGS = -fno-pie
tests_cases_trace_target_LDFLAGS = -nostdlib -static
tests_cases_trace_target_LDADD =
tests_cases_trace_threads_SOURCES = tests/cases/trace_threads.c
tests_cases_trace_threads_CFLAGS = $(GUS_WARNINGS) -fno-pie
tests_cases_trace_threads_LDFLAGS = -no-pie
tests_cases_trace_threads_LDADD = -lpthread
# Stacks at each instruction: who looks, and what is looked at, as distributions build programs.
check_PROGRAMS += tests/bench/unwind-speed
tests_bench_unwind_speed_SOURCES = tests/bench/unwind_speed.c
check_PROGRAMS += tests/accuracy/stack-steps tests/cases/unwind-target tests/cases/unwind-static
tests_accuracy_stack_steps_SOURCES = tests/accuracy/stack_steps.c
tests_accuracy_stack_steps_LDADD = $(GUS_LAYERS)
unwind_cflags = $(GUS_WARNINGS) -O2 -fomit-frame-pointer -fasynchronous-unwind-tables
tests_cases_unwind_target_SOURCES = tests/cases/unwind_target.c
tests_cases_unwind_target_CFLAGS = $(unwind_cflags)
tests_cases_unwind_target_LDFLAGS = -Wl,-z,lazy
tests_cases_unwind_target_LDADD =
tests_cases_unwind_static_SOURCES = tests/cases/unwind_target.c
tests_cases_unwind_static_CFLAGS = $(unwind_cflags)
tests_cases_unwind_static_LDFLAGS = -static
tests_cases_unwind_static_LDADD =
check_PROGRAMS += tests/cases/model-execs
tests_cases_model_execs_SOURCES = tests/cases/model_execs.c
tests_cases_model_execs_CFLAGS = $(GUS_WARNINGS) -O1
tests_cases_model_execs_LDFLAGS = -pthread
tests_cases_model_execs_LDADD =
check_PROGRAMS += tests/accuracy/micro
tests_accuracy_micro_SOURCES = tests/accuracy/kernels/micro.c
tests_accuracy_micro_CFLAGS = $(GUS_WARNINGS) -O2 -fno-pie
tests_accuracy_micro_LDFLAGS = -no-pie
tests_accuracy_micro_LDADD =
check_PROGRAMS += tests/cases/traced-target
tests_cases_traced_target_SOURCES = tests/cases/traced_target.c
tests_cases_traced_target_CFLAGS = $(GUS_WARNINGS) -O1 -fno-pie
tests_cases_traced_target_LDFLAGS = -no-pie
tests_cases_traced_target_LDADD =
endif

if HAVE_CMOCKA
unit_tests = \
	tests/unit/test_access \
	tests/unit/test_account_kept \
	tests/unit/test_accounts \
	tests/unit/test_annotate_stacks \
	tests/unit/test_annotation \
	tests/unit/test_answers \
	tests/unit/test_area \
	tests/unit/test_arena \
	tests/unit/test_bar \
	tests/unit/test_cause \
	tests/unit/test_differences \
	tests/unit/test_base \
	tests/unit/test_batch \
	tests/unit/test_bounds \
	tests/unit/test_branch \
	tests/unit/test_cache \
	tests/unit/test_calibrated \
	tests/unit/test_carried \
	tests/unit/test_call_graph \
	tests/unit/test_caching \
	tests/unit/test_cargo \
	tests/unit/test_causality \
	tests/unit/test_columns \
	tests/unit/test_columns_later \
	tests/unit/test_companions \
	tests/unit/test_compare_csv \
	tests/unit/test_compare_json \
	tests/unit/test_compare_recordings \
	tests/unit/test_compare_text \
	tests/unit/test_compare_words \
	tests/unit/test_compared \
	tests/unit/test_compared_figures \
	tests/unit/test_compared_forms \
	tests/unit/test_compared_knobs \
	tests/unit/test_compared_trust \
	tests/unit/test_compared_variants \
	tests/unit/test_compared_weak \
	tests/unit/test_confine \
	tests/unit/test_container \
	tests/unit/test_control \
	tests/unit/test_core \
	tests/unit/test_core_fed \
	tests/unit/test_core_hooks \
	tests/unit/test_core_lines \
	tests/unit/test_core_settled \
	tests/unit/test_core_told \
	tests/unit/test_core_beside \
	tests/unit/test_breaks \
	tests/unit/test_emit \
	tests/unit/test_fits \
	tests/unit/test_jam \
	tests/unit/test_memory_fits \
	tests/unit/test_prefetch \
	tests/unit/test_emit_executed \
	tests/unit/test_storesets \
	tests/unit/test_calibrate_fits \
	tests/unit/test_calibrate_host \
	tests/unit/test_calibrate_shown \
	tests/unit/test_host_key \
	tests/unit/test_timing \
	tests/unit/test_timing_clock \
	tests/unit/test_timing_memory \
	tests/unit/test_timing_sum \
	tests/unit/test_core_memory \
	tests/unit/test_core_rules \
	tests/unit/test_cost \
	tests/unit/test_cost_work \
	tests/unit/test_csv \
	tests/unit/test_doctor \
	tests/unit/test_dwarf \
	tests/unit/test_debugfile \
	tests/unit/test_elf_limits \
	tests/unit/test_elffile \
	tests/unit/test_embedded \
	tests/unit/test_data_source \
	tests/unit/test_hardware \
	tests/unit/test_ibs \
	tests/unit/test_origin \
	tests/unit/test_proofs \
	tests/unit/test_words_ibs \
	tests/unit/test_words_samples \
	tests/unit/test_words_spe \
	tests/unit/test_golden_samplers \
	tests/unit/test_golden_truth \
	tests/unit/test_golden_machines \
	tests/unit/test_forms \
	tests/unit/test_golden_host \
	tests/unit/test_golden_words \
	tests/unit/test_golden_windows \
	tests/unit/test_package \
	tests/unit/test_event \
	tests/unit/test_fed \
	tests/unit/test_code_fetch \
	tests/unit/test_figure1 \
	tests/unit/test_flame \
	tests/unit/test_flame_file \
	tests/unit/test_folded \
	tests/unit/test_follow \
	tests/unit/test_foreign \
	tests/unit/test_frames \
	tests/unit/test_frequency \
	tests/unit/test_front \
	tests/unit/test_front_figures \
	tests/unit/test_frontend \
	tests/unit/test_functional \
	tests/unit/test_governor \
	tests/unit/test_groups \
	tests/unit/test_growing \
	tests/unit/test_helper \
	tests/unit/test_html \
	tests/unit/test_identity \
	tests/unit/test_image \
	tests/unit/test_penalties \
	tests/unit/test_perfdata \
	tests/unit/test_counters \
	tests/unit/test_planned \
	tests/unit/test_probe \
	tests/unit/test_record_plan \
	tests/unit/test_plan \
	tests/unit/test_plan_encodings \
	tests/unit/test_plan_pfm \
	tests/unit/test_psv \
	tests/unit/test_spe \
	tests/unit/test_steps \
	tests/unit/test_insn \
	tests/unit/test_insn_arm64 \
	tests/unit/test_renaming \
	tests/unit/test_jit \
	tests/unit/test_join \
	tests/unit/test_json \
	tests/unit/test_kept \
	tests/unit/test_kernel \
	tests/unit/test_knee \
	tests/unit/test_known \
	tests/unit/test_lanes \
	tests/unit/test_excerpt \
	tests/unit/test_limits \
	tests/unit/test_lives \
	tests/unit/test_match \
	tests/unit/test_measured \
	tests/unit/test_members \
	tests/unit/test_merge \
	tests/unit/test_mini \
	tests/unit/test_loading \
	tests/unit/test_loops \
	tests/unit/test_made \
	tests/unit/test_model_phases \
	tests/unit/test_options \
	tests/unit/test_oracle \
	tests/unit/test_observed \
	tests/unit/test_order \
	tests/unit/test_output \
	tests/unit/test_output_file \
	tests/unit/test_peek \
	tests/unit/test_contents \
	tests/unit/test_export_file \
	tests/unit/test_loaded \
	tests/unit/test_perfdata_declare \
	tests/unit/test_perfdata_describe \
	tests/unit/test_perfdata_samples \
	tests/unit/test_perfdata_features \
	tests/unit/test_perfdata_packed \
	tests/unit/test_perfdata_record \
	tests/unit/test_perfdata_write \
	tests/unit/test_phases \
	tests/unit/test_profile \
	tests/unit/test_program \
	tests/unit/test_prediction \
	tests/unit/test_program_uops \
	tests/unit/test_rates \
	tests/unit/test_reader \
	tests/unit/test_reasons \
	tests/unit/test_report_text \
	tests/unit/test_resolve \
	tests/unit/test_recall \
	tests/unit/test_record_replay \
	tests/unit/test_records \
	tests/unit/test_regions \
	tests/unit/test_needed \
	tests/unit/test_remembered \
	tests/unit/test_replaying \
	tests/unit/test_replays \
	tests/unit/test_quality \
	tests/unit/test_ring \
	tests/unit/test_routes \
	tests/unit/test_rows \
	tests/unit/test_by \
	tests/unit/test_latencies \
	tests/unit/test_sharing \
	tests/unit/test_sorting \
	tests/unit/test_touch \
	tests/unit/test_saturation \
	tests/unit/test_session_trace \
	tests/unit/test_set \
	tests/unit/test_screen \
	tests/unit/test_script \
	tests/unit/test_script_samples \
	tests/unit/test_sizes \
	tests/unit/test_skid \
	tests/unit/test_snapshot \
	tests/unit/test_denial \
	tests/unit/test_estimate \
	tests/unit/test_executed \
	tests/unit/test_expected \
	tests/unit/test_late \
	tests/unit/test_thin \
	tests/unit/test_snapshot_take \
	tests/unit/test_stored \
	tests/unit/test_current \
	tests/unit/test_space \
	tests/unit/test_replicates \
	tests/unit/test_sampler \
	tests/unit/test_clues \
	tests/unit/test_sums \
	tests/unit/test_finder \
	tests/unit/test_met \
	tests/unit/test_stacks_kept \
	tests/unit/test_stacks_shown \
	tests/unit/test_seen \
	tests/unit/test_waits \
	tests/unit/test_prior \
	tests/unit/test_solution \
	tests/unit/test_contended \
	tests/unit/test_spread \
	tests/unit/test_stack \
	tests/unit/test_store \
	tests/unit/test_pics \
	tests/unit/test_stream \
	tests/unit/test_stretches \
	tests/unit/test_suggest \
	tests/unit/test_subject \
	tests/unit/test_sweeper \
	tests/unit/test_perf_names \
	tests/unit/test_symbols \
	tests/unit/test_tally \
	tests/unit/test_slots \
	tests/unit/test_slots_parts \
	tests/unit/test_topdown \
	tests/unit/test_traffic \
	tests/unit/test_uncore \
	tests/unit/test_target \
	tests/unit/test_text \
	tests/unit/test_trace \
	tests/unit/test_pathologies \
	tests/unit/test_traced \
	tests/unit/test_traced_rates \
	tests/unit/test_traced_shown \
	tests/unit/test_tree \
	tests/unit/test_plugin_steps \
	tests/unit/test_tracer \
	tests/unit/test_trees \
	tests/unit/test_uarch \
	tests/unit/test_units \
	tests/unit/test_alone \
	tests/unit/test_timer \
	tests/unit/test_unwind \
	tests/unit/test_unwind_stacks \
	tests/unit/test_uops \
	tests/unit/test_uoptable \
	tests/unit/test_unwinder \
	tests/unit/test_variant \
	tests/unit/test_visits \
	tests/unit/test_verdict \
	tests/unit/test_verdict_measured \
	tests/unit/test_whatif \
	tests/unit/test_vectorised \
	tests/unit/test_wall \
	tests/unit/test_wide \
	tests/unit/test_window \
	tests/unit/test_widths
if HOST_X86_64
unit_tests += tests/unit/test_callers tests/unit/test_copied tests/unit/test_timing_faults
tests_unit_test_callers_SOURCES = tests/unit/test_callers.c cli/record/callers.c cli/record/beyond.c \
	cli/record/remembered.c
tests_unit_test_copied_SOURCES = tests/unit/test_copied.c
tests_unit_test_timing_faults_SOURCES = tests/unit/test_timing_faults.c tests/unit/made_timing.h
endif
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

LDADD = $(GUS_LAYERS) $(CMOCKA_LIBS)
# Tables and programs, and how to read them.
reg_name = tests/unit/reg_name.c tests/unit/reg_name.h
made_snapshot = tests/unit/made_snapshot.c tests/unit/made_snapshot.h
made_trace = tests/unit/made_trace.c tests/unit/made_trace.h
made_account = tests/unit/made_account.c tests/unit/made_account.h tests/unit/made_sideband.h $(made_mapping) \
	$(made_trace)
made_program = tests/unit/made_program.c tests/unit/made_program.h $(reg_name)
tests_unit_test_skid_SOURCES = tests/unit/test_skid.c
tests_unit_test_data_source_SOURCES = tests/unit/test_data_source.c
tests_unit_test_hardware_SOURCES = tests/unit/test_hardware.c
tests_unit_test_ibs_SOURCES = tests/unit/test_ibs.c
words = tests/words/words.c tests/words/words.h
tests_unit_test_origin_SOURCES = tests/unit/test_origin.c
tests_unit_test_proofs_SOURCES = tests/unit/test_proofs.c tests/words/ibs_words.c tests/words/ibs_words.h \
	tests/words/spe_words.c tests/words/spe_words.h $(words)
tests_unit_test_words_ibs_SOURCES = tests/unit/test_words_ibs.c tests/words/ibs_words.c tests/words/ibs_words.h $(words)
tests_unit_test_words_samples_SOURCES = tests/unit/test_words_samples.c tests/words/sample_words.c \
	tests/words/sample_words.h $(words)
tests_unit_test_words_spe_SOURCES = tests/unit/test_words_spe.c tests/words/spe_words.c tests/words/spe_words.h $(words)
# Recordings of emulated samplers, and how any recording is read.
golden_words = tests/accuracy/golden/words.c tests/accuracy/golden/words.h tests/accuracy/golden/read.c \
	tests/accuracy/golden/file.c tests/accuracy/golden/file.h tests/accuracy/golden/claims.c \
	tests/accuracy/golden/claims.h tests/accuracy/golden/pebs.c tests/accuracy/golden/pebs.h \
	tests/accuracy/golden/ibs.c tests/accuracy/golden/ibs.h tests/accuracy/golden/spe.c \
	tests/accuracy/golden/spe.h tests/words/ibs_words.c tests/words/ibs_words.h tests/words/spe_words.c \
	tests/words/spe_words.h $(words) cli/common/recording.c cli/common/recording.h
tests_unit_test_golden_samplers_SOURCES = tests/unit/test_golden_samplers.c tests/accuracy/golden/samplers.c \
	tests/accuracy/golden/samplers.h tests/accuracy/golden/passes.h tests/accuracy/golden/draw.h
tests_unit_test_golden_truth_SOURCES = tests/unit/test_golden_truth.c tests/accuracy/golden/truth.c \
	tests/accuracy/golden/truth.h tests/accuracy/golden/score.c tests/accuracy/golden/score.h \
	tests/accuracy/golden/counters.c tests/accuracy/golden/counters.h tests/accuracy/golden/draw.h \
	tests/accuracy/golden/slots.c tests/accuracy/golden/slots.h \
	tests/accuracy/golden/stages.c tests/accuracy/golden/stages.h
tests_unit_test_golden_machines_SOURCES = tests/unit/test_golden_machines.c tests/accuracy/golden/draw.h \
	tests/accuracy/golden/machine.c tests/accuracy/golden/machine.h tests/accuracy/golden/passes.h \
	tests/accuracy/golden/resonance.c tests/accuracy/golden/resonance.h \
	tests/accuracy/golden/traits.c tests/accuracy/golden/traits.h
tests_unit_test_forms_SOURCES = tests/unit/test_forms.c tests/accuracy/golden/draw.h \
	tests/accuracy/golden/host.c tests/accuracy/golden/host.h \
	tests/accuracy/golden/machine.c tests/accuracy/golden/machine.h \
	tests/accuracy/golden/code.c tests/accuracy/golden/code.h \
	tests/accuracy/golden/traits.c tests/accuracy/golden/traits.h
tests_unit_test_breaks_SOURCES = tests/unit/test_breaks.c
tests_unit_test_fits_SOURCES = tests/unit/test_fits.c tests/unit/simulated_host.c tests/unit/simulated_host.h
tests_unit_test_jam_SOURCES = tests/unit/test_jam.c
tests_unit_test_memory_fits_SOURCES = tests/unit/test_memory_fits.c
tests_unit_test_prefetch_SOURCES = tests/unit/test_prefetch.c
tests_unit_test_golden_host_SOURCES = tests/unit/test_golden_host.c tests/accuracy/golden/draw.h \
	tests/accuracy/golden/host.c tests/accuracy/golden/host.h \
	tests/accuracy/golden/machine.c tests/accuracy/golden/machine.h \
	tests/accuracy/golden/code.c tests/accuracy/golden/code.h \
	tests/accuracy/golden/traits.c tests/accuracy/golden/traits.h
tests_unit_test_golden_windows_SOURCES = tests/unit/test_golden_windows.c tests/accuracy/golden/draw.h \
	tests/accuracy/golden/stages.c tests/accuracy/golden/stages.h \
	tests/accuracy/golden/stages_trace.c tests/accuracy/golden/stages_trace.h \
	tests/accuracy/golden/windows.c tests/accuracy/golden/windows.h
tests_unit_test_golden_words_SOURCES = tests/unit/test_golden_words.c $(golden_words)
tests_unit_test_perfdata_SOURCES = tests/unit/test_perfdata.c tests/unit/made_perfdata.c \
	tests/unit/made_perfdata.h
tests_unit_test_penalties_SOURCES = tests/unit/test_penalties.c $(made_program)
if HOST_X86_64
# All of gusprof on a machine that is played, beside gusprof, where it finds its parts; and what is recorded there.
check_PROGRAMS += gusprof-played tests/machine/played-target tests/machine/golden-target
gusprof_played_SOURCES = $(gusprof_SOURCES) $(machine) tests/machine/played.c tests/machine/played_run.c \
	tests/machine/played_run.h tests/machine/tape.c tests/machine/tape.h tests/words/ibs_words.c \
	tests/words/ibs_words.h tests/words/spe_words.c tests/words/spe_words.h $(words)
nodist_gusprof_played_SOURCES = cli/topics.h
gusprof_played_LDADD = $(gusprof_LDADD)
gusprof_played_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gus_host_describe,--wrap=gus_area_midr,--wrap=gus_trial_skid
tests_machine_played_target_SOURCES = tests/machine/played_target.c
tests_machine_played_target_CFLAGS = $(GUS_WARNINGS) -O1 -fno-pie
tests_machine_played_target_LDFLAGS = -no-pie
tests_machine_played_target_LDADD =
# At the addresses that it is linked to, under QEMU and without.
tests_machine_golden_target_SOURCES = tests/machine/golden_target.c
tests_machine_golden_target_CFLAGS = $(GUS_WARNINGS) -O1 -fno-pie
tests_machine_golden_target_LDFLAGS = -no-pie -static
tests_machine_golden_target_LDADD =
endif
# The kernel that is played: gus_perf of its own, in place of the library's.
machine = tests/machine/machine.c tests/machine/machine.h
tests_unit_test_counters_SOURCES = tests/unit/test_counters.c $(machine)
tests_unit_test_probe_SOURCES = tests/unit/test_probe.c $(machine)
# Which CPU this machine has is the test's.
tests_unit_test_record_plan_SOURCES = tests/unit/test_record_plan.c $(machine) cli/record/plan.c cli/need.c
tests_unit_test_area_SOURCES = tests/unit/test_area.c tests/words/ibs_words.c tests/words/ibs_words.h \
	tests/words/spe_words.c tests/words/spe_words.h $(words)
tests_unit_test_planned_SOURCES = tests/unit/test_planned.c $(machine) tests/words/ibs_words.c tests/words/ibs_words.h \
	tests/words/spe_words.c tests/words/spe_words.h $(words)
tests_unit_test_plan_SOURCES = tests/unit/test_plan.c
tests_unit_test_plan_encodings_SOURCES = tests/unit/test_plan_encodings.c
tests_unit_test_plan_pfm_SOURCES = tests/unit/test_plan_pfm.c
tests_unit_test_psv_SOURCES = tests/unit/test_psv.c
tests_unit_test_spe_SOURCES = tests/unit/test_spe.c
tests_unit_test_alone_SOURCES = tests/unit/test_alone.c
tests_unit_test_timer_SOURCES = tests/unit/test_timer.c tests/kernels/timer.c tests/kernels/timer.h
tests_unit_test_access_SOURCES = tests/unit/test_access.c
tests_unit_test_accounts_SOURCES = tests/unit/test_accounts.c $(made_account)
tests_unit_test_clues_SOURCES = tests/unit/test_clues.c $(made_account)
tests_unit_test_account_kept_SOURCES = tests/unit/test_account_kept.c $(made_account)
tests_unit_test_sums_SOURCES = tests/unit/test_sums.c tests/unit/made_elf.c tests/unit/made_elf.h $(made_account)
tests_unit_test_answers_SOURCES = tests/unit/test_answers.c
# The account is the test's.
tests_unit_test_annotate_stacks_SOURCES = tests/unit/test_annotate_stacks.c cli/annotate/stacks.c
tests_unit_test_annotation_SOURCES = tests/unit/test_annotation.c
tests_unit_test_base_SOURCES = tests/unit/test_base.c
# What unwind tables say of a file is the test's.
tests_unit_test_call_graph_SOURCES = tests/unit/test_call_graph.c cli/record/call_graph.c
tests_unit_test_call_graph_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gus_unwind_files_get \
	-Wl,--wrap=gus_unwind_file_frame_pointers -Wl,--wrap=gus_unwind_files_new
tests_unit_test_carried_SOURCES = tests/unit/test_carried.c
tests_unit_test_causality_SOURCES = tests/unit/test_causality.c $(made_program)
tests_unit_test_set_SOURCES = tests/unit/test_set.c $(made_program)
tests_unit_test_expected_SOURCES = tests/unit/test_expected.c $(printed) cli/common/csv.c cli/common/json.c \
	cli/common/print.c cli/model/expected.c
tests_unit_test_bounds_SOURCES = tests/unit/test_bounds.c $(made_program) $(plain_bound) \
	tests/accuracy/random_loop.c tests/accuracy/random_loop.h
tests_unit_test_batch_SOURCES = tests/unit/test_batch.c $(made_program)
tests_unit_test_branch_SOURCES = tests/unit/test_branch.c
tests_unit_test_cache_SOURCES = tests/unit/test_cache.c
tests_unit_test_caching_SOURCES = tests/unit/test_caching.c $(made_program)
tests_unit_test_calibrated_SOURCES = tests/unit/test_calibrated.c cli/calibrate/sound.c
tests_unit_test_columns_SOURCES = tests/unit/test_columns.c
tests_unit_test_columns_later_SOURCES = tests/unit/test_columns_later.c
# The machine is the test's.
tests_unit_test_companions_SOURCES = tests/unit/test_companions.c
tests_unit_test_companions_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gus_timing_facts -Wl,--wrap=gus_timing_run \
	-Wl,--wrap=gus_read_text -Wl,--wrap=gus_procfs_read -Wl,--wrap=sched_getaffinity \
	-Wl,--wrap=sched_setaffinity -Wl,--wrap=gus_helper_fork -Wl,--wrap=nanosleep
made_figure = tests/unit/made_figure.h
# Comparisons as they are shown, and of cli/ what any of these tests calls.
made_comparison = tests/unit/made_comparison.c tests/unit/made_comparison.h $(made_figure) $(made_program) $(printed) \
	cli/common/calibrated.c cli/common/calibrations.c cli/common/csv.c cli/common/json.c cli/common/print.c \
	cli/common/recording.c cli/common/wording.c cli/compare/csv.c cli/compare/json.c cli/compare/text.c \
	cli/compare/words.c cli/model/expected.c cli/screen/cells.c cli/screen/screen.c cli/screen/shorten.c \
	cli/screen/table.c
tests_unit_test_compare_csv_SOURCES = tests/unit/test_compare_csv.c $(made_comparison)
tests_unit_test_compare_json_SOURCES = tests/unit/test_compare_json.c $(made_comparison)
# The recorder is the test's, and how long it takes.
tests_unit_test_compare_recordings_SOURCES = tests/unit/test_compare_recordings.c tests/unit/made_folder.h \
	cli/compare/recordings.c cli/common/ending.c
tests_unit_test_compare_recordings_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime
tests_unit_test_compare_text_SOURCES = tests/unit/test_compare_text.c $(made_comparison)
tests_unit_test_compare_words_SOURCES = tests/unit/test_compare_words.c $(made_comparison)
made_joined = tests/unit/made_joined.c tests/unit/made_joined.h $(made_program)
tests_unit_test_compared_SOURCES = tests/unit/test_compared.c $(made_figure) $(made_joined)
tests_unit_test_compared_figures_SOURCES = tests/unit/test_compared_figures.c $(made_figure)
tests_unit_test_compared_forms_SOURCES = tests/unit/test_compared_forms.c $(made_figure) $(made_joined)
tests_unit_test_compared_knobs_SOURCES = tests/unit/test_compared_knobs.c $(made_figure)
tests_unit_test_compared_trust_SOURCES = tests/unit/test_compared_trust.c $(made_figure)
tests_unit_test_compared_variants_SOURCES = tests/unit/test_compared_variants.c $(made_joined)
tests_unit_test_compared_weak_SOURCES = tests/unit/test_compared_weak.c $(made_figure) $(made_joined)
tests_unit_test_confine_SOURCES = tests/unit/test_confine.c tracing/confine/calls.c
tests_unit_test_confine_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
tests_unit_test_confine_LDADD = $(LDADD) $(SECCOMP_LIBS) -lpthread
tests_unit_test_container_SOURCES = tests/unit/test_container.c
tests_unit_test_core_SOURCES = tests/unit/test_core.c
tests_unit_test_core_memory_SOURCES = tests/unit/test_core_memory.c $(made_program)
tests_unit_test_core_rules_SOURCES = tests/unit/test_core_rules.c tests/unit/core_machine.c tests/unit/core_machine.h
tests_unit_test_csv_SOURCES = tests/unit/test_csv.c cli/common/csv.c cli/common/print.c
tests_unit_test_jit_SOURCES = tests/unit/test_jit.c
tests_unit_test_unwinder_SOURCES = tests/unit/test_unwinder.c
tests_unit_test_kept_SOURCES = tests/unit/test_kept.c
tests_unit_test_json_SOURCES = tests/unit/test_json.c cli/common/json.c
tests_unit_test_cost_SOURCES = tests/unit/test_cost.c
tests_unit_test_cost_LDADD = $(LDADD) -ldl
tests_unit_test_cost_work_SOURCES = tests/unit/test_cost_work.c
tests_unit_test_pics_SOURCES = tests/unit/test_pics.c $(made_program)
tests_unit_test_core_fed_SOURCES = tests/unit/test_core_fed.c $(made_program)
fed_machine = tests/unit/fed_machine.c tests/unit/fed_machine.h $(made_program)
tests_unit_test_core_hooks_SOURCES = tests/unit/test_core_hooks.c $(fed_machine)
tests_unit_test_emit_SOURCES = tests/unit/test_emit.c
tests_unit_test_emit_executed_SOURCES = tests/unit/test_emit_executed.c
tests_unit_test_storesets_SOURCES = tests/unit/test_storesets.c
tests_unit_test_core_told_SOURCES = tests/unit/test_core_told.c $(fed_machine)
tests_unit_test_core_beside_SOURCES = tests/unit/test_core_beside.c $(fed_machine)
tests_unit_test_core_lines_SOURCES = tests/unit/test_core_lines.c tests/unit/core_machine.c tests/unit/core_machine.h
tests_unit_test_core_settled_SOURCES = tests/unit/test_core_settled.c \
	tests/unit/core_machine.c tests/unit/core_machine.h
tests_unit_test_helper_SOURCES = tests/unit/test_helper.c
tests_unit_test_helper_LDADD = $(LDADD) -ldl
tests_unit_test_sweeper_SOURCES = tests/unit/test_sweeper.c
tests_unit_test_doctor_SOURCES = tests/unit/test_doctor.c
tests_unit_test_dwarf_SOURCES = tests/unit/test_dwarf.c
made_elf = tests/unit/made_elf.c tests/unit/made_elf.h
tests_unit_test_debugfile_SOURCES = tests/unit/test_debugfile.c $(made_elf)
tests_unit_test_elffile_SOURCES = tests/unit/test_elffile.c $(made_elf)
tests_unit_test_elf_limits_SOURCES = tests/unit/test_elf_limits.c $(made_elf)
tests_unit_test_embedded_SOURCES = tests/unit/test_embedded.c
tests_unit_test_package_SOURCES = tests/unit/test_package.c
tests_unit_test_event_SOURCES = tests/unit/test_event.c
tests_unit_test_code_fetch_SOURCES = tests/unit/test_code_fetch.c
tests_unit_test_figure1_SOURCES = tests/unit/test_figure1.c $(made_program)
tests_unit_test_fed_SOURCES = tests/unit/test_fed.c
tests_unit_test_replaying_SOURCES = tests/unit/test_replaying.c tracing/plugin/replaying.c
tests_unit_test_follow_SOURCES = tests/unit/test_follow.c tracing/plugin/follow.c
tests_unit_test_foreign_SOURCES = tests/unit/test_foreign.c
tests_unit_test_output_file_SOURCES = tests/unit/test_output_file.c
tests_unit_test_output_SOURCES = tests/unit/test_output.c
# What shows trees, of calls that are made up.
made_mapping = tests/unit/made_mapping.h
made_calls = tests/unit/made_calls.c tests/unit/made_calls.h $(made_mapping)
tests_unit_test_flame_SOURCES = tests/unit/test_flame.c $(made_calls) cli/common/html.c cli/common/print.c \
	cli/report/data.c cli/report/flame.c cli/report/flame_tree.c cli/report/head.c \
	cli/common/wording.c cli/report/view.c \
	cli/screen/cells.c \
	cli/screen/screen.c cli/screen/shorten.c
tests_unit_test_flame_file_SOURCES = tests/unit/test_flame_file.c cli/report/flame_file.c
printed = tests/unit/printed.c tests/unit/printed.h
tests_unit_test_stacks_kept_SOURCES = tests/unit/test_stacks_kept.c $(made_account) cli/stacks/kept.c
tests_unit_test_stacks_shown_SOURCES = tests/unit/test_stacks_shown.c $(printed) cli/common/json.c cli/common/print.c \
	cli/screen/cells.c cli/screen/screen.c cli/screen/shorten.c cli/screen/table.c cli/stacks/bar.c \
	cli/common/csv.c cli/slots/text.c cli/stacks/csv.c cli/stacks/json.c cli/stacks/text.c
tests_unit_test_bar_SOURCES = tests/unit/test_bar.c cli/stacks/bar.c
tests_unit_test_cause_SOURCES = tests/unit/test_cause.c
tests_unit_test_differences_SOURCES = tests/unit/test_differences.c cli/diff/condition.c cli/diff/side.c
tests_unit_test_folded_SOURCES = tests/unit/test_folded.c $(made_calls) $(printed) cli/common/lines.c \
	cli/report/folded.c
tests_unit_test_front_SOURCES = tests/unit/test_front.c $(made_program)
tests_unit_test_front_figures_SOURCES = tests/unit/test_front_figures.c
tests_unit_test_frontend_SOURCES = tests/unit/test_frontend.c
tests_unit_test_frames_SOURCES = tests/unit/test_frames.c
tests_unit_test_functional_SOURCES = tests/unit/test_functional.c $(made_program)
tests_unit_test_growing_SOURCES = tests/unit/test_growing.c $(made_program)
tests_unit_test_html_SOURCES = tests/unit/test_html.c cli/common/html.c
tests_unit_test_identity_SOURCES = tests/unit/test_identity.c tests/unit/made_folder.h
tests_unit_test_image_SOURCES = tests/unit/test_image.c $(made_snapshot)
tests_unit_test_insn_SOURCES = tests/unit/test_insn.c $(reg_name)
tests_unit_test_renaming_SOURCES = tests/unit/test_renaming.c
tests_unit_test_insn_arm64_SOURCES = tests/unit/test_insn_arm64.c $(reg_name)
tests_unit_test_cargo_SOURCES = tests/unit/test_cargo.c
tests_unit_test_join_SOURCES = tests/unit/test_join.c
tests_unit_test_knee_SOURCES = tests/unit/test_knee.c
tests_unit_test_known_SOURCES = tests/unit/test_known.c
tests_unit_test_lanes_SOURCES = tests/unit/test_lanes.c
tests_unit_test_lives_SOURCES = tests/unit/test_lives.c
tests_unit_test_members_SOURCES = tests/unit/test_members.c
tests_unit_test_merge_SOURCES = tests/unit/test_merge.c
tests_unit_test_mini_SOURCES = tests/unit/test_mini.c
tests_unit_test_loading_SOURCES = tests/unit/test_loading.c
tests_unit_test_loops_SOURCES = tests/unit/test_loops.c
tests_unit_test_made_SOURCES = tests/unit/test_made.c
tests_unit_test_model_phases_SOURCES = tests/unit/test_model_phases.c cli/common/json.c cli/model/phases.c \
	cli/common/print.c
tests_unit_test_options_SOURCES = tests/unit/test_options.c cli/common/option_rules.c cli/common/options.c \
	cli/common/print.c
tests_unit_test_by_SOURCES = tests/unit/test_by.c cli/report/by.c
tests_unit_test_latencies_SOURCES = tests/unit/test_latencies.c
tests_unit_test_sharing_LDFLAGS = -Wl,--build-id=sha1
tests_unit_test_sharing_SOURCES = tests/unit/test_sharing.c tests/unit/made_folder.h tests/unit/made_sideband.h \
	$(made_mapping)
tests_unit_test_touch_SOURCES = tests/unit/test_touch.c $(made_mapping)
tests_unit_test_oracle_SOURCES = tests/unit/test_oracle.c $(made_program)
made_observed = tests/unit/made_observed.c tests/unit/made_observed.h tests/unit/made_sideband.h $(made_mapping)
tests_unit_test_observed_SOURCES = tests/unit/test_observed.c $(made_observed)
tests_unit_test_traced_rates_SOURCES = tests/unit/test_traced_rates.c $(made_observed) $(made_trace)
tests_unit_test_order_SOURCES = tests/unit/test_order.c
tests_unit_test_peek_SOURCES = tests/unit/test_peek.c
tests_unit_test_loaded_SOURCES = tests/unit/test_loaded.c cli/export/loaded.c $(made_elf)
tests_unit_test_contents_SOURCES = tests/unit/test_contents.c tests/unit/made_sideband.h $(made_mapping) \
	cli/export/contents.c
tests_unit_test_export_file_SOURCES = tests/unit/test_export_file.c tests/unit/made_sideband.h $(made_mapping) \
	cli/export/contents.c cli/export/file.c cli/export/loaded.c
tests_unit_test_perfdata_declare_SOURCES = tests/unit/test_perfdata_declare.c
tests_unit_test_perfdata_describe_SOURCES = tests/unit/test_perfdata_describe.c tests/unit/made_perfdata.c \
	tests/unit/made_perfdata.h
tests_unit_test_perfdata_samples_SOURCES = tests/unit/test_perfdata_samples.c
tests_unit_test_perfdata_features_SOURCES = tests/unit/test_perfdata_features.c tests/unit/made_perfdata.c \
	tests/unit/made_perfdata.h
tests_unit_test_perfdata_packed_SOURCES = tests/unit/test_perfdata_packed.c
tests_unit_test_perfdata_record_SOURCES = tests/unit/test_perfdata_record.c tests/unit/made_perfdata.c \
	tests/unit/made_perfdata.h
tests_unit_test_perfdata_write_SOURCES = tests/unit/test_perfdata_write.c $(made_mapping)
tests_unit_test_phases_SOURCES = tests/unit/test_phases.c
tests_unit_test_profile_SOURCES = tests/unit/test_profile.c
tests_unit_test_rates_SOURCES = tests/unit/test_rates.c
tests_unit_test_prediction_SOURCES = tests/unit/test_prediction.c $(made_program)
tests_unit_test_program_SOURCES = tests/unit/test_program.c tests/unit/made_tables.h $(made_program)
tests_unit_test_program_uops_SOURCES = tests/unit/test_program_uops.c tests/unit/made_tables.h $(made_program)
tests_unit_test_reader_SOURCES = tests/unit/test_reader.c
# How many CPUs there are, and whether a thread can be had, is the test's.
tests_unit_test_recall_SOURCES = tests/unit/test_recall.c
tests_unit_test_recall_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sysconf -Wl,--wrap=pthread_create
# Replaying, the memory of snapshots, signals and the clock are the test's.
tests_unit_test_record_replay_SOURCES = tests/unit/test_record_replay.c tests/unit/made_folder.h $(made_snapshot) \
	cli/record/replay.c
tests_unit_test_record_replay_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime -Wl,--wrap=gus_stored_open \
	-Wl,--wrap=gus_stored_close
tests_unit_test_records_SOURCES = tests/unit/test_records.c
tests_unit_test_screen_SOURCES = tests/unit/test_screen.c cli/common/progress.c cli/screen/cells.c \
	cli/screen/fitted.c cli/screen/screen.c cli/screen/shorten.c cli/screen/table.c
tests_unit_test_script_SOURCES = tests/unit/test_script.c cli/common/absent.c cli/script/fields.c \
	cli/common/lines.c
tests_unit_test_script_samples_SOURCES = tests/unit/test_script_samples.c cli/common/lines.c \
	cli/report/folded.c cli/script/access.c cli/script/columns.c cli/script/names.c \
	cli/script/samples.c
tests_unit_test_regions_SOURCES = tests/unit/test_regions.c $(made_trace) \
	tests/unit/made_stacks.c tests/unit/made_stacks.h
# Replaying, and where a case says so the taking of snapshots and the clock, are the test's.
tests_unit_test_replays_SOURCES = tests/unit/test_replays.c tracing/replay/replays.c $(made_snapshot)
tests_unit_test_replays_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gus_snapshot_take -Wl,--wrap=gus_turns_next \
	-Wl,--wrap=clock_gettime -Wl,--wrap=nanosleep
tests_unit_test_routes_SOURCES = tests/unit/test_routes.c tests/unit/made_stacks.c tests/unit/made_stacks.h
tests_unit_test_excerpt_SOURCES = tests/unit/test_excerpt.c $(made_program)
tests_unit_test_limits_SOURCES = tests/unit/test_limits.c $(made_program)
tests_unit_test_saturation_SOURCES = tests/unit/test_saturation.c $(made_program) \
	tests/accuracy/random_loop.c tests/accuracy/random_loop.h
tests_unit_test_needed_SOURCES = tests/unit/test_needed.c
tests_unit_test_remembered_SOURCES = tests/unit/test_remembered.c cli/record/remembered.c
tests_unit_test_rows_SOURCES = tests/unit/test_rows.c
# All about it is the test's; what is the library's it defines in place of that.
tests_unit_test_session_trace_SOURCES = tests/unit/test_session_trace.c $(made_snapshot)
tests_unit_test_session_trace_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime -Wl,--wrap=getrusage \
	-Wl,--wrap=sysconf -Wl,--wrap=process_vm_readv
tests_unit_test_sizes_SOURCES = tests/unit/test_sizes.c
tests_unit_test_subject_SOURCES = tests/unit/test_subject.c $(reg_name)
tests_unit_test_snapshot_SOURCES = tests/unit/test_snapshot.c $(made_snapshot)
tests_unit_test_denial_SOURCES = tests/unit/test_denial.c
tests_unit_test_executed_SOURCES = tests/unit/test_executed.c
tests_unit_test_thin_SOURCES = tests/unit/test_thin.c
tests_unit_test_late_SOURCES = tests/unit/test_late.c $(made_snapshot)
tests_unit_test_snapshot_take_SOURCES = tests/unit/test_snapshot_take.c
# How much room a disk has, and what of that is written it takes, is the test's.
tests_unit_test_stored_SOURCES = tests/unit/test_stored.c $(made_snapshot)
tests_unit_test_stored_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=write -Wl,--wrap=fstatvfs
tests_unit_test_current_SOURCES = tests/unit/test_current.c $(made_mapping)
tests_unit_test_space_SOURCES = tests/unit/test_space.c $(made_mapping)
tests_unit_test_sampler_SOURCES = tests/unit/test_sampler.c
tests_unit_test_groups_SOURCES = tests/unit/test_groups.c
tests_unit_test_replicates_SOURCES = tests/unit/test_replicates.c
tests_unit_test_finder_SOURCES = tests/unit/test_finder.c $(made_trace)
tests_unit_test_met_SOURCES = tests/unit/test_met.c
tests_unit_test_waits_SOURCES = tests/unit/test_waits.c
tests_unit_test_seen_SOURCES = tests/unit/test_seen.c
tests_unit_test_prior_SOURCES = tests/unit/test_prior.c
tests_unit_test_solution_SOURCES = tests/unit/test_solution.c
tests_unit_test_contended_SOURCES = tests/unit/test_contended.c
tests_unit_test_spread_SOURCES = tests/unit/test_spread.c
tests_unit_test_steps_SOURCES = tests/unit/test_steps.c $(made_snapshot)
tests_unit_test_store_SOURCES = tests/unit/test_store.c
tests_unit_test_stack_SOURCES = tests/unit/test_stack.c
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c $(made_program)
tests_unit_test_suggest_SOURCES = tests/unit/test_suggest.c
tests_unit_test_reasons_SOURCES = tests/unit/test_reasons.c
tests_unit_test_match_SOURCES = tests/unit/test_match.c $(made_program)
tests_unit_test_measured_SOURCES = tests/unit/test_measured.c tests/unit/made_sideband.h $(made_mapping) $(made_trace)
tests_unit_test_resolve_SOURCES = tests/unit/test_resolve.c
tests_unit_test_stretches_SOURCES = tests/unit/test_stretches.c
tests_unit_test_estimate_SOURCES = tests/unit/test_estimate.c $(made_trace)
tests_unit_test_kernel_SOURCES = tests/unit/test_kernel.c
tests_unit_test_calibrate_fits_SOURCES = tests/unit/test_calibrate_fits.c cli/calibrate/fits.c
tests_unit_test_calibrate_host_SOURCES = tests/unit/test_calibrate_host.c cli/calibrate/host.c
tests_unit_test_calibrate_shown_SOURCES = tests/unit/test_calibrate_shown.c $(printed) cli/calibrate/fits.c \
	cli/calibrate/json.c cli/calibrate/text.c cli/common/json.c cli/common/print.c cli/common/progress.c \
	cli/screen/cells.c cli/screen/screen.c cli/screen/shorten.c cli/screen/table.c
tests_unit_test_host_key_SOURCES = tests/unit/test_host_key.c
tests_unit_test_timing_SOURCES = tests/unit/test_timing.c tests/unit/made_timing.h
# What the kernel says of memory is the test's.
tests_unit_test_arena_SOURCES = tests/unit/test_arena.c
tests_unit_test_arena_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gus_procfs_read -Wl,--wrap=gus_read_text
tests_unit_test_frequency_SOURCES = tests/unit/test_frequency.c
tests_unit_test_frequency_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime -Wl,--wrap=gus_clock_run \
	-Wl,--wrap=gus_clock_rounds
# The kernel's clock is the test's.
tests_unit_test_timing_clock_SOURCES = tests/unit/test_timing_clock.c
tests_unit_test_timing_clock_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime
tests_unit_test_timing_memory_SOURCES = tests/unit/test_timing_memory.c tests/unit/made_timing.h
tests_unit_test_timing_sum_SOURCES = tests/unit/test_timing_sum.c
tests_unit_test_perf_names_SOURCES = tests/unit/test_perf_names.c
tests_unit_test_symbols_SOURCES = tests/unit/test_symbols.c
tests_unit_test_tally_SOURCES = tests/unit/test_tally.c cli/common/topdown.c cli/common/topdown.h
tests_unit_test_slots_SOURCES = tests/unit/test_slots.c cli/common/json.c cli/common/print.c cli/common/topdown.c \
	cli/record/carry.c cli/record/readings.c cli/record/slots.c cli/screen/cells.c cli/screen/screen.c \
	cli/screen/shorten.c cli/slots/json.c cli/slots/text.c
tests_unit_test_slots_parts_SOURCES = tests/unit/test_slots_parts.c
tests_unit_test_topdown_SOURCES = tests/unit/test_topdown.c
tests_unit_test_traffic_SOURCES = tests/unit/test_traffic.c
tests_unit_test_uncore_SOURCES = tests/unit/test_uncore.c $(machine)
tests_unit_test_uarch_SOURCES = tests/unit/test_uarch.c
tests_unit_test_trace_SOURCES = tests/unit/test_trace.c tests/unit/made_folder.h
tests_unit_test_tree_SOURCES = tests/unit/test_tree.c
tests_unit_test_pathologies_SOURCES = tests/unit/test_pathologies.c $(made_trace)
tests_unit_test_traced_SOURCES = tests/unit/test_traced.c $(made_trace)
tests_unit_test_traced_shown_SOURCES = tests/unit/test_traced_shown.c $(made_program) $(printed) \
	cli/common/calibrated.c cli/common/csv.c cli/common/json.c cli/common/print.c \
	cli/model/engines.c cli/model/expected.c \
	cli/common/calibrations.c cli/model/phases.c cli/model/traced_json.c \
	cli/model/traced_text.c \
	cli/screen/cells.c \
	cli/screen/fitted.c cli/screen/screen.c cli/screen/shorten.c
tests_unit_test_plugin_steps_SOURCES = tests/unit/test_plugin_steps.c tracing/plugin/origins.c tracing/plugin/steps.c
tests_unit_test_tracer_SOURCES = tests/unit/test_tracer.c \
	tracing/plugin/calls.c tracing/plugin/options.c tracing/plugin/origins.c
report_text = cli/common/print.c cli/report/by.c cli/report/data.c cli/report/head.c \
	cli/bandwidth/bandwidth.c cli/bandwidth/text.c cli/common/wording.c cli/report/text.c cli/slots/text.c \
	cli/report/tree_text.c cli/report/trees.c cli/report/view.c cli/screen/cells.c cli/screen/screen.c \
	cli/screen/shorten.c cli/screen/table.c
tests_unit_test_report_text_SOURCES = tests/unit/test_report_text.c $(made_calls) $(printed) $(report_text) \
	cli/common/option_rules.c cli/common/options.c
tests_unit_test_sorting_SOURCES = tests/unit/test_sorting.c $(made_calls) cli/report/by.c cli/report/sorting.c
tests_unit_test_trees_SOURCES = tests/unit/test_trees.c $(made_calls) $(printed) $(report_text) cli/common/csv.c \
	cli/common/json.c cli/common/option_rules.c cli/common/options.c cli/report/csv.c cli/report/tree_json.c
tests_unit_test_units_SOURCES = tests/unit/test_units.c
made_frames = tests/unit/made_frames.c tests/unit/made_frames.h
tests_unit_test_unwind_SOURCES = tests/unit/test_unwind.c $(made_frames)
tests_unit_test_unwind_stacks_SOURCES = tests/unit/test_unwind_stacks.c $(made_frames)
tests_unit_test_uops_SOURCES = tests/unit/test_uops.c
tests_unit_test_uoptable_SOURCES = tests/unit/test_uoptable.c $(made_program)
tests_unit_test_variant_SOURCES = tests/unit/test_variant.c
tests_unit_test_visits_SOURCES = tests/unit/test_visits.c
tests_unit_test_verdict_SOURCES = tests/unit/test_verdict.c
tests_unit_test_quality_SOURCES = tests/unit/test_quality.c cli/common/json.c cli/common/print.c cli/explain/quality.c \
	cli/screen/cells.c cli/screen/screen.c cli/screen/shorten.c
tests_unit_test_verdict_measured_SOURCES = tests/unit/test_verdict_measured.c
tests_unit_test_whatif_SOURCES = tests/unit/test_whatif.c
tests_unit_test_vectorised_SOURCES = tests/unit/test_vectorised.c
tests_unit_test_wall_SOURCES = tests/unit/test_wall.c
tests_unit_test_wide_SOURCES = tests/unit/test_wide.c
tests_unit_test_widths_SOURCES = tests/unit/test_widths.c
tests_unit_test_window_SOURCES = tests/unit/test_window.c $(made_program)
tests_unit_test_control_SOURCES = tests/unit/test_control.c
tests_unit_test_governor_SOURCES = tests/unit/test_governor.c
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c
tests_unit_test_target_SOURCES = tests/unit/test_target.c
EXTRA_DIST += tests/data/realft2_4_de.uops tests/data/screen

# Fuzz targets. A target is two lines here, a row of tests/fuzz/targets and a folder tests/fuzz/corpus-NAME: run_NAME
# runs that corpus without a fuzzer, so that what was found once is a test for ever. With --enable-fuzzing, `make` links
# fuzz_NAME with libFuzzer, by the rule below.
fuzz_runs =
fuzz_main = tests/fuzz/run_corpus.c
fuzz_runs += tests/fuzz/run_account
tests_fuzz_run_account_SOURCES = tests/fuzz/fuzz_account.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_answers
tests_fuzz_run_answers_SOURCES = tests/fuzz/fuzz_answers.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_batch
tests_fuzz_run_batch_SOURCES = tests/fuzz/fuzz_batch.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_dwarf
tests_fuzz_run_dwarf_SOURCES = tests/fuzz/fuzz_dwarf.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_elf
tests_fuzz_run_elf_SOURCES = tests/fuzz/fuzz_elf.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_embedded
tests_fuzz_run_embedded_SOURCES = tests/fuzz/fuzz_embedded.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_events
tests_fuzz_run_events_SOURCES = tests/fuzz/fuzz_events.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_export
tests_fuzz_run_export_SOURCES = tests/fuzz/fuzz_export.c $(fuzz_main) cli/export/contents.c cli/export/file.c \
	cli/export/loaded.c
fuzz_runs += tests/fuzz/run_host
tests_fuzz_run_host_SOURCES = tests/fuzz/fuzz_host.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_import
tests_fuzz_run_import_SOURCES = tests/fuzz/fuzz_import.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_insn
tests_fuzz_run_insn_SOURCES = tests/fuzz/fuzz_insn.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_jit
tests_fuzz_run_jit_SOURCES = tests/fuzz/fuzz_jit.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_kernel
tests_fuzz_run_kernel_SOURCES = tests/fuzz/fuzz_kernel.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_package
tests_fuzz_run_package_SOURCES = tests/fuzz/fuzz_package.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_perfdata
tests_fuzz_run_perfdata_SOURCES = tests/fuzz/fuzz_perfdata.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_recording
tests_fuzz_run_recording_SOURCES = tests/fuzz/fuzz_recording.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_records
tests_fuzz_run_records_SOURCES = tests/fuzz/fuzz_records.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_routes
tests_fuzz_run_routes_SOURCES = tests/fuzz/fuzz_routes.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_words
tests_fuzz_run_words_SOURCES = tests/fuzz/fuzz_words.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_snapshot
tests_fuzz_run_snapshot_SOURCES = tests/fuzz/fuzz_snapshot.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_trace
tests_fuzz_run_trace_SOURCES = tests/fuzz/fuzz_trace.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_traced
tests_fuzz_run_traced_SOURCES = tests/fuzz/fuzz_traced.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_uarch
tests_fuzz_run_uarch_SOURCES = tests/fuzz/fuzz_uarch.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_uoptable
tests_fuzz_run_uoptable_SOURCES = tests/fuzz/fuzz_uoptable.c $(fuzz_main)
fuzz_runs += tests/fuzz/run_unwind
tests_fuzz_run_unwind_SOURCES = tests/fuzz/fuzz_unwind.c $(fuzz_main)
check_PROGRAMS += $(fuzz_runs)
TESTS += $(fuzz_runs)
EXTRA_DIST += tests/fuzz/foreign_file.h tests/fuzz/limit.h tests/fuzz/measure tests/fuzz/seal.h tests/fuzz/targets
EXTRA_DIST += tests/fuzz/make_perfdata_seeds.py
EXTRA_DIST += $(fuzz_runs:tests/fuzz/run_%=tests/fuzz/corpus-%)
if FUZZING
all-local: $(fuzz_runs:tests/fuzz/run_%=tests/fuzz/fuzz_%)
tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.o $(filter %.a,$(GUS_LAYERS))
	$(AM_V_CCLD)$(LINK) -fsanitize=fuzzer $< $(fuzz_more) $(LDADD) $(LIBS)
# What is of the program and of no library.
tests/fuzz/fuzz_export: fuzz_more = cli/export/contents.o cli/export/file.o cli/export/loaded.o
tests/fuzz/fuzz_export: cli/export/contents.o cli/export/file.o cli/export/loaded.o
endif
# The same as run_NAME, but with the lines of PARSER (sources) counted by gcov: for tests/fuzz/measure, which builds it
# anew each time.
tests/fuzz/cover_%: tests/fuzz/fuzz_%.o tests/fuzz/run_corpus.o $(filter %.a,$(GUS_LAYERS))
	$(AM_V_CCLD)$(COMPILE) -O0 --coverage $(AM_LDFLAGS) $(LDFLAGS) -o $@ \
		tests/fuzz/fuzz_$*.o tests/fuzz/run_corpus.o \
		$(addprefix $(top_srcdir)/,$(PARSER)) $(LDADD) $(LIBS)
# Turns recordings into seeds for all targets that read frames; `test_snapshot seed` makes a recording with a snapshot.
check_PROGRAMS += tests/fuzz/make_seed
tests_fuzz_make_seed_SOURCES = tests/fuzz/make_seed.c



check_PROGRAMS += tests/bench/name-speed
tests_bench_name_speed_SOURCES = tests/bench/name_speed.c
check_PROGRAMS += tests/bench/made-paths
tests_bench_made_paths_SOURCES = tests/bench/made_paths.c
check_PROGRAMS += tests/bench/made-hostile
tests_bench_made_hostile_SOURCES = tests/bench/made_hostile.c tests/unit/made_frames.c
check_PROGRAMS += tests/bench/decode-speed
tests_bench_decode_speed_SOURCES = tests/bench/decode_speed.c
check_PROGRAMS += tests/bench/cache-speed
tests_bench_cache_speed_SOURCES = tests/bench/cache_speed.c
check_PROGRAMS += tests/bench/model-speed
tests_bench_model_speed_SOURCES = tests/bench/model_speed.c
check_PROGRAMS += tests/bench/stream-speed
tests_bench_stream_speed_SOURCES = tests/bench/stream_speed.c

# By name: a folder would bring along what was built in it.
EXTRA_DIST += \
	tests/bench/agree-with-perf \
	tests/bench/attach-leaks \
	tests/bench/big-program \
	tests/bench/kills \
	tests/bench/copied-speed tests/bench/hostile-stacks tests/bench/names-at-speed \
	tests/bench/attach-snapshots \
	tests/bench/annotate-against-perf \
	tests/bench/accuracy tests/bench/accuracy.reasons tests/bench/experiment tests/bench/suite_runs.py \
	tests/bench/scatter.py \
	tests/bench/bench.py \
	tests/bench/blocks-speed \
	tests/bench/callers-cost \
	tests/bench/cost-against-perf \
	tests/bench/embed \
	tests/bench/faults \
	tests/bench/full-disk \
	tests/bench/governor \
	tests/bench/kill-nine \
	tests/bench/off-cpu \
	tests/bench/script-speed \
	tests/bench/short-threads \
	tests/bench/stat-against-perf \
	tests/bench/system-wide \
	tests/bench/programs.py \
	tests/bench/traced-against-cachegrind \
	tests/bench/traced-speed \
	tests/bench/tree-speed \
	tests/bench/accesses-speed \
	tests/bench/truncate-flip \
	tests/bench/workloads

# What the scripts of tests/accuracy ask about arm64.
check_PROGRAMS += tests/accuracy/arm64_rows
tests_accuracy_arm64_rows_SOURCES = tests/accuracy/arm64_rows.c
EXTRA_DIST += tests/accuracy/join-arm64 tests/accuracy/join-x86 tests/accuracy/pmevo-a72

# Tables against figures that were measured by others, and on this machine.
check_PROGRAMS += tests/accuracy/own-silicon tests/accuracy/tables_against_uops
check_PROGRAMS += tests/accuracy/stream-drift tests/accuracy/dynamic-loops
tests_accuracy_stream_drift_SOURCES = tests/accuracy/stream_drift.c
tests_accuracy_dynamic_loops_SOURCES = tests/accuracy/dynamic_loops.c
tests_accuracy_own_silicon_SOURCES = tests/accuracy/own_silicon.c
tests_accuracy_tables_against_uops_SOURCES = tests/accuracy/tables_against_uops.c
EXTRA_DIST += tests/accuracy/perf-stacks
EXTRA_DIST += tests/accuracy/round-trip
EXTRA_DIST += tests/accuracy/blocks tests/accuracy/lanes tests/accuracy/tables-against-uops

# Words of real hardware with their meaning, for what the decoders make of them.
check_PROGRAMS += tests/accuracy/decoded_words
tests_accuracy_decoded_words_SOURCES = tests/accuracy/decoded_words.c
EXTRA_DIST += tests/accuracy/words

# Stages of another simulator's micro-ops, for what our policies make of each cycle.
check_PROGRAMS += tests/accuracy/golden_stages
golden_stages = tests/accuracy/golden/stages.c tests/accuracy/golden/stages.h
tests_accuracy_golden_stages_SOURCES = tests/accuracy/golden_stages.c $(golden_stages)
EXTRA_DIST += tests/accuracy/golden/table tests/accuracy/golden/corrected tests/accuracy/golden/rates-table \
	tests/accuracy/golden/squash-table
EXTRA_DIST += tests/accuracy/golden/intervals tests/accuracy/golden/causal
EXTRA_DIST += tests/accuracy/judged tests/accuracy/kernels/judged.c
EXTRA_DIST += tests/accuracy/gem5/w4.uarch tests/accuracy/gem5/w8.uarch
EXTRA_DIST += tests/accuracy/contention
EXTRA_DIST += tests/accuracy/gem5-cases tests/accuracy/gem5/pairs.c tests/accuracy/gem5/columns.c \
	tests/accuracy/gem5/search.c
EXTRA_DIST += tests/accuracy/golden-stages tests/accuracy/skid tests/accuracy/kernels/skid.c
EXTRA_DIST += tests/accuracy/micro-check

# Recordings of perf, for what the parser of records makes of them.
check_PROGRAMS += tests/accuracy/both_stacks
tests_accuracy_both_stacks_SOURCES = tests/accuracy/both_stacks.c
EXTRA_DIST += tests/accuracy/names tests/accuracy/perf-names tests/bench/import-speed \
	tests/accuracy/perf-branches tests/accuracy/stacks \
	tests/accuracy/perfdata tests/accuracy/perf_texts.py \
	tests/accuracy/stacked/closures.go tests/accuracy/stacked/panics.rs tests/accuracy/stacked/promises.js \
	tests/accuracy/stacked/shapes.cc tests/accuracy/stacked/shapes.js tests/accuracy/stacked/shapes.rs \
	tests/accuracy/stacked/tasks.cc tests/accuracy/stacked/words.go tests/accuracy/stacked/words.py

# Routes beside what was executed.
check_PROGRAMS += tests/accuracy/routes_of_trace
tests_accuracy_routes_of_trace_SOURCES = tests/accuracy/routes_of_trace.c
EXTRA_DIST += tests/accuracy/routes tests/accuracy/kernels/words.c

# The engines against each other.
check_PROGRAMS += tests/accuracy/thief
tests_accuracy_thief_SOURCES = tests/accuracy/thief.c
tests_accuracy_thief_LDADD = $(GUS_LAYERS) -lm
check_PROGRAMS += tests/accuracy/loops
tests_accuracy_loops_SOURCES = tests/accuracy/loops.c tests/accuracy/random_loop.c tests/accuracy/random_loop.h \
	tests/accuracy/turned.c tests/accuracy/turned.h
plain_bound = tests/accuracy/plain_bound.c tests/accuracy/plain_bound.h
check_PROGRAMS += tests/accuracy/below_bound
tests_accuracy_below_bound_SOURCES = tests/accuracy/below_bound.c $(plain_bound) tests/accuracy/random_loop.c \
	tests/accuracy/random_loop.h
EXTRA_DIST += tests/accuracy/bounds tests/accuracy/expected-errors
EXTRA_DIST += tests/accuracy/dynamic tests/accuracy/balanced tests/accuracy/patterns \
	tests/accuracy/kernels/patterns.c tests/accuracy/kernels/doitgen.c tests/accuracy/kernels/heat_3d.c \
	tests/accuracy/kernels/jacobi_1d.c tests/accuracy/kernels/three.c tests/accuracy/kernels/three.h \
	tests/accuracy/table2

# Programs for simulated machines; the script compiles the kernels itself.
EXTRA_DIST += tests/accuracy/programs tests/accuracy/kernels/chance.h tests/accuracy/kernels/graph.h \
	tests/accuracy/kernels/bfs.c tests/accuracy/kernels/btree.c tests/accuracy/kernels/bytecode.c \
	tests/accuracy/kernels/dijkstra.c tests/accuracy/kernels/edits.c tests/accuracy/kernels/fft.c \
	tests/accuracy/kernels/gemm.c tests/accuracy/kernels/hashjoin.c tests/accuracy/kernels/json.c \
	tests/accuracy/kernels/lz.c tests/accuracy/kernels/nbody.c tests/accuracy/kernels/pagerank.c \
	tests/accuracy/kernels/queens.c tests/accuracy/kernels/ray.c tests/accuracy/kernels/regex.c \
	tests/accuracy/kernels/sandpile.c tests/accuracy/kernels/spmv.c tests/accuracy/kernels/stencil.c \
	tests/accuracy/kernels/treap.c \
	tests/accuracy/kernels/digits.bc tests/accuracy/kernels/objects.py tests/accuracy/kernels/objects.rb \
	tests/accuracy/kernels/queries.sql tests/accuracy/kernels/report.jq tests/accuracy/kernels/rows.awk \
	tests/accuracy/kernels/tables.lua tests/accuracy/kernels/text.pl

# Kernels of our own, to be timed and to be traced. How they are compiled is what they are, so neither the user's CFLAGS
# nor sanitizers come in.
check_LIBRARIES = tests/kernels/libo2.a tests/kernels/libo3.a
check_PROGRAMS += tests/kernels/kernel
kernel_cflags = -std=gnu11 $(GUS_WARNINGS) -fno-pie -fno-lto
# Without our libraries, whose code would be compiled by the user's flags.
kernel_timer = tests/kernels/timer.c tests/kernels/timer.h collector/host/clock.c
tests_kernels_kernel_SOURCES = tests/kernels/kernel.c tests/kernels/kernels.h tests/kernels/text.c \
	tests/kernels/structures.c tests/kernels/control.c tests/kernels/numbers.c $(kernel_timer)
tests_kernels_kernel_CFLAGS = $(kernel_cflags)
tests_kernels_kernel_LDFLAGS = -no-pie
tests_kernels_kernel_LDADD = tests/kernels/libo2.a tests/kernels/libo3.a -lm
tests_kernels_libo2_a_SOURCES = tests/kernels/linear.c tests/kernels/stencils.c tests/kernels/kernels.h
tests_kernels_libo2_a_CFLAGS = $(kernel_cflags)
tests_kernels_libo2_a_CPPFLAGS = -DKERNEL_WAY=_o2
tests_kernels_libo3_a_SOURCES = tests/kernels/linear.c tests/kernels/stencils.c tests/kernels/kernels.h
tests_kernels_libo3_a_CFLAGS = $(kernel_cflags)
tests_kernels_libo3_a_CPPFLAGS = -DKERNEL_WAY=_o3
$(tests_kernels_kernel_OBJECTS) $(tests_kernels_libo2_a_OBJECTS): CFLAGS = -g -O2
$(tests_kernels_libo3_a_OBJECTS): CFLAGS = -g -O3
if HOST_X86_64
check_LIBRARIES += tests/kernels/libfma.a
tests_kernels_kernel_SOURCES += tests/kernels/pairs.c
tests_kernels_kernel_LDADD += tests/kernels/libfma.a
tests_kernels_libfma_a_SOURCES = tests/kernels/linear.c tests/kernels/kernels.h
tests_kernels_libfma_a_CFLAGS = $(kernel_cflags) -mavx2 -mfma
tests_kernels_libfma_a_CPPFLAGS = -DKERNEL_WAY=_fma
$(tests_kernels_libfma_a_OBJECTS): CFLAGS = -g -O3
endif
EXTRA_DIST += tests/accuracy/kernel_runs.py tests/accuracy/kernels-time tests/accuracy/whatif
EXTRA_DIST += tests/accuracy/vectorised tests/accuracy/vectorised_loops.c

# Programs that mislead a top-down tree: assembly of x86-64, around it nothing that users' flags could change.
if HOST_X86_64
check_PROGRAMS += tests/accuracy/misled/misled
tests_accuracy_misled_misled_SOURCES = tests/accuracy/misled/main.c tests/accuracy/misled/execution.c \
	tests/accuracy/misled/memory.c tests/accuracy/misled/misled.h $(kernel_timer)
tests_accuracy_misled_misled_CFLAGS = $(kernel_cflags)
tests_accuracy_misled_misled_LDFLAGS = -no-pie
tests_accuracy_misled_misled_LDADD = -lm
$(tests_accuracy_misled_misled_OBJECTS): CFLAGS = -g -O2
endif
EXTRA_DIST += tests/accuracy/misled/check tests/accuracy/misled/on-a-pmu tests/accuracy/misled/misled_runs.py

# The suite: one source compiled in each way into an archive of its own, and the references as one more.
suite_kernels = tests/kernels/suite/products.c tests/kernels/suite/vectors.c tests/kernels/suite/solvers.c \
	tests/kernels/suite/statistics.c tests/kernels/suite/dynamic.c tests/kernels/suite/stencils.c \
	tests/kernels/suite/filters.c tests/kernels/suite/strings.c tests/kernels/suite/structures.c \
	tests/kernels/suite/way.c tests/kernels/suite/suite.h
suite_cflags = $(kernel_cflags) -fno-math-errno $(GUS_KEEP_LOOPS)
suite_archives = tests/kernels/suite/libo2.a tests/kernels/suite/libo2novec.a tests/kernels/suite/libo3.a \
	tests/kernels/suite/libo3unroll.a tests/kernels/suite/libo3fast.a tests/kernels/suite/libreference.a
check_LIBRARIES += $(suite_archives)
check_PROGRAMS += tests/kernels/suite/suite
tests_kernels_suite_suite_SOURCES = tests/kernels/suite/suite.c tests/kernels/suite/suite.h \
	tests/kernels/suite/table.c tests/kernels/suite/table.h tests/kernels/suite/room.c tests/kernels/suite/room.h \
	tests/kernels/suite/factors.c tests/kernels/suite/inputs.c tests/kernels/suite/prepare.h \
	tests/kernels/suite/places.c tests/kernels/suite/places.h tests/kernels/suite/check.c \
	tests/kernels/suite/check.h $(kernel_timer)
tests_kernels_suite_suite_CFLAGS = $(kernel_cflags)
tests_kernels_suite_suite_LDFLAGS = -no-pie
tests_kernels_suite_suite_LDADD = $(suite_archives) -lm
tests_kernels_suite_libo2_a_SOURCES = $(suite_kernels)
tests_kernels_suite_libo2_a_CFLAGS = $(suite_cflags)
tests_kernels_suite_libo2_a_CPPFLAGS = -DKERNEL_WAY=_o2
$(tests_kernels_suite_libo2_a_OBJECTS): CFLAGS = -g -O2
tests_kernels_suite_libo2novec_a_SOURCES = $(suite_kernels)
tests_kernels_suite_libo2novec_a_CFLAGS = $(suite_cflags) -fno-tree-vectorize -fno-tree-slp-vectorize
tests_kernels_suite_libo2novec_a_CPPFLAGS = -DKERNEL_WAY=_o2_novec
$(tests_kernels_suite_libo2novec_a_OBJECTS): CFLAGS = -g -O2
tests_kernels_suite_libo3_a_SOURCES = $(suite_kernels)
tests_kernels_suite_libo3_a_CFLAGS = $(suite_cflags)
tests_kernels_suite_libo3_a_CPPFLAGS = -DKERNEL_WAY=_o3
$(tests_kernels_suite_libo3_a_OBJECTS): CFLAGS = -g -O3
tests_kernels_suite_libo3unroll_a_SOURCES = $(suite_kernels)
tests_kernels_suite_libo3unroll_a_CFLAGS = $(suite_cflags) -funroll-loops
tests_kernels_suite_libo3unroll_a_CPPFLAGS = -DKERNEL_WAY=_o3_unroll
$(tests_kernels_suite_libo3unroll_a_OBJECTS): CFLAGS = -g -O3
tests_kernels_suite_libo3fast_a_SOURCES = $(suite_kernels)
tests_kernels_suite_libo3fast_a_CFLAGS = $(suite_cflags) -ffast-math
tests_kernels_suite_libo3fast_a_CPPFLAGS = -DKERNEL_WAY=_o3_fast
$(tests_kernels_suite_libo3fast_a_OBJECTS): CFLAGS = -g -O3
tests_kernels_suite_libreference_a_SOURCES = tests/kernels/suite/references/products.c \
	tests/kernels/suite/references/vectors.c tests/kernels/suite/references/solvers.c \
	tests/kernels/suite/references/statistics.c tests/kernels/suite/references/dynamic.c \
	tests/kernels/suite/references/stencils.c tests/kernels/suite/references/filters.c \
	tests/kernels/suite/references/strings.c tests/kernels/suite/references/structures.c \
	tests/kernels/suite/way.c tests/kernels/suite/suite.h
tests_kernels_suite_libreference_a_CFLAGS = $(suite_cflags)
tests_kernels_suite_libreference_a_CPPFLAGS = -DKERNEL_WAY=_reference
$(tests_kernels_suite_libreference_a_OBJECTS): CFLAGS = -g -O1
$(tests_kernels_suite_suite_OBJECTS): CFLAGS = -g -O2
if HOST_X86_64
check_LIBRARIES += tests/kernels/suite/libo3avx2.a
tests_kernels_suite_suite_LDADD += tests/kernels/suite/libo3avx2.a
tests_kernels_suite_libo3avx2_a_SOURCES = $(suite_kernels)
tests_kernels_suite_libo3avx2_a_CFLAGS = $(suite_cflags) -mavx2 -mfma
tests_kernels_suite_libo3avx2_a_CPPFLAGS = -DKERNEL_WAY=_o3_avx2
$(tests_kernels_suite_libo3avx2_a_OBJECTS): CFLAGS = -g -O3
endif

# Machines of which the truth is known, and what samplers would have seen of them.
golden_sources = cli/calibrate/sound.c cli/calibrate/sound.h \
	tests/accuracy/golden/attribute.c tests/accuracy/golden/attribute.h \
	tests/accuracy/golden/calibrate.c tests/accuracy/golden/calibrate.h \
	tests/accuracy/golden/causal.c tests/accuracy/golden/causal.h \
	tests/accuracy/golden/counters.c tests/accuracy/golden/counters.h tests/accuracy/golden/draw.h \
	tests/accuracy/golden/slots.c tests/accuracy/golden/slots.h \
	tests/accuracy/golden/host.c tests/accuracy/golden/host.h \
	tests/accuracy/golden/join.c tests/accuracy/golden/join.h \
	tests/accuracy/golden/look.c tests/accuracy/golden/look.h \
	tests/accuracy/golden/machine.c tests/accuracy/golden/machine.h tests/accuracy/golden/passes.h \
	tests/accuracy/golden/code.c tests/accuracy/golden/code.h \
	tests/accuracy/golden/output.c tests/accuracy/golden/output.h \
	tests/accuracy/golden/rates.c tests/accuracy/golden/rates.h \
	tests/accuracy/golden/replay.c tests/accuracy/golden/replay.h \
	tests/accuracy/golden/resonance.c tests/accuracy/golden/resonance.h \
	tests/accuracy/golden/run.c tests/accuracy/golden/run.h \
	tests/accuracy/golden/samplers.c tests/accuracy/golden/samplers.h \
	tests/accuracy/golden/score.c tests/accuracy/golden/score.h \
	tests/accuracy/golden/squash.c tests/accuracy/golden/squash.h \
	tests/accuracy/golden/tiers.c tests/accuracy/golden/tiers.h \
	tests/accuracy/golden/told.c tests/accuracy/golden/told.h \
	tests/accuracy/golden/traits.c tests/accuracy/golden/traits.h \
	tests/accuracy/golden/truth.c tests/accuracy/golden/truth.h \
	tests/accuracy/golden/turn.c tests/accuracy/golden/turn.h \
	tests/accuracy/golden/stages_trace.c tests/accuracy/golden/stages_trace.h \
	tests/accuracy/golden/windows.c tests/accuracy/golden/windows.h
check_PROGRAMS += tests/accuracy/golden/gusprof-golden
tests_accuracy_golden_gusprof_golden_SOURCES = tests/accuracy/golden/gusprof_golden.c $(golden_sources) \
	$(golden_words) $(golden_stages)
tests_accuracy_golden_gusprof_golden_LDADD = $(GUS_LAYERS) -lm
