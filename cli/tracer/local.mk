# SPDX-License-Identifier: MIT
# The plugin of QEMU. A shared object, so it has its own position-independent objects of the layers that it needs; and no
# sanitizers: the emulator that loads it has none.
if TRACER
tracerdir = $(pkglibdir)
tracer_PROGRAMS = cli/tracer/gusprof-qemu.so
cli_tracer_gusprof_qemu_so_SOURCES = \
	base/alloc.c base/cursor.c base/error.c base/index.c \
	collector/build_id.c collector/pmu.c collector/procfs.c collector/sideband.c \
	proto/sample.c proto/trace_writer.c proto/writer.c \
	cli/tracer/calls.c cli/tracer/calls.h \
	cli/tracer/options.c cli/tracer/options.h \
	cli/tracer/origins.c cli/tracer/origins.h \
	cli/tracer/qemu.c cli/tracer/qemu_plugin.h \
	cli/tracer/replay_image.h \
	cli/tracer/replaying.c cli/tracer/replaying.h \
	cli/tracer/stream.c cli/tracer/stream.h
nodist_cli_tracer_gusprof_qemu_so_SOURCES = proto/gusprof.pb-c.c
cli_tracer_gusprof_qemu_so_CFLAGS = -std=gnu11 $(GUS_WARNINGS) $(PROTOBUF_C_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS) \
	-fPIC -fvisibility=hidden
cli_tracer_gusprof_qemu_so_LDFLAGS = -shared
cli_tracer_gusprof_qemu_so_LDADD = $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(XXHASH_LIBS) -lpthread
endif

# What puts a snapshot back into memory: without any library, and at an address where no program is.
if HOST_X86_64
replaydir = $(pkglibdir)
replay_PROGRAMS = cli/tracer/gusprof-replay
cli_tracer_gusprof_replay_SOURCES = cli/tracer/replay.c cli/tracer/replay_image.h
cli_tracer_gusprof_replay_CFLAGS = -std=gnu11 $(GUS_WARNINGS) -ffreestanding -fno-stack-protector -fPIE -fcf-protection=none \
	-mgeneral-regs-only -fno-asynchronous-unwind-tables
cli_tracer_gusprof_replay_LDFLAGS = -nostdlib -static -Wl,-Ttext-segment=0x3a0000000000 -Wl,--build-id=none
cli_tracer_gusprof_replay_LDADD =
endif
