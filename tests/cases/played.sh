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
ok "times of retirement: not of that core" says 'Golden Cove has'
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
ok "PEBS has no IBS" says 'Golden Cove has'
ok "PEBS has no IBS: gusprof failed" is $status 125
record pebs pebs --overwrite
ok "no flight recorder" says 'does not go with --overwrite'
ok "no flight recorder: wrong options" is $status 129
record pebs pebs,cycles
ok "a plan stands alone" says 'all events of a plan, and stand alone'
record pebs pebs -b --trace off
ok "with branches" is $status 0
record pebs pebs --off-cpu
ok "with time off the CPU" is $status 0
finish
