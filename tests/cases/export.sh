#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof export: a recording as perf.data. What is exported and read again is the same, sample for sample, in a file
# and through a pipe; what has no place in it is said; perf, where it is, reads it and shows what gusprof shows.
. "$(dirname "$0")/lib.sh"
make="$GUS_BUILDDIR/tests/cases/make-columns"
tell="$GUS_BUILDDIR/tests/cases/tell-samples"

# Lines of a recording in one order, without what perf.data has no place for (callers) or what follows from it when it
# is read (events); and without the kernel's mappings, which a recording of ours does not have, and the vdso's build id,
# which a recording of ours has in an image of it, if a sample fell there, and perf.data beside the mapping.
told()
{
	"$tell" "$1" >told.all || return 1
	sed 's/ callers=[0-9a-f]*$//; s/ events=[0-9a-f]*//; s/ path=\[vdso\] id=.*//' told.all |
		grep -v ' mmap .* kernel=1' | sort
}

# same A B: they tell the same, and something.
same()
{
	told "$1" >same.a && told "$2" >same.b && [ -s same.a ] && cmp same.a same.b >out 2>err
}

"$make" plain plain || exit 99
"$make" all all || exit 99
"$gusprof" export -i plain >out 2>err
ok 'a recording is exported to perf.data' [ -f perf.data ]
ok 'and nothing is left out but files that are nowhere' [ "$(grep -c 'not in perf.data' err)" = 1 ]
ok 'of which there are two' grep -qF 'files that are not at hand, or not as they were (2 files)' err
ok 'it says how many samples it has' grep -q '\[ 40 samples, 0\.[0-9]* MB in perf\.data \]' err
ok 'read again it is the same' same plain perf.data
ok 'it is for its owner alone' [ "$(stat -c %a perf.data)" = 600 ]

"$gusprof" export --to perfdata -q -o again.data plain >out 2>err
ok 'twice is the same bytes' cmp perf.data again.data
ok 'and quietly means quietly' [ ! -s err ]
"$gusprof" export -i perf.data -q -o third.data >out 2>err
ok 'exported from perf.data it is the same' cmp perf.data third.data

"$gusprof" export -i plain -o - >piped 2>err
ok 'through a pipe it is the same' same plain piped
"$gusprof" export -i plain -q -o - | "$gusprof" script -F comm,tid,cpu,time,period,event,ip -i - >scripted 2>err
"$gusprof" script -F comm,tid,cpu,time,period,event,ip -i plain >expected 2>err
ok 'and can be read from one' cmp scripted expected
"$gusprof" export -i - -q -o fourth.data <plain >out 2>err
ok 'and from standard input' cmp perf.data fourth.data

"$gusprof" export -i all -o all.data >out 2>err
for what in 'how callers were found, and why there are no more of them (15 samples)' \
	'which events hardware proved of instructions (10 samples)' \
	'cycles to issue, for translation, and from completion to retirement (10 samples)' 'marks (1)' \
	'code that programs made'; do
	ok "it says what has no place: $what" grep -qF "[ not in perf.data: $what" err
done
ok 'and that is all' [ "$(grep -c 'not in perf.data' err)" = 6 ]

# Where the kernel and its modules are, as far as names tell.
"$tell" all.data >out
ok 'it says where the kernel was' grep -q 'start=ffffffff81000000 length=100000 offset=ffffffff81000000 .*_text' out
ok 'and its modules, in whole pages' grep -q 'start=ffffffffc1000000 length=2000 .*path=\[made\]' out

# What had the name is kept.
echo mine >named.data
"$gusprof" export -q -i plain -o named.data >out 2>err
ok 'what had the name is NAME.old' [ "$(cat named.data.old)" = mine ]
ok 'and the name is the new one' cmp named.data perf.data

# But a recording is not what it is made into, by whatever name.
cp perf.data kept.data && ln kept.data linked.data && ln -s kept.data pointer.data
for to in kept.data linked.data pointer.data ./kept.data; do
	"$gusprof" export -q -i kept.data -o "$to" >out 2>err
	ok "its own place is wrong usage ($to)" [ $? = 129 ]
	ok 'which says what to do' grep -q 'it is the recording that is read; -o FILE names another' err
done
"$gusprof" export -q -i perf.data >out 2>err
ok 'by default, too' [ $? = 129 ]
"$gusprof" export -q -i - -o kept.data <kept.data >out 2>err
ok 'and through standard input' [ $? = 129 ]
ok 'and it stays where it was' cmp perf.data kept.data
ok 'under one name' [ ! -e kept.data.old ]

