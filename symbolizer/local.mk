# SPDX-License-Identifier: MIT
noinst_LIBRARIES += symbolizer/libsymbolizer.a
symbolizer_libsymbolizer_a_SOURCES = \
	symbolizer/debugfile.c symbolizer/debugfile.h \
	symbolizer/demangle.c symbolizer/demangle.h \
	symbolizer/dwarf.c symbolizer/dwarf.h \
	symbolizer/elffile.c symbolizer/elffile.h \
	symbolizer/elfsyms.c symbolizer/elfsyms.h \
	symbolizer/frames.c \
	symbolizer/functions.c symbolizer/functions.h \
	symbolizer/insn.c symbolizer/insn.h symbolizer/insn_arch.h \
	symbolizer/arm64_forms.inc \
	symbolizer/insn_arm64.c symbolizer/insn_arm64_shape.h symbolizer/insn_arm64_table.h \
	symbolizer/insn_cache.c \
	symbolizer/insn_x86.c symbolizer/insn_x86.h \
	symbolizer/insn_x86_extra.c \
	symbolizer/insn_x86_form.c \
	symbolizer/insn_x86_measure.c \
	symbolizer/insn_x86_table.c \
	symbolizer/kallsyms.c symbolizer/kallsyms.h \
	symbolizer/kcore.c symbolizer/kcore.h \
	symbolizer/kernel.c symbolizer/kernel.h \
	symbolizer/loops.c symbolizer/loops.h \
	symbolizer/object.c symbolizer/object.h \
	symbolizer/plt.c \
	symbolizer/ranges.c symbolizer/ranges.h \
	symbolizer/space.c symbolizer/space.h \
	symbolizer/spans.c symbolizer/spans.h \
	symbolizer/symbols.c symbolizer/symbols.h
