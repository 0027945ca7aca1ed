# SPDX-License-Identifier: MIT
bin_PROGRAMS += gusprof
gusprof_SOURCES = \
	cli/annotate.c \
	cli/annotate_csv.c \
	cli/annotate_json.c \
	cli/annotate_render.h \
	cli/annotate_text.c \
	cli/doctor.c \
	cli/dump.c \
	cli/emulate.c cli/emulate.h \
	cli/ending.c cli/ending.h \
	cli/filter.c cli/filter.h \
	cli/hex.c cli/hex.h \
	cli/json.c cli/json.h \
	cli/main.c \
	cli/model.c \
	cli/model_batch.c cli/model_batch.h \
	cli/model_csv.c \
	cli/model_elf.c cli/model_elf.h \
	cli/model_json.c \
	cli/model_phases.c cli/model_phases.h \
	cli/model_process.c \
	cli/model_render.h \
	cli/model_resources.c \
	cli/model_run.c cli/model_run.h \
	cli/model_text.c \
	cli/model_causality.c \
	cli/model_timeline.c \
	cli/model_recording.c \
	cli/model_traced.c cli/model_traced.h \
	cli/model_traced_json.c \
	cli/model_traced_text.c \
	cli/options.c cli/options.h \
	cli/print.c cli/print.h \
	cli/record.c \
	cli/record_trace.c cli/record_trace.h \
	cli/render.h \
	cli/render_csv.c \
	cli/render_json.c \
	cli/render_text.c \
	cli/replay.c cli/replay.h \
	cli/replay_access.c cli/replay_access.h \
	cli/replay_image.c cli/replay_image.h \
	cli/replay_step.c \
	cli/report.c \
	cli/source.c cli/source.h \
	cli/stat.c \
	cli/stat_csv.c \
	cli/stat_json.c \
	cli/stat_text.c \
	cli/stat_view.c cli/stat_view.h \
	cli/uarch.c \
	cli/uarch_import.c cli/uarch_import.h \
	cli/uarch_load.c cli/uarch_load.h \
	cli/verbs.h
gusprof_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"'
gusprof_LDADD = $(GUS_LAYERS) -lpthread
