#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof-golden causal: a machine is really changed, and explain is asked what that would bring. A loop of divisions,
# each of which waits for the one before, gains from these and from nothing else, in truth and by what explain says of
# each hardware's recording.
. "$(dirname "$0")/lib.sh"
set -o pipefail
plugin=$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so golden=$GUS_BUILDDIR/tests/accuracy/golden/gusprof-golden
causal=$GUS_SRCDIR/tests/accuracy/golden/causal
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $plugin ]] || skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
[[ $(uname -m) == x86_64 ]] || skip "the program to trace is for x86-64"
command -v python3 >/dev/null || skip "python3 is not installed"
cat >divides.s <<'E2'
	.globl _start
_start:	mov $20000, %ecx
	mov $-1, %rdi
	mov $3, %rsi
1:	mov %rdi, %rax
	xor %edx, %edx
	div %rsi
	lea 5(%rax), %rdi
	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
E2
${CC:-gcc} -nostdlib -static -o divides divides.s >out 2>&1 || skip "no program can be made: $(head -n 1 out)"
mkdir traces tables
qemu-x86_64 -plugin "$plugin,out=traces/divides.trace,quiet=on" ./divides >out 2>&1 ||
	{ grep -qiE 'version|api' out && skip "this QEMU does not take plugins of version 1: $(head -n 1 out)"
	cat out; exit 1; }
"$golden" machine 1 | grep -v '^#' >tables/1.uarch

how="--traces traces --tables tables --seeds 1 --passes 8 --length 60000 --windows 2,20000"
# shellcheck disable=SC2086 # words, here and below
GUSPROF=$GUSPROF "$causal" $how --results made --keep --each >scored 2>err || { problem "it is not scored"; cat err; }
# In truth: of all nodes' machines that of divisions alone takes less than half, as does each that has it among others.
awk -F '\t' '$1 == "region" { region = $2 } $1 == "cycles" && region == "" { took[$2] = $3 }
	END { for (node in took) if (took[node] < took["none"] / 2) print node }' made/divides.1/truth | sort |
	tr '\n' ' ' >out
expect "what really gains" '^backend_bound chains core_bound divider $'
# A recording has samples of two events, and windows.
"$GUSPROF" dump --type trace-total made/divides.1/ibs 2>err | grep -c instructions >out
expect "two windows" '^2$'
"$GUSPROF" script -q -i made/divides.1/pebs -F event 2>err | sort | uniq -c >out
expect "samples of time" 'cycles:ppp'
grep '^| divides.1 ' scored >rows
[[ $(wc -l <rows) -eq 3 ]] || { problem "not all three of them are explained"; cat scored; }
awk -F '|' '$8 !~ /^ first $/ { print }' rows >out
[[ -s out ]] && { problem "what really gains is not what is said to"; cat out; }
# What is there is not made again, and is scored without anything else.
"$causal" --from made --each >again 2>err || { problem "what is kept is not scored"; cat err; }
cmp -s scored again || problem "the same runs are scored otherwise"
"$causal" --from nowhere >out 2>&1 && problem "no runs are scored"
expect "no runs" 'there is no run to score'
"$golden" causal --seed 1 nowhere -o no >out 2>&1 && problem "no trace is run"
expect "no trace" '^gusprof-golden: .*nowhere'
((failed == 0))
