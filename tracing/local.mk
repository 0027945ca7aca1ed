# SPDX-License-Identifier: MIT
# What brings traces about: emulation of commands, and replay of snapshots.
noinst_LIBRARIES += tracing/libtracing.a
tracing_libtracing_a_SOURCES = \
	tracing/emulator/emulate.c tracing/emulator/emulate.h \
	tracing/emulator/find.c tracing/emulator/find.h \
	tracing/emulator/sweeper.c tracing/emulator/sweeper.h \
	tracing/confine/confine.c tracing/confine/confine.h \
	tracing/program/program.c tracing/program/program.h \
	tracing/replay/access.c tracing/replay/access.h \
	tracing/replay/image.c tracing/replay/image.h \
	tracing/replay/image_format.h \
	tracing/replay/replay.c tracing/replay/replay.h \
	tracing/replay/replays.c tracing/replay/replays.h \
	tracing/replay/step.c
tracing_libtracing_a_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"'

# The plugin of QEMU. A shared object, so it has its own position-independent objects of the layers that it needs; and
# no
# sanitizers: the emulator that loads it has none.
if TRACER
tracerdir = $(pkglibdir)
tracer_PROGRAMS = tracing/plugin/gusprof-qemu.so
tracing_plugin_gusprof_qemu_so_SOURCES = \
	base/alloc.c base/cursor.c base/error.c base/helper.c base/index.c base/notes.c base/output.c \
	base/output_file.c base/text.c \
	collector/host/build_id.c collector/host/procfs.c collector/host/text.c collector/kernel/perf.c \
	collector/records/sideband.c \
	proto/column_kinds.c proto/sample.c proto/trace_writer.c proto/writer.c \
	tracing/confine/calls.c tracing/confine/calls.h \
	tracing/plugin/calls.c tracing/plugin/calls.h \
	tracing/plugin/follow.c tracing/plugin/follow.h \
	tracing/program/program.c tracing/program/program.h \
	tracing/plugin/terms.h \
	tracing/plugin/options.c tracing/plugin/options.h \
	tracing/plugin/origins.c tracing/plugin/origins.h \
	tracing/plugin/qemu.c tracing/plugin/qemu_plugin.h \
	tracing/replay/image_format.h \
	tracing/plugin/replaying.c tracing/plugin/replaying.h \
	tracing/plugin/steps.c tracing/plugin/steps.h
nodist_tracing_plugin_gusprof_qemu_so_SOURCES = proto/gusprof.pb-c.c
tracing_plugin_gusprof_qemu_so_CFLAGS = -std=gnu11 $(GUS_WARNINGS) \
	$(PROTOBUF_C_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS) $(SECCOMP_CFLAGS) -fPIC -fvisibility=hidden
tracing_plugin_gusprof_qemu_so_LDFLAGS = -shared
tracing_plugin_gusprof_qemu_so_LDADD = $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(XXHASH_LIBS) $(SECCOMP_LIBS) -lpthread
endif

# What puts a snapshot back into memory: without any library, and at an address where no program is.
replay_load = tracing/replay/load.c tracing/replay/load.h tracing/replay/image_format.h
replay_link = -nostdlib -static -Wl,-Ttext-segment=0x3a0000000000 -Wl,--build-id=none
if HOST_X86_64
replaydir = $(pkglibdir)
replay_PROGRAMS = tracing/replay/gusprof-replay
tracing_replay_gusprof_replay_SOURCES = tracing/replay/loader.c $(replay_load)
tracing_replay_gusprof_replay_CFLAGS = -std=gnu11 $(GUS_WARNINGS) \
	-ffreestanding -fno-stack-protector -fPIE -fcf-protection=none -mgeneral-regs-only \
	-fno-asynchronous-unwind-tables
tracing_replay_gusprof_replay_LDFLAGS = $(replay_link)
tracing_replay_gusprof_replay_LDADD =
endif
if HOST_ARM64
replaydir = $(pkglibdir)
replay_PROGRAMS = tracing/replay/gusprof-replay
tracing_replay_gusprof_replay_SOURCES = tracing/replay/loader_arm64.c $(replay_load)
tracing_replay_gusprof_replay_CFLAGS = -std=gnu11 $(GUS_WARNINGS) \
	-ffreestanding -fno-stack-protector -fPIE -mbranch-protection=none -mgeneral-regs-only $(GUS_KEEP_LOOPS) \
	-fno-asynchronous-unwind-tables
tracing_replay_gusprof_replay_LDFLAGS = $(replay_link)
tracing_replay_gusprof_replay_LDADD =
endif
