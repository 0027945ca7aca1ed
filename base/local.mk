# SPDX-License-Identifier: MIT
noinst_LIBRARIES += base/libbase.a
base_libbase_a_SOURCES = \
	base/alloc.c base/alloc.h \
	base/ascending.h \
	base/cursor.c base/cursor.h \
	base/error.c base/error.h \
	base/foreign_file.c base/foreign_file.h \
	base/heed.h \
	base/helper.c base/helper.h \
	base/hex.c base/hex.h \
	base/identity.c base/identity.h \
	base/index.c base/index.h \
	base/limits.h \
	base/missed.h \
	base/log.c base/log.h \
	base/notes.c base/notes.h \
	base/output.c base/output.h \
	base/output_file.c base/output_file.h \
	base/path.c base/path.h \
	base/piece.c base/piece.h \
	base/store.c base/store.h \
	base/suggest.c base/suggest.h \
	base/text.c base/text.h
