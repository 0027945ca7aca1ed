# SPDX-License-Identifier: MIT
# Checks of the sources themselves, and of what is said about the program against what it does.
lint_tests = \
	tests/lint/circles \
	tests/lint/dead-functions \
	tests/lint/foreign-text \
	tests/lint/format-doc \
	tests/lint/include-arrows \
	tests/lint/line-length \
	tests/lint/man-format \
	tests/lint/man-vs-help \
	tests/lint/names \
	tests/lint/no-machine-paths \
	tests/lint/overlays \
	tests/lint/packages \
	tests/lint/plugin-man \
	tests/lint/programs \
	tests/lint/spdx \
	tests/lint/syntax
# The sources are the same in each build, so these run in the plain one.
if !SANITIZED
TESTS += $(lint_tests)
endif
dist_check_SCRIPTS += $(lint_tests)
EXTRA_DIST += tests/lint/lib.sh tests/lint/sources.py
