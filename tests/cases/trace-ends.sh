#!/bin/bash
# SPDX-License-Identifier: MIT
# The tracer under QEMU: what a trace says of where its code is from and of what it leaves out, and what remains of it
# however the program ends.
. "$(dirname "$0")/lib.sh"
set -o pipefail
plugin=$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so cases=$GUS_BUILDDIR/tests/cases
deaths=$cases/trace-deaths target=$cases/trace-target threads=$cases/trace-threads sums=$cases/trace-sums
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $plugin ]] || skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
[[ -x $deaths ]] || skip "the programs to trace are for x86-64"
command -v nm >/dev/null || skip "nm is not installed (package binutils)"
ulimit -c 0
qemu-x86_64 -plugin "$plugin,out=probe" "$target" >out 2>&1 ||
	{ grep -qiE 'version|api' out && skip "this QEMU does not take plugins of version 1: $(head -n 1 out)"
	cat out; exit 1; }

# trace OPTIONS PROGRAM [ARGUMENT...]: its sums in "out", what it said in "run", its frames in "frames";
# returns its status.
trace()
{
	local options=$1 status
	shift
	qemu-x86_64 -plugin "$plugin,out=t,$options" "$@" >run 2>&1
	status=$?
	"$sums" t >out 2>&1
	"$GUSPROF" dump t >frames 2>&1
	return $status
}

work=0x$(nm "$deaths" | awk '$3 == "work" { print $1 }')
only=$(printf 'range=%x-%x' $((work)) $((work + 6)))

# 100,000 turns of two instructions, and a return: 200,001. Frames double from 256 to 32,768 steps, which is 65,280, and
# one more of
# those: what dies without a word leaves 98,048 of its 100,001 steps.
trace "$only" "$deaths" _exit
[[ $? == 5 ]] || problem "the status of _exit is lost"
expect "_exit is an end like any other" ' instructions 200001 '
trace "$only" "$deaths" fault
[[ $? == 139 ]] || problem "no SIGSEGV of a program that faults"
expect "a fault cuts, but for later versions of QEMU" 'was cut: .*; 196096 instructions before$| instructions 200001 '
trace "$only" "$deaths" abort
[[ $? == 134 ]] || problem "no SIGABRT of a program that aborts"
expect "and an abort, and all is there" 'was cut: .*; 200001 instructions before$| instructions 200001 '

# Killed in the middle, once it has written 10 KB; into a file and into a pipe.
qemu-x86_64 -plugin "$plugin,out=k,plain=on,max=1000000000,$only" "$deaths" on >run 2>&1 &
pid=$!
mkfifo pipe
tee read <pipe | "$sums" - >piped 2>&1 &
reader=$!
qemu-x86_64 -plugin "$plugin,fd=9,plain=on,$only" "$deaths" on 9>pipe >run 2>&1 &
other=$!
for ((i = 0; i < 600; i++)); do
	(($(stat -c %s k 2>/dev/null || echo 0) > 10000 && $(stat -c %s read 2>/dev/null || echo 0) > 10000)) && break
	sleep 0.05
done
kill -9 $pid $other
wait $pid $other $reader 2>/dev/null
"$sums" k >out 2>&1
expect "kill -9 cuts a file" 'k was cut: .*; [0-9]{4,} instructions before$'
expect "and a pipe" 'stream was cut: .*; [0-9]{4,} instructions before$' piped

# Code at one address: put there, changed there, and of two files.
for n in 3 4; do
	printf "\xb8\\x0$n\0\0\0\xc3" >code$n
	truncate -s 4096 code$n
done
trace range=10000000-10000006 "$deaths" remap code3 code4 || { problem "it does not run its own code"; cat run; }
expect "one block for each of four bodies" ' blocks 4 steps 4 instructions 8 '
expect "each is called" '^insn 10000000 executed 4$'
grep -o 'time.* path "[^"]*"\|start.* path "[^"]*"' frames | grep -v "$deaths\|/lib" >out
[[ $(wc -l <out) == 3 ]] || { problem "not three origins"; cat out; }
expect "code that no file has" '^start 0x10000000 length 4096 path "//anon"'
expect "then a file's" '^time 2 start 0x10000000 length 4096 path ".*/code3"'
expect "then another's" '^time 3 start 0x10000000 length 4096 path ".*/code4"'

# Files, names, children.
trace start=0 "$threads" || { problem "it does not run"; cat run; }
expect "the program" ' mmap .* start 0x[0-9a-f]+ length [0-9]+ .*path "[^"]*/trace-threads"' frames
expect "its libraries" ' mmap .*path "[^"]*/libc\.so|/lib[^"]*/ld-musl' frames
expect "its name" ' comm \{ pid [0-9]+ tid [0-9]+ name "trace-threads"' frames
expect "a child is announced" '^gusprof: the program forks; its children are not traced$' run
expect "and noted" 'notices "1 process was forked off, and not traced"' frames
grep -q executed run && { problem "an execution that was none"; cat run; }
trace start=0 /bin/sh -c "$target abc; PATH=/nowhere:$cases; exec trace-target abc" || { problem "no shell"; cat run; }
expect "what a child executes is announced" "^gusprof: what was forked off executes $target: natively" run
expect "and noted, too" "notices \"1 program was executed by what was forked off, .*; the first was $target\"" frames
expect "what takes the program's place ends the trace" \
	"^gusprof: the program becomes $target, .* the trace ends here" run
expect "which is whole" '^target x86_64 streams 1 '
expect "and knows" "notices \"the program became $target, which" frames
((failed == 0))
