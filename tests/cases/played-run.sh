#!/bin/sh
# SPDX-License-Identifier: MIT
# From `gusprof record -- ./app`, without any option, to stacks, on machines that are played: what their hardware says
# is what golden machines have said of the same program (tests/accuracy/golden). Each sample of theirs is in the
# recording, with all that it tells, and the stacks are those that the judge of golden machines has of their own
# recordings, and of windows of their own, which are others than those that are taken here: hence the points. The
# golden SPE machine executes x86 code, which no Arm core's table is for: of it alone report is told which table.
. "$(dirname "$0")/lib.sh"
build=$GUS_BUILDDIR
played=$build/gusprof-played target=$build/tests/machine/golden-target
golden=$build/tests/accuracy/golden/gusprof-golden plugin=$build/tracing/plugin/gusprof-qemu.so
[ -x "$played" ] && [ -x "$target" ] || { echo "there is no $played"; exit 77; }
command -v qemu-x86_64 >/dev/null || { echo "qemu-x86_64 is not installed (package qemu-user)"; exit 77; }
[ -e "$plugin" ] || { echo "the plugin for QEMU was not built"; exit 77; }

shown='err out'
qemu-x86_64 -plugin "$plugin,out=trace,quiet=on" "$target" 120 >out 2>err
ok "the program is traced" is $? 0
for uarch in sapphirerapids znver4; do
	"$golden" run --uarch $uarch --seed 7 --passes 2 trace -o $uarch >out 2>err
	ok "a golden $uarch executes it" is $? 0
done

# What samples tell, period first.
fields=ip,period,addr,brstack,data_src,weight,ins_lat,retire_lat,psv
samples() { "$gusprof" script -q -i "$1" -F event,$fields 2>err | grep " $2:* " | sed 's/^ *\([0-9]*\) *[^ ]*: /\1 /'; }
without_period() { sed 's/^[0-9]* //'; }

# goes MACHINE GOLDEN TIER: the machine records the program while it says what the golden one has said.
goes()
{
	machine=$1 run=$2 tier=$3
	GUS_MACHINE=$machine GUS_PLAYED_RUN=$run "$played" record -o $machine.data -- "$target" 5000 ms >out 2>err \
		</dev/null
	ok "$machine: it is recorded" is $? 0
	ok "$machine: by its plan" says "sampling by the plan $machine of"
	ok "$machine: nothing is lost" says ' samples, 0 lost'
	"$gusprof" dump $machine.data >out 2>err
	ok "$machine: tier A" says 'tier "A"' out
}
# same MACHINE EVENT RECORDING [FILTER]: all that the golden recording has of it.
same()
{
	samples "$1.data" "$2" | ${4:-cat} | sort >out
	samples "$3" '[^ ]*' | ${4:-cat} | sort >golden
	ok "$1: there are samples of $2" test -s out
	ok "$1: samples of $2 are the golden machine's" cmp out golden
}
# stacks MACHINE UARCH MOST [OPTION...]: by instruction; off by so many points at most, and which is the first.
stacks()
{
	machine=$1 uarch=$2 most=$3
	shift 3
	"$gusprof" report --stacks --percent-limit 0 --format csv -i $machine.data "$@" >rows 2>err
	ok "$machine: there are stacks" is $? 0
	"$golden" attribute "$run" --uarch "$uarch" --only "$tier" --samples 400000 --worst 100000 >judged 2>err
	ok "$machine: the golden machine's own are judged" is $? 0
	python3 "$scripts/played_run.py" rows judged 0x400000 "$most" >out 2>err
	ok "$machine: the stacks are those of the golden machine's recording" is $? 0
}

goes pebs sapphirerapids pebs
same pebs CPU_CLK_UNHALTED.THREAD:ppp sapphirerapids/pebs.data
same pebs MEM_TRANS_RETIRED.LOAD_LATENCY:pp sapphirerapids/loads.data
stacks pebs sapphirerapids 2
goes ibs znver4 ibs
same ibs ls_not_halted_cyc znver4/pmu.data
same ibs ibs_op znver4/ibs-ops.data
stacks ibs znver4 3
goes spe znver4 spe
same spe CPU_CYCLES znver4/pmu.data without_period
same spe arm_spe znver4/spe.data without_period
stacks spe znver4 3 --uarch znver4
finish
