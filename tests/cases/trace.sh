#!/bin/bash
# SPDX-License-Identifier: MIT
# The tracer under QEMU: programs whose instructions, addresses and branches are known, down to the last one.
. "$(dirname "$0")/lib.sh"
set -o pipefail
plugin=$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so target=$GUS_BUILDDIR/tests/cases/trace-target
threads=$GUS_BUILDDIR/tests/cases/trace-threads sums=$GUS_BUILDDIR/tests/cases/trace-sums
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $plugin ]] || skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
[[ -x $target ]] || skip "the programs to trace are for x86-64"
command -v nm >/dev/null || skip "nm is not installed (package binutils)"
qemu-x86_64 -plugin "$plugin,out=probe" "$target" >out 2>&1 ||
	{ grep -qiE 'version|api' out && skip "this QEMU does not take plugins of version 1: $(head -n 1 out)"
	cat out; exit 1; }

# trace OPTIONS PROGRAM [ARGUMENT]: the sums of its trace in "out".
trace()
{
	local options=$1
	shift
	qemu-x86_64 -plugin "$plugin,out=t,$options" "$@" >run 2>&1 || { problem "status $? of $*"; cat run; }
	"$sums" t >out 2>&1
}

address() { nm "$1" | awk -v name="$2" -v off="$3" '$3 == name { print $1, off }' |
	{ read -r a o; printf '%x' $((0x$a + o)); }; }
at() { address "$target" "$@"; }
loop=$(at loop 0) turn=$(at turn 0) string=$(at string 0) set=$(at set 0) wide=$(at wide 0) data=$(at data 0)

# 9 letters: n = 9000, and 30 + 4 * 9 + 6 * 9000 instructions. Loads: argv, 10 letters, 4 returns, n, 1.
# Stores: 4, n, 1.
trace start=0 "$target" abcdefghi
expect "all instructions" '^target x86_64 streams 1 windows 1 blocks [0-9]+ steps [0-9]+ '\
'instructions 54066 accesses 18021 omitted 0 seen 54066 full no$'
expect "loads at their addresses" "^insn $turn executed 9000 read 9000 72000 $data $(at data $((8 * (8999 % 512))))\$"
expect "stores, too" "^insn $(at turn 4) executed 9000 write 9000 36000 $(at data 8192) $(at data 8192)\$"
expect "each branch has its way" "^insn $(at turn 19) executed 9000 falls 1 taken 8999 open 0\$"
expect "a repeated string instruction is one" \
	"^insn $set executed 1 write 1 100 $(at data 16384) $(at data 16384)( |\$)"
expect "and so is what follows it" "^insn $(at set 2) executed 1 read 1 8 "
expect "pieces of a wide load are one" "^insn $wide executed 1 read 1 16 $(at data 64) $(at data 64)\$"
expect "one that goes on in the next page is one" "^insn $(at span 0) executed 1( |\$)"
cp t first
trace start=0 "$target" abcdefghi
"$sums" first | cmp -s - out || problem "twice the same program, and two different traces"

# While it is written: through a pipe that the emulator has as fd 9, compressed and not.
for plain in off on; do
	qemu-x86_64 -plugin "$plugin,fd=9,plain=$plain" "$target" abcdefghi 9>&1 >run | "$sums" - >out 2>&1
	"$sums" first | cmp - out || { problem "through a pipe (plain=$plain) it is another trace"; head -n 5 out; }
done

# In the middle of what the emulator translates at once, and not a byte more.
trace "range=$(at turn 4)-$(at turn 11)" "$target" abc
expect "only the range" "^target x86_64 streams 1 windows 1 blocks 1 steps 3000 "\
"instructions 6000 accesses 3000 omitted 0 seen 6000 full no\$"
expect "its first" "^insn $(at turn 4) executed 3000 write"
[[ $(grep -c ^insn out) == 2 ]] || { problem "more than the range was traced"; head -n 5 out; }
trace "range=$loop-$string,range=$wide-$(at wide 9)" "$target" abc
expect "two ranges" "instructions 18005 accesses 6003 omitted 0 seen 18005 full no\$"
trace range=10-20 "$target" abc
expect "a range without code" "streams [01] windows 0 blocks 0 steps 0 instructions 0 accesses 0"

# The loop has blocks of 6 instructions, but for the first with 8 and the return.
trace "range=$loop-$string,start=1000,length=600" "$target" abc
expect "a window" "windows 1 blocks 1 steps 100 instructions 600 accesses 200 omitted 0 seen 1610 "
expect "it begins where it should" \
	"^insn $turn executed 100 read 100 800 $(at data $((8 * 167))) $(at data $((8 * 266)))\$"
expect "its last step has no way" "^insn $(at turn 19) executed 100 falls 0 taken 99 open 1\$"
trace "range=$loop-$string,start=1000,length=60,every=1000" "$target" abc
expect "windows, again and again" "windows 18 blocks 2 steps 171 instructions 1021 "

# Behind the last window translations are forgotten, and what they had told the emulator of helpers with them: without
# guards QEMU 7.2 crashed in one of three of these.
head -c 2000000 "$GUSPROF" >some
for ((i = 1; i <= 6; i++)); do
	qemu-x86_64 -cpu max -plugin "$plugin,out=t,length=${i}000000" "$(command -v gzip)" -9 -c some >some.gz 2>run ||
		{ problem "status $? behind a window of ${i}000000 instructions"; cat run; }
	gzip -dc some.gz | cmp -s - some || problem "another output behind a window of ${i}000000 instructions"
done

# Threads, and a child that stays out of it. What the range returns to has atomic writes, which are not the range's.
work=$(address "$threads" work 0)
trace "range=$work-$(address "$threads" work 6)" "$threads"
expect "one stream a thread" "^target x86_64 streams 4 windows 1 blocks [123] steps 600[0-9] "\
"instructions 12003 accesses 3 omitted 0 seen 12003 full no\$"
expect "all of their turns" "^insn $work executed 6000( |\$)"

# The bound, the errors.
trace max=1 "$target" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
expect "it stops at its size" "full yes\$"
grep -q 'has its 1 bytes; the rest' run || { problem "nothing says that the trace is full"; cat run; }
for word in range=20-10 range=xyz start=x every=5 lenght=5 out= fd=x fd=1 plain=x; do
	qemu-x86_64 -plugin "$plugin,out=u,$word" "$target" >out 2>&1 && problem "$word is taken"
	expect "$word is refused" '^gusprof: .*(takes|no option|is missing)'
done
qemu-x86_64 -plugin "$plugin,out=missing/t" "$target" >out 2>&1 && problem "no such folder, and no error"
expect "no folder" "cannot create the recording missing/t: No such file"
qemu-x86_64 -plugin "$plugin,fd=77" "$target" >out 2>&1 && problem "no fd 77, and no error"
expect "no such fd" 'cannot write the trace to fd 77: Bad file'
head -c -100 first >cut
"$sums" cut >out 2>&1 && problem "a cut trace is read without a word"
expect "a cut trace" 'was cut: it ends at offset'
"$GUSPROF" dump first >out 2>&1
expect "dump shows what it is of" '^    front_end "qemu"$'
expect "and what is in it" '^    instructions 54066$'
((failed == 0))
