# SPDX-License-Identifier: MIT
bin_PROGRAMS += gusprof
gusprof_SOURCES = \
	cli/dump.c \
	cli/main.c \
	cli/options.c cli/options.h \
	cli/record.c \
	cli/render.h \
	cli/render_csv.c \
	cli/render_json.c \
	cli/render_text.c \
	cli/report.c \
	cli/uarch.c \
	cli/uarch_import.c cli/uarch_import.h \
	cli/uarch_load.c cli/uarch_load.h \
	cli/verbs.h
gusprof_LDADD = $(GUS_LAYERS)
