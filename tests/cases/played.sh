#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof record -e pebs, ibs, spe on machines that are played (tests/machine), from the command line to the report:
# what is said, what is in the recording, and where the time goes. On one without a PMU each mode is one error.
. "$(dirname "$0")/lib.sh"
built=$(dirname "$gusprof")/tests/machine
played=$(dirname "$gusprof")/gusprof-played
target=$built/played-target
[ -x "$played" ] && [ -x "$target" ] || { echo "there is no $played"; exit 77; }

address() { nm "$target" | sed -n "s/^\([0-9a-f]*\) . $1\$/\1/p"; }
GUS_PLAYED=$(address played_load),$(address played_next),$(address played_branch),$(address played_loop)
export GUS_PLAYED
shown='err out'

# record MACHINE MODE [OPTION...]: status, out, err, and gusprof.data.
record()
{
	machine=$1 mode=$2
	shift 2
	rm -f gusprof.data
	GUS_MACHINE=$machine "$played" record -e "$mode" "$@" -- "$target" 900 >out 2>err </dev/null
	status=$?
}
dump() { "$gusprof" dump gusprof.data >dump 2>&1; }

# PEBS.
record pebs pebs
ok "PEBS: it is recorded" is $status 0
ok "PEBS: the plan is said" says 'sampling by the plan pebs of Sapphire Rapids: CPU_CLK_UNHALTED.THREAD:ppp'
ok "PEBS: turns are said" says 'some take turns, [1-9][0-9]* of them'
dump
ok "PEBS: the header says the tier" says 'tier "A"' dump
ok "PEBS: turns are in the recording" says 'turn' dump
"$gusprof" report --stacks gusprof.data >out 2>err
ok "PEBS: there is a report" is $? 0
ok "PEBS: time is at the load, and the hardware says why" says 'LLLLLL.* work+0x0 .*mov .*ST-L1 100%' out

"$gusprof" report --event MEM_TRANS_RETIRED.LOAD_LATENCY:pp gusprof.data >out 2>err
ok "PEBS: of an event that took turns the report says so" \
	says 'samples of MEM_TRANS.* in .*, of which it was on for [1-9].*, in turns with others' out
"$gusprof" report --format json gusprof.data >out 2>err
ok "PEBS: and for how long" says '"on_ns": [1-9][0-9]*' out

# PEBS whose records say when instructions retired; and cores of two kinds, each with events of its own.
record pebs tpebs --trace off
ok "times of retirement: not of that core" says 'this CPU (Sapphire Rapids) has no tpebs; it has pebs, lbr'
record tpebs tpebs --trace off
ok "times of retirement: they are recorded" says 'sampling by the plan tpebs of Granite Rapids'
record hybrid pebs --trace off
ok "two kinds of cores: they are recorded" says 'plan pebs of Alder Lake: cpu_core/CPU_CLK_UNHALTED.THREAD/ppp'
"$gusprof" script gusprof.data >out 2>err
ok "two kinds of cores: samples of the one" says 'cpu_core/CPU_CLK' out
ok "two kinds of cores: and of the other" says 'cpu_atom/CPU_CLK' out

# auto takes the best of these, and where there is none what it always took.
record pebs auto --trace off
ok "auto: PEBS" says 'sampling by the plan pebs of Sapphire Rapids'
record ibs auto --trace off
ok "auto: IBS" says 'sampling by the plan ibs of Zen 4'
record spe auto --trace off
ok "auto: SPE" says 'sampling by the plan spe of Neoverse N1'
record bare auto --trace off
ok "auto: no PMU" says 'sampling cpu-clock: '

# IBS.
record ibs ibs
ok "IBS: it is recorded" is $status 0
ok "IBS: the plan is said" says 'sampling by the plan ibs of Zen 4: ls_not_halted_cyc'
"$gusprof" report --stacks gusprof.data >out 2>err
ok "IBS: there is a report" is $? 0
ok "IBS: time is at the load, and nothing is the matter" says 'BBBBBB.* work+0x0 .*mov .*base 100%' out

# SPE: its records are decoded as they are read.
record spe spe --trace off
ok "SPE: it is recorded" is $status 0
ok "SPE: a full area is said" says 'warning: [1-9][0-9]* times there was no more room on a CPU'
ok "SPE: and collisions" says 'in [1-9][0-9]* pieces of what hardware wrote some operations are missing'
ok "SPE: the plan is said" says 'sampling by the plan spe of Neoverse N1: CPU_CYCLES'
"$gusprof" script gusprof.data >out 2>err
ok "SPE: records are samples" says 'arm_spe' out

