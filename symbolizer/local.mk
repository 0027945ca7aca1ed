# SPDX-License-Identifier: MIT
noinst_LIBRARIES += symbolizer/libsymbolizer.a
symbolizer_libsymbolizer_a_SOURCES = \
	symbolizer/elf/debugfile.c symbolizer/elf/debugfile.h \
	symbolizer/elf/dwarf.c symbolizer/elf/dwarf.h \
	symbolizer/elf/elffile.c symbolizer/elf/elffile.h \
	symbolizer/elf/elfsyms.c symbolizer/elf/elfsyms.h \
	symbolizer/elf/encoded.c symbolizer/elf/encoded.h \
	symbolizer/elf/frames.c \
	symbolizer/elf/needed.c symbolizer/elf/needed.h \
	symbolizer/elf/mini.c symbolizer/elf/mini.h \
	symbolizer/elf/package.c symbolizer/elf/package.h \
	symbolizer/elf/plt.c \
	symbolizer/elf/split.c symbolizer/elf/split.h \
	symbolizer/elf/vet.c symbolizer/elf/vet.h \
	symbolizer/elf/vet_lists.c \
	symbolizer/insn/arm64.c \
	symbolizer/insn/arm64_forms.inc \
	symbolizer/insn/arm64_shape.h \
	symbolizer/insn/arm64_table.h \
	symbolizer/insn/cache.c \
	symbolizer/insn/insn.c symbolizer/insn/insn.h \
	symbolizer/insn/loops.c symbolizer/insn/loops.h \
	symbolizer/insn/private.h \
	symbolizer/insn/renaming.c symbolizer/insn/renaming.h \
	symbolizer/insn/x86.c symbolizer/insn/x86.h \
	symbolizer/insn/x86_extra.c \
	symbolizer/insn/x86_form.c \
	symbolizer/insn/x86_measure.c \
	symbolizer/insn/x86_renaming.c \
	symbolizer/insn/x86_table.c \
	symbolizer/jit/choose.c symbolizer/jit/choose.h \
	symbolizer/jit/dump.c \
	symbolizer/jit/jit.h \
	symbolizer/jit/map.c \
	symbolizer/kernel/kallsyms.c symbolizer/kernel/kallsyms.h \
	symbolizer/kernel/kcore.c symbolizer/kernel/kcore.h \
	symbolizer/kernel/kernel.c symbolizer/kernel/kernel.h \
	symbolizer/names/answers.c symbolizer/names/answers.h \
	symbolizer/names/demangle.c symbolizer/names/demangle.h \
	symbolizer/names/functions.c symbolizer/names/functions.h \
	symbolizer/names/ranges.c symbolizer/names/ranges.h \
	symbolizer/space/current.c symbolizer/space/current.h \
	symbolizer/space/module.c symbolizer/space/module.h \
	symbolizer/space/space.c symbolizer/space/space.h \
	symbolizer/space/spans.c symbolizer/space/spans.h \
	symbolizer/symbols/embedded.c symbolizer/symbols/embedded.h \
	symbolizer/symbols/embedded_check.c symbolizer/symbols/embedded_check.h \
	symbolizer/symbols/embedding.c symbolizer/symbols/embedding.h \
	symbolizer/symbols/fetch.h \
	symbolizer/symbols/object.c symbolizer/symbols/object.h \
	symbolizer/symbols/recall.c symbolizer/symbols/recall.h \
	symbolizer/symbols/routine.c symbolizer/symbols/routine.h \
	symbolizer/symbols/source.c symbolizer/symbols/source.h \
	symbolizer/symbols/symbols.c symbolizer/symbols/symbols.h \
	symbolizer/unwind/cfi.c symbolizer/unwind/cfi.h \
	symbolizer/unwind/copied.c symbolizer/unwind/copied.h \
	symbolizer/unwind/expression.c symbolizer/unwind/expression.h \
	symbolizer/unwind/files.c symbolizer/unwind/files.h \
	symbolizer/unwind/lasts.c symbolizer/unwind/lasts.h \
	symbolizer/unwind/rule.c symbolizer/unwind/rule.h \
	symbolizer/unwind/step.c \
	symbolizer/unwind/unwind.h \
	symbolizer/unwind/view.h \
	symbolizer/unwind/walk.c symbolizer/unwind/walk.h
if HOST_X86_64
symbolizer_libsymbolizer_a_SOURCES += \
	symbolizer/unwind/libunwind.c symbolizer/unwind/libunwind.h \
	symbolizer/unwind/vetted.c symbolizer/unwind/vetted.h
endif
