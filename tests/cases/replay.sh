#!/bin/bash
# SPDX-License-Identifier: MIT
# Snapshots of running programs, replayed: what QEMU executes is what our own steps execute, the program itself is not
# disturbed, and nothing that it would tell the kernel is done twice.
. "$(dirname "$0")/lib.sh"
set -o pipefail
target=$GUS_BUILDDIR/tests/cases/replay-target replay=$GUS_BUILDDIR/tests/cases/replay-process \
	sums=$GUS_BUILDDIR/tests/cases/trace-sums
[[ -x $target ]] || skip "snapshots are replayed on x86-64 only"
[[ -x $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so ]] ||
	skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
pid=
stop() { [[ -z $pid ]] || { kill -CONT "$pid"; kill -KILL "$pid"; wait "$pid"; } 2>/dev/null; pid=; }
cleanup() { stop; }
chmod 755 "$work"

# Of the process in $pid, which may have been a shell a moment ago.
executes() { [[ $(readlink "/proc/$pid/exe") == "$1" ]]; }
computes() { executes "$target" && has_run "$pid" 2; }
# begin MODE [ROUNDS]: the target, in $pid; it computes when this returns.
begin()
{
	"$target" "$@" >said 2>sum &
	pid=$!
	wait_for computes || problem "$*: the target does not begin"
}

# can MODE: whether this CPU can.
can() { "$target" "$1" 1 >/dev/null 2>&1; }

# What was executed, without where blocks end: the emulator ends them before string instructions, too. Which operand of
# cmpsb is read first is up to who executes it.
executed()
{
	cmpsb=$(objdump -d "$target" | awk '/repz cmpsb/ { sub(":", "", $1); print $1 }')
	"$sums" "$1" 2>&1 | sed -E 's/^target.* (instructions [0-9]+ accesses [0-9]+) .*/\1/; s/ falls .*//' |
		sed -E "/^insn $cmpsb /s/[0-9a-f]+ [0-9a-f]+\$//"
}

begin plain
"$replay" native "$pid" 1 0 100 probe >out 2>&1 ||
	{ grep -qE 'ptrace|not permitted' out && skip "processes cannot be traced here: $(cat out)"; }
grep -q 'how native instructions 1[0-9][0-9] ' out || { problem "a window of 100 instructions"; cat out; }
stop
command -v objdump >/dev/null || skip "objdump is not installed (package binutils)"

if command -v qemu-x86_64 >/dev/null; then
	for mode in plain avx; do
		can $mode || { echo "this CPU cannot execute $mode"; continue; }
		begin $mode
		"$replay" both "$pid" 2 0 4000 t >out 2>&1 || { problem "$mode"; cat out; }
		for n in 0 1; do
			executed t.$n.qemu >a
			executed t.$n.native >b
			grep -qE '^instructions 40[0-9][0-9] accesses [1-9]' a ||
				{ problem "$mode: not a window of 4000"; head -n 3 a; }
			diff a b >ab || { problem "$mode: QEMU < and our own steps > differ"; cat ab; }
		done
		stop
	done

	# Of 1000000 bytes that the target writes, none comes from replays, all of which end at a write.
	# So does its sum.
	"$target" write 1000000 >said 2>sum
	cp sum undisturbed
	begin write 1000000
	"$replay" qemu "$pid" 3 0 1000000 w >out 2>&1 || problem "a target that writes"
	wait "$pid"
	pid=
	[[ $(grep -c 'how qemu .* ended syscall 1 ' out) == 3 ]] ||
		{ problem "a window ends at a system call"; cat out; }
	[[ $(wc -c <said) == 1000000 ]] || problem "the target wrote $(wc -c <said) bytes and not 1000000"
	cmp -s sum undisturbed || problem "the target's sum is another one: $(cat sum), $(cat undisturbed)"

	begin fault
	for try in 1 2 3 4 5; do # one that is met in its handler comes to the call that ends that first
		"$replay" both "$pid" 1 0 1000000 f >out 2>&1 || problem "a target with signals"
		grep -q 'ended syscall 15 ' out || break
	done
	[[ $(grep -c 'ended signal 11 ' out) == 2 ]] || { problem "a window ends at a signal"; cat out; }
	[[ $(sed -nE 's/.* (instructions [0-9]+) .*/\1/p' out | sort -u | wc -l) == 1 ]] ||
		{ problem "QEMU and steps: where the signal is"; cat out; }
	stop

	begin clock
	"$replay" qemu "$pid" 1 0 3000 c >out 2>&1 || problem "a target that reads the clock"
	expect "the clock is read without the kernel, or it is not" 'ended (window 0|syscall 228|syscall 35) '
	stop

	if can evex; then
		begin evex
		"$replay" auto "$pid" 1 0 600 e >out 2>&1 || problem "a target with EVEX"
		expect "what QEMU cannot execute is stepped" \
			'how native instructions 6[0-9][0-9] .* why QEMU cannot execute the instruction at 0x'
		stop
	fi
else
	echo "qemu-x86_64 is not installed (package qemu-user): only our own steps were tested"
fi

if can evex; then
	# A mask of 110101: three pieces of together four elements.
	begin evex
	"$replay" native "$pid" 1 0 600 e >out 2>&1
	gather=$(objdump -d "$target" | awk '/vpgatherdd/ && /k1/ { sub(":", "", $1); print $1 }')
	"$sums" e.0 >out 2>&1
	turns=$(sed -nE "s/^insn $gather executed ([0-9]+) .*/\1/p" out)
	expect "a gather under a mask" "^insn $gather executed $turns read $((4 * turns)) $((16 * turns)) "
	stop
