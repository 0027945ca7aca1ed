# SPDX-License-Identifier: MIT
noinst_LIBRARIES += attribution/libattribution.a
attribution_libattribution_a_SOURCES = \
	attribution/accounts/account.c attribution/accounts/account.h \
	attribution/accounts/cause.c attribution/accounts/cause.h \
	attribution/accounts/clues.c attribution/accounts/clues.h \
	attribution/accounts/kept.c attribution/accounts/kept.h \
	attribution/accounts/sampler.c attribution/accounts/sampler.h \
	attribution/accounts/sum.c attribution/accounts/sum.h \
	attribution/compared/compared.c attribution/compared/compared.h \
	attribution/compared/figure.c attribution/compared/figure.h \
	attribution/compared/forms.c attribution/compared/forms.h \
	attribution/compared/knobs.c attribution/compared/knobs.h \
	attribution/compared/measured.c attribution/compared/measured.h \
	attribution/compared/residuals.c attribution/compared/residuals.h \
	attribution/compared/trust.c attribution/compared/trust.h \
	attribution/compared/variants.c attribution/compared/variants.h \
	attribution/compared/weak.c attribution/compared/weak.h \
	attribution/differences/differences.c attribution/differences/differences.h \
	attribution/memory/sharing.c attribution/memory/sharing.h \
	attribution/observed/kinds.c attribution/observed/kinds.h \
	attribution/observed/observed.c attribution/observed/observed.h \
	attribution/observed/ranges.c attribution/observed/ranges.h \
	attribution/profile/annotation.c attribution/profile/annotation.h \
	attribution/profile/by.c attribution/profile/by.h \
	attribution/profile/calls.c attribution/profile/calls.h \
	attribution/profile/frames.c attribution/profile/frames.h \
	attribution/profile/cells.h \
	attribution/profile/latencies.c attribution/profile/latencies.h \
	attribution/profile/lives.c attribution/profile/lives.h \
	attribution/profile/perfmaps.c attribution/profile/perfmaps.h \
	attribution/profile/nests.c attribution/profile/nests.h \
	attribution/profile/order.c attribution/profile/order.h \
	attribution/profile/profile.c attribution/profile/profile.h \
	attribution/profile/rows.c attribution/profile/rows.h \
	attribution/profile/selection.c attribution/profile/selection.h \
	attribution/profile/touch.c attribution/profile/touch.h \
	attribution/profile/tree.c attribution/profile/tree.h \
	attribution/profile/units.c attribution/profile/units.h \
	attribution/profile/unwinder.c attribution/profile/unwinder.h \
	attribution/profile/wall.c attribution/profile/wall.h \
	attribution/proportional/groups.c attribution/proportional/groups.h \
	attribution/proportional/met.c attribution/proportional/met.h \
	attribution/proportional/prior.c attribution/proportional/prior.h \
	attribution/proportional/replicates.c attribution/proportional/replicates.h \
	attribution/proportional/seen.c attribution/proportional/seen.h \
	attribution/proportional/solution.c attribution/proportional/solution.h \
	attribution/proportional/spread.c attribution/proportional/spread.h \
	attribution/proportional/waits.c attribution/proportional/waits.h \
	attribution/routes/cutter.c \
	attribution/routes/private.h \
	attribution/routes/regions.c \
	attribution/routes/routes.c attribution/routes/routes.h \
	attribution/routes/samples.c \
	attribution/routes/stacks.c \
	attribution/routes/trace.c attribution/routes/trace.h \
	attribution/routes/walk.c attribution/routes/walk.h \
	attribution/stacks/component.c attribution/stacks/component.h \
	attribution/stacks/evidence.c attribution/stacks/evidence.h \
	attribution/stacks/stack.c attribution/stacks/stack.h \
	attribution/statistics/interval.c attribution/statistics/interval.h \
	attribution/statistics/ridge.c attribution/statistics/ridge.h \
	attribution/statistics/quantile.c attribution/statistics/quantile.h \
	attribution/statistics/rounding.c attribution/statistics/rounding.h \
	attribution/statistics/series.c attribution/statistics/series.h \
	attribution/topdown/builtin.c attribution/topdown/builtin.h \
	attribution/topdown/cpu.c attribution/topdown/cpu.h \
	attribution/topdown/encoding.c attribution/topdown/encoding.h \
	attribution/topdown/formula.c attribution/topdown/formula.h \
	attribution/topdown/group.c attribution/topdown/group.h \
	attribution/topdown/kinds.c attribution/topdown/kinds.h \
	attribution/topdown/parse.c attribution/topdown/parse.h \
	attribution/topdown/parse_machine.c \
	attribution/topdown/parse_words.c \
	attribution/topdown/readings.c attribution/topdown/readings.h \
	attribution/topdown/recorded.c attribution/topdown/recorded.h \
	attribution/topdown/sampled.c attribution/topdown/sampled.h \
	attribution/topdown/sums.c attribution/topdown/sums.h \
	attribution/topdown/table.c attribution/topdown/table.h \
	attribution/topdown/tree.c attribution/topdown/tree.h \
	attribution/traffic/traffic.c attribution/traffic/traffic.h \
	attribution/traced/code.c \
	attribution/traced/coverage.c attribution/traced/coverage.h \
	attribution/traced/engines.c \
	attribution/traced/estimate.c attribution/traced/estimate.h \
	attribution/traced/finder.c attribution/traced/finder.h \
	attribution/traced/lines.c attribution/traced/lines.h \
	attribution/traced/match.c attribution/traced/match.h \
	attribution/traced/told.c attribution/traced/told.h \
	attribution/traced/knobs.c \
	attribution/traced/match.c attribution/traced/match.h \
	attribution/traced/passages.c attribution/traced/passages.h \
	attribution/traced/private.h \
	attribution/traced/rates.c attribution/traced/rates.h \
	attribution/traced/contended.c attribution/traced/contended.h \
	attribution/traced/regions.c attribution/traced/regions.h \
	attribution/traced/source.c \
	attribution/traced/pics.c attribution/traced/pics.h \
	attribution/traced/stretches.c attribution/traced/stretches.h \
	attribution/traced/thread.c \
	attribution/traced/traced.c attribution/traced/traced.h \
	attribution/verdicts/detect_chains.c \
	attribution/verdicts/detect_control.c \
	attribution/verdicts/detect_execution.c \
	attribution/verdicts/detect_memory.c \
	attribution/verdicts/detect_places.c \
	attribution/verdicts/detect_threads.c \
	attribution/verdicts/detect_vectors.c \
	attribution/verdicts/facts.c attribution/verdicts/facts.h \
	attribution/verdicts/heard.c attribution/verdicts/heard.h \
	attribution/verdicts/measured.c attribution/verdicts/measured.h \
	attribution/verdicts/nodes.c attribution/verdicts/nodes.h \
	attribution/verdicts/pathologies.c attribution/verdicts/pathologies.h \
	attribution/verdicts/pathology.c attribution/verdicts/pathology.h \
	attribution/verdicts/residuals.c attribution/verdicts/residuals.h \
	attribution/verdicts/slots.c attribution/verdicts/slots.h \
	attribution/verdicts/threads.c attribution/verdicts/threads.h \
	attribution/verdicts/verdict.c attribution/verdicts/verdict.h \
	attribution/whatif/contention.c attribution/whatif/contention.h \
	attribution/whatif/mockup.c attribution/whatif/mockup.h \
	attribution/whatif/packing.c attribution/whatif/packing.h \
	attribution/whatif/packs.c attribution/whatif/packs.h \
	attribution/whatif/squash.c attribution/whatif/squash.h \
	attribution/whatif/turning.c attribution/whatif/turning.h \
	attribution/whatif/vectorised.c attribution/whatif/vectorised.h \
	attribution/whatif/vex.c attribution/whatif/vex.h
nodist_attribution_libattribution_a_SOURCES = attribution/topdown/builtin_list.h
gus_made_headers += attribution/topdown/builtin_list.h
CLEANFILES += attribution/topdown/builtin_list.h
EXTRA_DIST += attribution/topdown/tables

# The tables of the top-down method that are put into the program; as model/local.mk has it for its own.
attribution/topdown/builtin_list.h: FORCE
	$(AM_V_GEN)$(MKDIR_P) attribution/topdown && { \
		echo '/* Made by attribution/local.mk. */'; \
		for f in $(top_srcdir)/attribution/topdown/tables/*.topdown; do \
			n=$${f##*/}; n=$${n%.topdown}; s=`echo "$$n" | sed 's/[^A-Za-z0-9]/_/g'`; \
			p="`cd $(top_srcdir) && pwd`/attribution/topdown/tables"; \
			echo "TEXT($$s, \"$$n\", \"$$p/$$n.topdown\")" \
				"/* `cksum <"$$f"` */"; \
		done | LC_ALL=C sort; \
	} >$@.new; if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi
