# SPDX-License-Identifier: MIT
noinst_LIBRARIES += proto/libproto.a
proto_libproto_a_SOURCES = \
	proto/column_kinds.c \
	proto/columns.h \
	proto/columns_decode.c \
	proto/container.h \
	proto/data_source.c proto/data_source.h \
	proto/psv.c proto/psv.h \
	proto/reader.c proto/reader.h \
	proto/sample.c proto/sample.h \
	proto/skid.c proto/skid.h \
	proto/snapshot.h \
	proto/snapshot_reader.c \
	proto/snapshot_writer.c \
	proto/trace.h \
	proto/trace_reader.c \
	proto/trace_writer.c \
	proto/traffic.h \
	proto/varint.h \
	proto/writer.c proto/writer.h
nodist_proto_libproto_a_SOURCES = proto/gusprof.pb-c.c proto/gusprof.pb-c.h
gus_made_headers += proto/gusprof.pb-c.h
CLEANFILES += proto/gusprof.pb-c.c proto/gusprof.pb-c.h
EXTRA_DIST += proto/gusprof.proto proto/FORMAT.md

proto/gusprof.pb-c.c: proto/gusprof.pb-c.h
proto/gusprof.pb-c.h: proto/gusprof.proto
	$(AM_V_GEN)$(MKDIR_P) proto && \
		$(PROTOC_C) -I$(top_srcdir)/proto --c_out=$(top_builddir)/proto $(top_srcdir)/proto/gusprof.proto