# Odd recordings.
"$make" none none && "$gusprof" export -i none -o none.data >out 2>err
ok 'one without samples is exported' grep -q '\[ 0 samples' err
"$make" nameless nameless
"$gusprof" export -i nameless -o nameless.data >out 2>err
ok 'one without events is an error' [ $? = 125 ]
ok 'in one line' [ "$(wc -l <err)" = 1 ]
ok 'and makes no file' [ ! -e nameless.data ]
"$make" strange strange && "$gusprof" export -i strange -o strange.data >out 2>err
ok 'samples of no event are left out' grep -q 'warning: 20 samples of events that the recording does not name' err
ok 'and not counted' grep -q '\[ 20 samples,' err
ok 'and the others are not' [ "$("$tell" strange.data | grep -c ' sample ')" = 20 ]
"$make" long long && "$gusprof" export -i long -o long.data >out 2>err
ok 'names longer than records are left out' grep -q 'warning: 1 names longer than a record' err
ok 'and their neighbours are not' grep -q 'path=/short' <<END
$("$tell" long.data)
END
"$make" deep deep && "$gusprof" export -i deep -o deep.data >out 2>err
ok 'callers beyond 64 KiB are left out' grep -q 'outermost callers beyond a record.s 64 KiB (1 samples)' err
# Of a group's counts a reader makes a sample of each that has counted, which is all but the first.
ok 'and counters are not' [ "$("$tell" deep.data | grep -c ' sample event=cycles')" = 3999 ]
head -c $(($(wc -c <plain) * 2 / 3)) plain >cut && "$gusprof" export -i cut -o cut.data >out 2>err
ok 'of one that was cut there is what it has' grep -q 'warning: the recording was cut' err

# Samples that do not say when they were taken: their order is all that is known, and no time is made up.
if command -v python3 >/dev/null; then
	python3 - "$GUS_SRCDIR/tests/cases" >timeless.data <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from perfdata import *
m = Made()
e = m.event("cycles", IP | TID | CPU | PERIOD, ids=[7], sample_id_all=1, exclude_guest=1)
m.comm(5, 5, "it")
for i in range(20):
    m.sample(e, ip=0x1000 + i * 7 % 5, pid=5, tid=5, cpu=0, period=10 + i)
sys.stdout.buffer.write(m.file())
END
	"$gusprof" export -q -i timeless.data -o again.data >out 2>err
	"$gusprof" report -i again.data >out 2>err
	ok 'samples without times have none when they are exported' grep -q 'do not say when they were taken' out
	for recording in timeless again; do
		"$gusprof" script -F comm,tid,cpu,period,event,ip "$recording.data" >"$recording.lines" 2>err
	done
	ok 'and stay in their order' cmp timeless.lines again.lines
	ok 'of which there are some' [ "$(grep -c ' cycles: ' again.lines)" = 20 ]
else
	echo '# python3 is not there: samples without times were not tried'
fi

# Disks that are full, and readers that leave.
(ulimit -f 4; exec "$gusprof" export -q -i deep -o full.data >out 2>err)
ok 'no room is an error' [ $? = 125 ]
ok 'in one line' [ "$(wc -l <err)" = 1 ]
ok 'and leaves nothing behind' [ "$(ls -A | grep -c full)" = 0 ]
if [ -c /dev/full ]; then
	"$gusprof" export -q -i plain -o - >/dev/full 2>err
	ok 'a full device is an error' [ $? = 125 ]
	ok 'that says so' grep -q 'standard output.*No space left' err
fi
"$gusprof" export -i missing -o missing.data >out 2>err
ok 'no recording is an error' [ $? = 125 ]
"$gusprof" export -i plain --to pprof >out 2>err
ok 'another format is wrong usage' [ $? = 129 ]

# perf.
if ! perf --version >perf.version 2>&1; then
	echo "# perf is not there: what it reads of this was not tried"
	finish
fi
perf evlist -i perf.data >out 2>err
ok 'perf lists the events' [ "$(tr '\n' ' ' <out)" = 'cpu-clock mem-loads branches:u cycles ' ]
perf buildid-list -i perf.data >out 2>err
ok 'perf lists build ids' grep -q '^4142434445464748494a4b4c4d4e4f5051525354 /nowhere/program' out
perf report --header-only -i perf.data >out 2>err
ok 'perf shows the host' grep -q '^# hostname : made-host' out
ok 'and the command' grep -q '^# cmdline : ./program an argument' out