# What is not there.
record bare pebs --trace off
ok "no PMU: one error" is "$(grep -c 'cannot record with -e pebs' err)" 1
ok "no PMU: gusprof failed" is $status 125
record pebs ibs
ok "PEBS has no IBS" says 'this CPU (Sapphire Rapids) has no ibs; it has pebs, lbr'
ok "PEBS has no IBS: gusprof failed" is $status 125
record pebs pebs --overwrite
ok "no flight recorder" says 'does not go with --overwrite'
ok "no flight recorder: wrong options" is $status 129
record pebs pebs,cycles
ok "a plan stands alone" says 'and stand alone$'
record pebs pebs -b --trace off
ok "with branches" is $status 0
record pebs pebs --off-cpu
ok "with time off the CPU" is $status 0

# The traffic of memory: two sockets, of which one reads 6.4 GB a second and the other 3.2, and writes half as much;
# AMD's data fabric, whose counters take turns and do not tell reads from writes.
stat()
{
	machine=$1
	shift
	GUS_MACHINE=$machine "$played" stat --memory "$@" -- sleep 0.3 >out 2>err </dev/null
	status=$?
}
stat imc
ok "stat --memory: it is counted" is $status 0
ok "whose it is" \
	says 'Traffic of memory, of all of the machine, whoever caused it (Ice Lake-SP, uncore_imc, 8 counters):'
for line in 'socket 0 read  .* 6\.400' 'socket 0 written .* 3\.200' 'socket 0 in all .* 9\.600' \
	'socket 1 read .* 3\.200' 'socket 1 written .* 1\.600' 'socket 1 in all .* 4\.800' 'memory read .* 9\.600' \
	'memory written .* 4\.800' 'memory in all .* 14\.400'; do
	ok "stat --memory: $line" says " GB $line GB/s\$"
done
stat imc -I 100
ok "-I: intervals have it, and the total" test "$(grep -c 's .* GB memory in all .* 14\.[34].. GB/s' err)" -ge 3
stat imc -x ';' -o counts.csv
row() { grep "^total;[^;]*;[^;]*;memory/$1;bytes;" counts.csv | cut -d ';' -f "$2"; }
ok "CSV: a line for each sum" is "$(grep -c ';memory/' counts.csv)" 9
ok "CSV: bytes, and their rate" between "$(row socket1/read 16)" 3.1 3.3
ok "CSV: what is read and written is all" \
	between "$(awk "BEGIN { print $(row all 6) - $(row read 6) - $(row written 6) }")" -1 1
ok "CSV: they were observed" is "$(row all 7)" observed
stat imc --format json -o counts.json
ok "JSON: the sum" says '"memory_traffic"' counts.json
ok "JSON: of a socket" says '"socket": 1' counts.json
stat df
ok "counters that take turns: it is scaled" says 'memory read and written .* 25\.6.. GB/s  (scaled: counted 50.0 %'
ok "and which way is not known" says 'do not tell data read from data written'
stat df -x ';' -o counts.csv
ok "CSV: it is inferred" is "$(row together 7)" inferred
stat imc-refused
ok "no rights: gusprof failed" is $status 125
ok "no rights: one error" is "$(wc -l <err)" 1
ok "no rights: what would help" says 'permission denied; what all of the machine does may be counted with CAP_PERFMON'
stat bare
ok "no PMU: gusprof failed" is $status 125
ok "no PMU: why" says 'there is no PMU of memory controllers (uncore_imc,'
stat imc -r 2
ok "not with -r" is $status 129

record imc cpu-clock --memory-traffic --trace off
ok "record --memory-traffic: it is recorded" is $status 0
"$gusprof" report gusprof.data >out 2>err
ok "report: whose it is" \
	says '^# traffic of memory, of all of the machine, whoever caused it (Ice Lake-SP, uncore_imc' out
ok "report: mean and peak" says '^#   memory read .* GB, 9\.[56].. GB/s in the mean, at most 9\.[56].. GB/s' out
ok "report: over the time" says '^#   over its time, in [1-8] parts, GB/s: 14\.[34]' out
"$gusprof" report --format json gusprof.data >out 2>err
ok "report: JSON has it" says '"at_ns":' out
"$gusprof" dump --type traffic gusprof.data >out 2>err
ok "dump: counters" \
	is "$(grep -c 'counters { event "uncore_imc_[01]/event=0x04,umask=0x[03][0f]/" .*bytes 64.000000 }' out)" 8
ok "dump: readings, ten a second" between "$(grep -c 'readings { time' out)" 5 13
rm -f gusprof.data
record imc-refused cpu-clock --memory-traffic --trace off
ok "record, no rights: gusprof failed" is $status 125
ok "record, no rights: no recording" test ! -e gusprof.data
record bare cpu-clock --memory-traffic --trace off
ok "record, no PMU: gusprof failed" is $status 125
ok "record, no PMU: why" says 'there is no PMU of memory controllers'
finish
