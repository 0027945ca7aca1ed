# SPDX-License-Identifier: MIT
noinst_LIBRARIES += model/libmodel.a
model_libmodel_a_SOURCES = \
	model/analysis/agreement.c model/analysis/agreement.h \
	model/analysis/batch.c model/analysis/batch.h \
	model/analysis/bounds.c model/analysis/bounds.h \
	model/analysis/causality.c model/analysis/causality.h \
	model/analysis/excerpt.c model/analysis/excerpt.h \
	model/analysis/dataflow.c model/analysis/dataflow.h \
	model/analysis/functional.c model/analysis/functional.h \
	model/analysis/modelled.c model/analysis/modelled.h \
	model/analysis/rerun.c \
	model/analysis/saturation.c model/analysis/saturation.h \
	model/analysis/sensitivity.c model/analysis/sensitivity.h \
	model/analysis/variant.c model/analysis/variant.h \
	model/calibration/body.c model/calibration/body.h \
	model/calibration/breaks.c model/calibration/breaks.h \
	model/calibration/bursts.c model/calibration/bursts.h \
	model/calibration/caches.c \
	model/calibration/chase.c model/calibration/chase.h \
	model/calibration/chase_run.c \
	model/calibration/emit.c model/calibration/emit.h model/calibration/emit_private.h \
	model/calibration/emit_arm64.c model/calibration/emit_x86.c \
	model/calibration/fit.h model/calibration/host.h \
	model/calibration/fitted.c model/calibration/fitted.h \
	model/calibration/flight.c \
	model/calibration/forms.c model/calibration/forms_private.h \
	model/calibration/forms_explain.c model/calibration/forms_ports.c model/calibration/forms_time.c \
	model/calibration/front.c \
	model/calibration/jam.c model/calibration/jam.h \
	model/calibration/knee.c model/calibration/knee.h \
	model/calibration/known_forms.c model/calibration/known_forms.h \
	model/calibration/links.c model/calibration/links.h \
	model/calibration/loads.c model/calibration/loads.h \
	model/calibration/memory.c model/calibration/memory.h \
	model/calibration/micro.c model/calibration/micro.h \
	model/calibration/mispredict.c model/calibration/mispredict.h \
	model/calibration/penalties.c \
	model/calibration/pool.c model/calibration/pool.h \
	model/calibration/prefetch.c \
	model/calibration/replica.c model/calibration/replica.h \
	model/calibration/round.c model/calibration/round.h \
	model/calibration/shapes.c model/calibration/shapes.h \
	model/calibration/stairs.c model/calibration/stairs.h \
	model/calibration/streams.c \
	model/calibration/subject.c model/calibration/subject.h \
	model/calibration/tlb.c \
	model/calibration/window.c \
	model/calibration/written.c model/calibration/written.h \
	model/code/forwarding.c model/code/forwarding.h \
	model/code/decode_group.h model/code/prediction.h \
	model/code/growing.c model/code/growing.h \
	model/code/leaving.h \
	model/code/uop_lines.c model/code/uop_lines.h \
	model/code/program.c model/code/program.h \
	model/code/program_fusion.c \
	model/code/program_high.c \
	model/code/program_idioms.c \
	model/code/program_chase.c \
	model/code/program_latency.c \
	model/code/program_pieces.c \
	model/code/program_private.h \
	model/code/program_registers.c \
	model/code/program_rules.c \
	model/code/program_stack.c \
	model/code/program_uops.c \
	model/code/uoptable.c model/code/uoptable.h \
	model/code/values.c model/code/values.h \
	model/core/asked.c \
	model/core/core.c model/core/core.h \
	model/core/dispatch.c \
	model/core/engine.c \
	model/core/fed.c model/core/fed.h \
	model/core/frontend.c model/core/frontend.h \
	model/core/issue.c \
	model/core/lines.c \
	model/core/memory.c \
	model/core/order.c \
	model/core/private.h \
	model/core/pics.c model/core/pics.h \
	model/core/state.c \
	model/core/storesets.c model/core/storesets.h \
	model/core/wait.c \
	model/machine/config.c model/machine/config.h \
	model/machine/hooks.h \
	model/machine/limits.c model/machine/limits.h \
	model/machine/options.c model/machine/options.h model/machine/steps.h \
	model/oracles/branch.c model/oracles/branch.h \
	model/oracles/cache.c model/oracles/cache.h \
	model/oracles/oracle.c model/oracles/oracle.h \
	model/oracles/code_fetch.c model/oracles/code_fetch.h \
	model/oracles/rates.c model/oracles/rates.h \
	model/oracles/sets.c model/oracles/sets.h \
	model/stream/kernel.c model/stream/kernel.h \
	model/stream/prepare.c \
	model/stream/private.h \
	model/stream/reference.c \
	model/stream/resolve.c \
	model/stream/stream.c model/stream/stream.h \
	model/stream/types.h \
	model/tables/builtin.c model/tables/builtin.h \
	model/tables/cpus.c model/tables/cpus.h \
	model/tables/expected.c model/tables/expected.h \
	model/tables/policies.h \
	model/tables/uarch.c model/tables/uarch.h \
	model/tables/uarch_figures.c model/tables/uarch_fits.c \
	model/tables/uarch_parse.c model/tables/uarch_parse.h \
	model/tables/uarch_private.h \
	model/tables/uarch_set.c \
	model/tables/uarch_settle.c \
	model/tables/uarch_statements.c \
	model/tables/uarch_words.c \
	model/tables/uops.c model/tables/uops.h \
	model/watch/access.c model/watch/access.h \
	model/watch/carried.c model/watch/carried.h \
	model/watch/known.c model/watch/known.h \
	model/watch/phases.c model/watch/phases.h
nodist_model_libmodel_a_SOURCES = model/tables/builtin_list.h
gus_made_headers += model/tables/builtin_list.h
CLEANFILES += model/tables/builtin_list.h
EXTRA_DIST += model/uarch

# The list of what is put into the program. It has the sizes and sums of the files as a comment, is made anew each time
# and changes only if they did: so a new or changed table rebuilds the one object that holds them.
model/tables/builtin_list.h: FORCE
	$(AM_V_GEN)$(MKDIR_P) model/tables && { \
		echo '/* Made by model/local.mk. */'; \
		for f in $(top_srcdir)/model/uarch/*.uarch $(top_srcdir)/model/uarch/*.overlay \
			$(top_srcdir)/model/uarch/*.forms $(top_srcdir)/model/uarch/*.errors; do \
			test -f "$$f" || continue; \
			n=$${f##*/}; s=`echo "$$n" | sed 's/[^A-Za-z0-9]/_/g'`; \
			echo "TEXT($$s, \"$$n\", \"`cd $(top_srcdir) && pwd`/model/uarch/$$n\") /* `cksum <"$$f"` */"; \
		done | LC_ALL=C sort; \
		echo '#ifdef TABLE'; \
		for f in $(top_srcdir)/model/uarch/*.uarch; do \
			test -f "$$f" || continue; \
			n=$${f##*/}; echo "TABLE(\"$${n%.uarch}\")"; \
		done | LC_ALL=C sort; \
		echo '#endif'; \
	} >$@.new; if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi
FORCE:
.PHONY: FORCE
