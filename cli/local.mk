# SPDX-License-Identifier: MIT
bin_PROGRAMS += gusprof
gusprof_SOURCES = \
	cli/annotate/annotate.c \
	cli/annotate/csv.c \
	cli/annotate/json.c \
	cli/annotate/render.h \
	cli/annotate/stacks.c cli/annotate/stacks.h cli/annotate/text.c \
	cli/annotate/view.c cli/annotate/view.h \
	cli/calibrate/host.c cli/calibrate/host.h \
	cli/calibrate/fits.c cli/calibrate/fits.h \
	cli/calibrate/calibrate.c \
	cli/calibrate/json.c \
	cli/calibrate/recording.c cli/calibrate/recording.h \
	cli/calibrate/sound.c cli/calibrate/sound.h \
	cli/calibrate/text.c \
	cli/calibrate/view.h \
	cli/bandwidth/bandwidth.c cli/bandwidth/bandwidth.h \
	cli/bandwidth/json.c \
	cli/bandwidth/text.c \
	cli/common/absent.c cli/common/absent.h \
	cli/common/calibrated.c cli/common/calibrated.h \
	cli/common/csv.c cli/common/csv.h \
	cli/common/debuginfod.c cli/common/debuginfod.h \
	cli/common/ending.c cli/common/ending.h \
	cli/common/filter.c cli/common/filter.h \
	cli/common/html.c cli/common/html.h \
	cli/common/json.c cli/common/json.h \
	cli/common/calibrations.c cli/common/calibrations.h cli/common/calibrated_key.h \
	cli/common/lines.c cli/common/lines.h \
	cli/common/naming.c cli/common/naming.h \
	cli/common/option_rules.c cli/common/option_rules.h \
	cli/common/option_table.h \
	cli/common/options.c cli/common/options.h \
	cli/common/progress.c cli/common/progress.h \
	cli/common/print.c cli/common/print.h \
	cli/common/recording.c cli/common/recording.h \
	cli/common/wording.c cli/common/wording.h \
	cli/common/topdown.c cli/common/topdown.h \
	cli/common/uarch_load.c cli/common/uarch_load.h \
	cli/compare/compare.c \
	cli/compare/csv.c \
	cli/compare/json.c \
	cli/compare/recordings.c cli/compare/recordings.h \
	cli/compare/text.c \
	cli/compare/view.h \
	cli/compare/words.c cli/compare/words.h \
	cli/explain/counted.c cli/explain/counted.h \
	cli/explain/explain.c \
	cli/explain/gain.c cli/explain/gain.h \
	cli/explain/json.c \
	cli/explain/measured.c cli/explain/measured.h \
	cli/explain/quality.c cli/explain/quality.h \
	cli/explain/pathologies.c cli/explain/pathologies.h \
	cli/explain/regions.c cli/explain/regions.h \
	cli/explain/text.c \
	cli/explain/vectorise.c cli/explain/vectorise.h \
	cli/explain/view.h \
	cli/explain/whatif.c cli/explain/whatif.h \
	cli/doctor.c \
	cli/doctor_plan.c cli/doctor_plan.h cli/need.c cli/need.h \
	cli/doctor_plan_json.c \
	cli/doctor_plan_text.c \
	cli/doctor_text.c cli/doctor_text.h \
	cli/dump.c \
	cli/export/export.c \
	cli/export/file.c cli/export/file.h \
	cli/export/loaded.c cli/export/loaded.h \
	cli/export/contents.c cli/export/contents.h \
	cli/main.c \
	cli/model/causality.c \
	cli/model/command.c \
	cli/model/csv.c \
	cli/model/engines.c \
	cli/model/expected.c cli/model/expected.h \
	cli/model/json.c \
	cli/model/model.c \
	cli/model/output.c cli/model/output.h \
	cli/model/phases.c cli/model/phases.h \
	cli/model/process.c \
	cli/model/rates.c cli/model/rates.h \
	cli/model/table.c cli/model/table.h \
	cli/model/recording.c \
	cli/model/render.h \
	cli/model/resources.c \
	cli/model/text.c \
	cli/model/timeline.c \
	cli/model/traced.c cli/model/traced.h \
	cli/model/traced_json.c \
	cli/model/traced_text.c \
	cli/model/view.h \
	cli/record/beyond.c cli/record/beyond.h \
	cli/record/call_graph.c cli/record/call_graph.h \
	cli/record/carry.c cli/record/carry.h \
	cli/record/callers.c cli/record/callers.h \
	cli/record/embed.c cli/record/embed.h \
	cli/record/jit.c cli/record/jit.h \
	cli/record/events.c cli/record/events.h \
	cli/record/plan.c cli/record/plan.h \
	cli/record/record.c cli/record/record.h \
	cli/record/remembered.c cli/record/remembered.h \
	cli/record/replay.c cli/record/replay.h \
	cli/record/signals.c cli/record/signals.h \
	cli/record/memory.c cli/record/memory.h \
	cli/record/readings.c cli/record/readings.h \
	cli/record/slots.c cli/record/slots.h \
	cli/record/summary.c cli/record/summary.h \
	cli/record/trace.c cli/record/trace.h \
	cli/report/by.c cli/report/by.h \
	cli/report/csv.c \
	cli/report/data.c cli/report/data.h \
	cli/report/flame.c cli/report/flame.h \
	cli/report/flame_file.c cli/report/flame_file.h \
	cli/report/flame_tree.c cli/report/flame_tree.h \
	cli/report/folded.c cli/report/folded.h \
	cli/report/head.c cli/report/head.h \
	cli/report/json.c \
	cli/report/render.h \
	cli/report/report.c \
	cli/report/text.c \
	cli/report/sharing.c cli/report/sharing.h \
	cli/report/slots.c cli/report/slots.h \
	cli/report/sorting.c cli/report/sorting.h \
	cli/report/stats.c cli/report/stats.h \
	cli/report/tree_json.c cli/report/tree_json.h \
	cli/report/tree_text.c cli/report/tree_text.h \
	cli/report/trees.c cli/report/trees.h \
	cli/report/view.c cli/report/view.h \
	cli/script/access.c cli/script/access.h \
	cli/script/columns.c cli/script/columns.h \
	cli/diff/condition.c \
	cli/diff/diff.c cli/diff/diff.h \
	cli/diff/json.c \
	cli/diff/side.c \
	cli/diff/text.c \
	cli/import/import.c \
	cli/script/fields.c cli/script/fields.h \
	cli/script/names.c cli/script/names.h \
	cli/script/samples.c cli/script/samples.h \
	cli/script/script.c \
	cli/screen/cells.c cli/screen/cells.h \
	cli/screen/fitted.c cli/screen/fitted.h \
	cli/screen/pager.c cli/screen/pager.h \
	cli/screen/screen.c cli/screen/screen.h \
	cli/screen/shorten.c cli/screen/shorten.h \
	cli/screen/table.c cli/screen/table.h \
	cli/slots/json.c cli/slots/slots.h \
	cli/slots/parts.c cli/slots/parts.h \
	cli/slots/text.c \
	cli/stat/csv.c \
	cli/stat/json.c \
	cli/stat/memory.c cli/stat/memory.h \
	cli/stat/stat.c \
	cli/stat/text.c \
	cli/stat/view.c cli/stat/view.h \
	cli/stacks/kept.c cli/stacks/kept.h \
	cli/stacks/json.c \
	cli/stacks/stacks.c cli/stacks/stacks.h \
	cli/stacks/bar.c cli/stacks/bar.h \
	cli/stacks/csv.c cli/stacks/text.c \
	cli/uarch/import.c cli/uarch/import.h \
	cli/uarch/json.c cli/uarch/json.h \
	cli/uarch/uarch.c \
	cli/topics.c \
	cli/verbs.h
