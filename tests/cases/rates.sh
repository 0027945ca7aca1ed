#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof model with measured rates: a program is traced, golden machine 5 runs the trace with emulated samplers, and
# their recordings say how often its accesses miss and its branches are mispredicted.
. "$(dirname "$0")/lib.sh"
set -o pipefail
plugin=$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so threads=$GUS_BUILDDIR/tests/cases/trace-threads
golden=$GUS_BUILDDIR/tests/accuracy/golden/gusprof-golden
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $plugin ]] || skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
[[ -x $threads ]] || skip "the program to trace is for x86-64"
qemu-x86_64 -plugin "$plugin,out=t,quiet=on" "$threads" >out 2>&1 ||
	{ grep -qiE 'version|api' out && skip "this QEMU does not take plugins of version 1: $(head -n 1 out)"
	cat out; exit 1; }
"$golden" run --seed 5 --passes 64 t -o run >out 2>&1 || { problem "the trace is not run"; cat out; }

# The shares that rest on what was measured, was simulated, is unknown; and by whom.
model()
{
	"$GUSPROF" model --uarch skylake --lanes all --format json "$@" >json 2>err ||
		{ problem "model $*"; cat err; }
	python3 - json <<-'EOF' >out
	import json, sys
	d = json.load(open(sys.argv[1]))
	for what in "accesses", "branches":
	    of = d["rests_on"][what]
	    parts = [r["rests_on"][what] for r in d["regions"]]
	    assert all(sum(p[k] for p in parts) == of[k] for k in of), "regions do not add up to all"
	    print(what, *("%s %.2f" % (k, n / (sum(of.values()) or 1)) for k, n in of.items()))
	print("rates", d["rates"])
	EOF
}

model -i t --rows 1000
expect "a trace alone is simulated" '^accesses measured 0.00 simulated 1.00'
expect "its branches, too" '^branches measured 0.00 simulated 1.00'
expect "no recording has any" '^rates None$'
for scheme in ibs-ops spe; do
	model -i t --rows 1000 --rates run/$scheme.data
	expect "$scheme measures accesses that are frequent" \
		'^accesses measured 0\.[4-9]. simulated 0\.[1-6]. unknown 0.00$'
	expect "$scheme measures branches" '^branches measured (0\.[3-9]|1)'
	expect "whose rates these are" "^rates run/$scheme.data$"
done
model -i t --rows 1000 --rates run/pebs.data
expect "branch stacks know nothing of accesses" '^accesses measured 0.00 simulated 1.00'
expect "stacks measure branches that are taken" '^branches measured 0\.[3-9]. simulated 0\.[1-6]. unknown 0.00$'
model -i run/ibs-ops.data --rows 1000
expect "a recording has its own rates, without a trace" \
	'^accesses measured 0\.[1-9]. simulated 0.00 unknown 0\.[1-9].$'
expect "of branches what is not measured is unknown" \
	'^branches measured 0\.(0[5-9]|[1-9].) simulated 0.00 unknown 0\.[1-9].$'
expect "by name" '^rates run/ibs-ops.data$'
model -i run/ibs-ops.data --rows 1000 --rates none
expect "not if they are not wanted" '^accesses measured 0.00 simulated 0.00 unknown 1.00$'
expect "then no recording has any" '^rates None$'

"$GUSPROF" model --uarch skylake -i t --rates run/ibs-ops.data >out 2>&1
expect "text says by whom" 'what samples of run/ibs-ops.data say$'
expect "and how much of all" '^ +[0-9.]+% +[0-9.]+% +0.00% +[0-9.]+% +[0-9.]+% +0.00%  all$'
expect "and of each region" '^ +[0-9.]+% .*  work(, loop at .*)?$'

# How far off that is of what is true: of both engines a row for each sampler, and what is known is nearest.
for engine in "" --stream; do
	# shellcheck disable=SC2086 # nothing, or a word
	"$golden" rates run t $engine >rows 2>&1 || { problem "rates are not judged"; cat rows; }
	awk -F '\t' '/^#/ { next } { error[$1] = $2; rows++ } NF != 10 { print }
		END { if (rows != 6 || error["known"] >= error["wrong"]) print rows, "rows:", error["known"] }' \
		rows >out
	[[ -s out ]] && { problem "what rates are worth is off"; cat out; }
done
"$golden" rates run >out 2>&1 && problem "rates without a trace are judged"
expect "rates of no trace" 'a trace comes behind'
"$golden" rates nowhere t >out 2>&1 && problem "rates of no folder are judged"
expect "rates of no folder" 'nowhere/machine.uarch'

# What says nothing of rates is refused where it was asked for.
"$GUSPROF" model --uarch skylake -i t --rates run/timer.data >out 2>&1 && problem "a timer has rates"
expect "a timer" 'none of its samples says where an access hit'
"$GUSPROF" model --uarch skylake -i t --rates run/ibs-cycles.data >out 2>&1 && problem "IBS by cycles has rates"
expect "IBS by cycles" 'of its event ibs_op//, cycles choose .*cnt_ctl=1 counts ops'
"$GUSPROF" model --uarch skylake -i t --rates run/spe-slow.data >out 2>&1 && problem "slow operations have rates"
expect "SPE with a filter" 'a filter leaves out what was quick'
"$GUSPROF" model --uarch skylake -i t --rates nowhere >out 2>&1 && problem "no recording has rates"
expect "no recording" 'nowhere'

((failed == 0))