# number NAME: in the lines of tell-samples, which have hexadecimal ones.
told_number() { sed "s/.* $1=\([0-9a-f]*\).*/\1/"; }
"$tell" plain | grep 'event=mem-loads' >mem
perf script --ns -F raw:time,event,tid,period,ip,addr,phys_addr,weight,data_src -i perf.data >out 2>err
grep 'mem-loads:' out | sed 's/|[^|]*|LVL.*BLK [^ ]* */ /; s/[:.]//g' >by.perf
cut -d' ' -f1 mem >times
awk '{ print $2 }' by.perf >out
ok 'perf reads the times of samples' cmp out times
for field in 'address 5' 'data_source 6' 'ip NF-1' 'physical NF'; do
	# shellcheck disable=SC2086 # two words
	set -- $field
	told_number "$1" <mem >expected
	awk "{ print \$($2) }" by.perf >out
	ok "perf reads each $1" cmp out expected
done
told_number weight <mem | while read -r hex; do printf '%d\n' "0x$hex"; done >expected
awk '{ print $(NF-2) }' by.perf >out
ok 'perf reads each weight' cmp out expected
perf script --ns -F hw:event,brstack -i perf.data 2>err | grep branches >script.branches
"$tell" plain | sed -n 's/.* branches=\([^ ]*\).*/\1/p' | tr ',' '\n' | cut -d/ -f1,2 >expected
sed 's/^[^:]*:u: *//' script.branches | tr ' ' '\n' | sed -n 's/^0x\([0-9a-f]*\)\/0x\([0-9a-f]*\)\/.*/\1\/\2/p' >out
ok 'perf reads branches' cmp out expected
ok 'of which there are some' [ "$(wc -l <out)" = 21 ]
perf script -i piped -F event >out 2>err
ok 'perf reads a pipe' [ "$(grep -c branches out)" = 10 ]
"$make" point tracepoint
for to in point.data -; do # perf wants to know more of a tracepoint, and refuses what does not say it
	"$gusprof" export -q -i point -o $to >piped 2>err
	[ $to != - ] || mv piped point.data
	perf script -i point.data >out 2>err
	ok "perf reads tracepoints ($to)" [ "$(grep -c 'made:point: ' out)" = 10 ]
done
ok 'and they are read again' same point point.data

"$gusprof" record --trace off -q -g -F 1999 -o chains -- "$GUS_DEMO" 0.5 >out 2>err
skip_if_refused $?
"$gusprof" export -q -i chains -o chains.data >out 2>err
ok 'a recording made here is exported' [ $? = 0 ]
perf script --ns --no-inline --max-stack 1000 -F comm,tid,cpu,time,period,event,ip -i chains.data >by.perf 2>err
"$gusprof" script --ns --no-inline -F comm,tid,cpu,time,period,event,ip chains >by.us 2>err
tr -s ' \t' ' ' <by.perf | sed 's/ $//' >by.perf.plain
tr -s ' \t' ' ' <by.us | sed 's/ $//' >by.us.plain
ok 'perf and gusprof tell the same samples and callers' cmp by.perf.plain by.us.plain
ok 'of which there are some' [ "$(grep -c cpu-clock by.us)" -gt 0 ]
"$gusprof" record --trace off -q --call-graph dwarf -F 499 -o copies -- "$GUS_DEMO" 0.2 >out 2>err
"$gusprof" export -q -i copies -o copies.data >out 2>err
ok 'stacks that perf is to unwind are the same when read again' same copies copies.data
"$gusprof" export -q -i copies.data -o copies2.data >out 2>err
"$tell" copies.data >out && grep ' mmap ' out | sort >expected
"$tell" copies2.data >out && grep ' mmap ' out | sort >found
ok 'and what was worked out of files is not worked out once more' cmp found expected
ok 'which was something' [ "$("$tell" copies | grep -c ' mmap ')" -lt "$(wc -l <found)" ]
if perf version --build-options 2>/dev/null | grep -qE '(libunwind|libdw-dwarf-unwind): \[ on'; then
	perf script --no-inline -F ip,sym -i copies.data >by.perf 2>err
	ok 'and perf unwinds them' [ "$(grep -c ' _start$' by.perf)" -gt 0 ]
	# Of the user's code alone no sample has callers of the kernel's, which perf shows in any case.
	"$gusprof" record --trace off -q --call-graph dwarf -e cpu-clock:u -F 1999 -o users \
		-- "$GUS_DEMO" 0.5 >out 2>err
	"$gusprof" export -q -i users -o users.data >out 2>err
	ok 'stacks of user code alone are the same when read again' same users users.data
	perf script --no-inline -F ip,sym -i users.data >by.perf 2>err
	ok 'and perf unwinds these, too' [ "$(grep -c ' _start$' by.perf)" -gt 0 ]
	perf report -g caller --no-inline --stdio -i users.data >by.perf 2>err
	ok 'and shows whose callers they are' grep -q -- '--_start' by.perf
else
	echo '# this perf unwinds nothing: how it does what is exported was not tried'
fi
ok 'and read again it is the same' same chains chains.data
finish