if !SANITIZED
gusprof_SOURCES += cli/memory.c
endif
gusprof_LDADD = $(GUS_LAYERS) -lpthread -ldl

# What gusprof help tells beside options, as a string of C.
nodist_gusprof_SOURCES = cli/topics.h
gus_made_headers += cli/topics.h
CLEANFILES += cli/topics.h
cli/topics.h: $(top_srcdir)/docs/stacks.md $(top_srcdir)/cli/local.mk
	$(AM_V_GEN)$(MKDIR_P) cli && { \
		echo '/* Made by cli/local.mk of docs/stacks.md. */'; \
		echo '#define GUS_TOPIC_STACKS \'; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/	"&\\n" \\/' $(top_srcdir)/docs/stacks.md; \
		echo '	""'; \
	} >$@.new && mv $@.new $@

# The page of a flame graph as strings of C, and the sums by which its policy knows its style and its script.
nodist_gusprof_SOURCES += cli/report/flame_page.h
gus_made_headers += cli/report/flame_page.h
CLEANFILES += cli/report/flame_page.h
gus_page = $(top_srcdir)/cli/report/flame
gus_page_script = $(gus_page)/tree.js $(gus_page)/view.js
EXTRA_DIST += cli/report/flame/page.html cli/report/flame/style.css cli/report/flame/tree.js cli/report/flame/view.js
cli/report/flame_page.h: $(gus_page)/page.html $(gus_page)/style.css $(gus_page_script) $(top_srcdir)/cli/local.mk
	$(AM_V_GEN)$(MKDIR_P) cli/report && { \
		echo '/* Made by cli/local.mk. */'; \
		text() { \
			echo "#define GUS_PAGE_$$1 \\"; shift; \
			cat "$$@" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/	"&\\n" \\/'; \
			echo '	""'; \
		}; \
		sum() { \
			sum_name=$$1; shift; \
			sum_bytes=`cat "$$@" | sha256sum | cut -c 1-64 | sed 's/../\\\\x&/g'`; \
			echo "#define GUS_PAGE_$${sum_name}_SUM \"`env printf "$$sum_bytes" | base64`\""; \
		}; \
		text BODY $(gus_page)/page.html; text STYLE $(gus_page)/style.css; text SCRIPT $(gus_page_script); \
		sum STYLE $(gus_page)/style.css; sum SCRIPT $(gus_page_script); \
	} >$@.new && mv $@.new $@
