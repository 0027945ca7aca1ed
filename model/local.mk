# SPDX-License-Identifier: MIT
noinst_LIBRARIES += model/libmodel.a
model_libmodel_a_SOURCES = \
	model/agreement.c model/agreement.h \
	model/access.c model/access.h \
	model/bounds.c model/bounds.h \
	model/branch.c model/branch.h \
	model/builtin.c model/builtin.h \
	model/cache.c model/cache.h \
	model/core.c model/core.h model/core_private.h \
	model/core_issue.c \
	model/core_memory.c \
	model/core_state.c \
	model/cpus.c model/cpus.h \
	model/frontend.c model/frontend.h \
	model/functional.c model/functional.h \
	model/known.c model/known.h \
	model/oracle.c model/oracle.h \
	model/phases.c model/phases.h \
	model/growing.c model/growing.h \
	model/program.c model/program.h model/program_private.h \
	model/program_latency.c \
	model/rates.c model/rates.h \
	model/values.c model/values.h \
	model/carried.c model/carried.h \
	model/causality.c model/causality.h \
	model/saturation.c model/saturation.h \
	model/sensitivity.c model/sensitivity.h \
	model/stream_resolve.c \
	model/sets.c model/sets.h \
	model/stream.c model/stream.h model/stream_prepare.c model/stream_private.h \
	model/stream_kernel.c model/stream_kernel.h \
	model/stream_reference.c \
	model/uarch.c model/uarch.h \
	model/uarch_figures.c \
	model/uarch_parse.c model/uarch_parse.h \
	model/uarch_private.h \
	model/uarch_settle.c \
	model/uarch_statements.c \
	model/uarch_words.c \
	model/uops.c model/uops.h \
	model/uoptable.c model/uoptable.h \
	model/variant.c model/variant.h
nodist_model_libmodel_a_SOURCES = model/builtin_list.h
BUILT_SOURCES += model/builtin_list.h
CLEANFILES += model/builtin_list.h
EXTRA_DIST += model/uarch

# The list of what is put into the program. It has the sizes and sums of the files as a comment, is made anew each time
# and changes only if they did: so a new or changed table rebuilds the one object that holds them.
model/builtin_list.h: FORCE
	$(AM_V_GEN)$(MKDIR_P) model && { \
		echo '/* Made by model/local.mk. */'; \
		for f in $(top_srcdir)/model/uarch/*.uarch $(top_srcdir)/model/uarch/*.overlay $(top_srcdir)/model/uarch/*.forms; do \
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
model/builtin.$(OBJEXT): model/builtin_list.h
FORCE:
.PHONY: FORCE
