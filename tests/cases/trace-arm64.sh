#!/bin/bash
# SPDX-License-Identifier: MIT
# The tracer with a program for arm64, whatever this machine is: a known number of instructions, loads,
# stores and branches.
. "$(dirname "$0")/lib.sh"
set -o pipefail
plugin=$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so sums=$GUS_BUILDDIR/tests/cases/trace-sums
command -v qemu-aarch64 >/dev/null || skip "qemu-aarch64 is not installed (package qemu-user)"
[[ -e $plugin ]] || skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"

# 2 + 1000 * 5 + 3 instructions.
cat >program.s <<'EOF'
	.globl	_start
_start:	mov	x1, #1000
	adr	x2, data
loop:	ldp	x3, x4, [x2]
	add	x3, x3, x4
	str	x3, [x2, #16]
	subs	x1, x1, #1
	b.ne	loop
	mov	x8, #94
	mov	x0, #7
	svc	#0
	.section .text.data, "awx"	// adr does not reach far
	.balign	64
data:	.skip	64
EOF
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	aarch64-linux-gnu-gcc -nostdlib -static -Wl,-N -o program program.s 2>cc || { cat cc; exit 1; }
elif command -v clang >/dev/null && command -v ld.lld >/dev/null; then
	clang --target=aarch64-linux-gnu -nostdlib -static -fuse-ld=lld -Wl,-N -o program program.s 2>cc ||
		{ cat cc; exit 1; }
else
	skip "no compiler for arm64 is installed (packages gcc-aarch64-linux-gnu, or clang and lld)"
fi
qemu-aarch64 -plugin "$plugin,out=t" ./program >run 2>&1
status=$?
grep -qiE 'version|api' run && skip "this QEMU does not take plugins of version 1: $(head -n 1 run)"
((status == 7)) || { echo "FAILED: status $status"; cat run; exit 1; }
"$sums" t >out 2>&1
expect "all instructions" '^target aarch64 streams 1 windows 1 blocks [0-9]+ steps [0-9]+ '\
'instructions 5005 accesses 2000 omitted 0 seen 5005 full no$'
expect "a pair is one load of 16 bytes" '^insn [0-9a-f]+ executed 1000 read 1000 16000 '
expect "stores" '^insn [0-9a-f]+ executed 1000 write 1000 8000 '
expect "the branch" '^insn [0-9a-f]+ executed 1000 falls 1 taken 999 open 0$'
"$GUSPROF" dump t >out 2>&1
expect "where it is from" ' mmap .*path "[^"]*/program"'
((failed == 0))