fi

begin write 1000000
"$replay" native "$pid" 1 0 1000000 w >out 2>&1
wait "$pid"
pid=
[[ $(grep -c 'how native .* ended syscall 1 ' out) == 1 && $(wc -c <said) == 1000000 ]] ||
	{ problem "steps do what is the kernel's"; cat out; }

# Targets that are refused, and stay as they were.
begin plain
kill -STOP "$pid"
wait_for in_state "$pid" T
"$replay" auto "$pid" 1 0 100 s >out 2>&1 && problem "a stopped target is replayed"
expect "stopped" '^0 failed 4 .*is stopped .*kill -CONT'
in_state "$pid" T || problem "a stopped target was continued"
stop
"$replay" auto 999999999 1 0 100 s >out 2>&1 && problem "no process"
expect "no such process" '^0 failed 5 .*does not exist'
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	cp "$target" raised && chmod 4755 raised
	setpriv --reuid=65534 --regid=65534 --clear-groups ./raised plain >/dev/null 2>&1 &
	pid=$!
	wait_for executes "$work/raised"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$replay" auto "$pid" 1 0 100 "$work/s" >out 2>&1
	[[ -s out ]] && expect "raised rights" '^0 failed 3 .*run as root'
	in_state "$pid" R || problem "a target with raised rights was touched"
	stop
fi
if as --32 /dev/null -o thirty.o 2>/dev/null &&
	printf '.globl _start\n_start: jmp _start\n' | as --32 -o thirty.o &&
	ld -m elf_i386 -o thirty thirty.o; then
	./thirty 2>/dev/null &
	pid=$!
	thirty_or_gone() { executes "$work/thirty" || [[ ! -e /proc/$pid/exe ]]; } # a kernel may have no 32 bits
	wait_for thirty_or_gone
	if executes "$work/thirty"; then
		"$replay" auto "$pid" 1 0 100 s >out 2>&1
		expect "32 bits" '^0 failed 4 .*32-bit code'
	fi
	stop
fi

# may_sample STATUS: what record ended with, and said in "out", is not that this user may not.
may_sample()
{
	[ "$1" = 125 ] && grep -qE 'permission|refused|perf_event' out || return 0
	echo "skipped: this user may not sample here: $(cat out)"
	return 1
}

# Beside samples, where there can be none: it says why.
sleep 60 &
pid=$!
"$GUSPROF" record -o r --trace auto -p "$pid" -- sleep 0.4 >/dev/null 2>out
may_sample $? && expect "of who sleeps there is none" '\[ 0 windows of what it did: ([0-9]+ tr(y|ies) failed|it ended)'
stop

# Beside samples, in a recording, for who replays them when the process is gone; and by record itself.
if "$GUSPROF" record -o r --keep-memory --trace-window 1500 -- "$target" plain 3000000 >/dev/null 2>out; then
	expect "snapshots are counted" '\[ [1-9][0-9]* snapshots? of what it did: it stood still for [0-9.]+ ms in all'
	n=$(sed -nE 's/.*\[ ([0-9]+) snapshots? .*/\1/p' out)
	"$GUSPROF" dump -i r --type snapshot >out 2>&1
	[[ $(grep -c '^    window 1500$' out) == "$n" ]] || { problem "dump shows $n snapshots"; head -n 30 out; }
	"$GUSPROF" report -i r >/dev/null 2>out || { problem "a report of a recording with snapshots"; cat out; }
	"$replay" r rr >out 2>&1 || problem "snapshots of a recording"
	[[ $(grep -cE ' instructions 15[0-9][0-9] .* ended window ' out) == "$n" ]] ||
		{ problem "all of the $n snapshots are replayed"; cat out; }
	"$GUSPROF" record -o r2 --trace some -- true 2>out && problem "--trace some"
	expect "--trace some" "auto, qemu or off, not 'some'"
	"$GUSPROF" record -o r --trace-window 1500 -- "$target" plain 3000000 >/dev/null 2>out || problem "record"
	expect "windows are counted" '\[ [1-9][0-9]* windows? of what it did, of up to 1500 instructions: '
	n=$(sed -nE 's/.*\[ ([0-9]+) windows? .*/\1/p' out)
	"$GUSPROF" dump -i r >out 2>&1
	[[ $(grep -cE ' trace: ' out) == "$n" && $(grep -cE ' trace-total: ' out) == "$n" ]] ||
		{ problem "dump shows $n traces"; grep ' trace' out; }
	grep -q ' snapshot' out && problem "a recording keeps memory although nobody asked"
	"$GUSPROF" model -i r >out 2>&1 || problem "model of windows"
	expect "all windows are modelled" "^  $n windows? of up to "
	# Of an emulator that takes all the time that there is for each there are windows all the same: by steps.
	mkdir -p slow
	echo 'int pause(void); int main(void) { return pause(); }' >slow.c
	if ${CC:-cc} -static -o slow/qemu-x86_64 slow.c 2>/dev/null; then
		PATH=$PWD/slow:$PATH "$GUSPROF" record -v -o r --trace-window 1500 -- "$target" plain 3000000 \
			>/dev/null 2>out || problem "record with a slow emulator"
		expect "windows that were put off" 'a window is put off, to be stepped: .* did not end within 1 s'
		expect "are stepped" '\[ [1-9][0-9]* windows? of what it did, of up to 1500 instructions: '
	fi
else
	echo "recording does not work here, so snapshots in recordings were not tested: $(head -n 1 out)"
fi
((failed == 0))
