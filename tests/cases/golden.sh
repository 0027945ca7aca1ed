#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof-golden on a program with threads: recordings have samples of each, in order, and a sample of one thread is not
# taken for a share of another's.
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

"$golden" run --seed 5 --passes 64 t -o run >out 2>&1 || { problem "threads are not run"; cat out; }
"$GUSPROF" dump t | grep 'mmap.*trace-threads' >maps
for scheme in pebs ibs-ops spe timer; do
	"$GUSPROF" script -q --ns -i run/$scheme.data -F tid,time >samples 2>/dev/null
	awk '{ print $1 }' samples | sort -u | tr '\n' ' ' >out
	expect "$scheme samples all threads" '^1000 1001 1002 1003 $'
	awk '{ sub(":", "", $2); if ($2 < before) print; before = $2 }' samples >out
	[[ -s out ]] && { problem "samples of $scheme are not in order"; head -n 3 out; }
	"$GUSPROF" report -q -i run/$scheme.data >out 2>/dev/null
	grep -q build_id maps && expect "functions have names in $scheme" '  work$'
done
# What the top-down method makes of counters, which gusprof-golden holds against what it knows of each slot: short
# threads are over before its group has had a turn, and the longer one's interval, which is a bound, has the truth.
awk '/^#/ { next } { rows++; off = $2 - $3 } off > 1e-6 || off < -1e-6 { print "counted", $0 }
	$7 == "bound" { bounds++; if ($5 > $2 || $6 < $2) print "bound", $0 }
	END { if (rows != 16 || bounds != 4) print rows " rows, " bounds " bounds" }' run/slots >out
[[ -s out ]] && { problem "what became of slots is off"; cat out; }
"$golden" score run >scores 2>&1
fired=$(awk '$1 == "tea" { print $3 }' run/rates)
awk -v n="$fired" '$1 == "tea" && $2 == "function" { print ($3 == n ? "same" : $3 " of " n) }' scores >out
expect "each of TEA's samples is one" '^same$'

# What a replay of the trace makes of samples of all threads. Heights (as they are, corrected) are no farther off than
# what E says with more events. An interrupt is seen an instruction late, which is most of what is off of its samples.
"$golden" attribute run t --samples 40000 >rows 2>&1 || { problem "samples are not attributed"; cat rows; }
awk -F '\t' 'FNR == NR { split($0, rate, " "); n[rate[1]] = rate[3]; next }
	FNR == 1 { time["pebs"] = time["tpebs"] = "pebs"; time["ibs"] = time["spe"] = "pmu"; time["timer"] = "timer" }
	/^#/ { next }
	{ wanted = 40000; rows++ }
	$2 == "model" { if ($3 != 0 || $9 > 0) print; next }
	wanted > n[time[$2]] { wanted = n[time[$2]] + 0 }
	($3 - wanted) ^ 2 > 25 * wanted || $5 > $6 || $6 > $7 || $9 > 0.01 { print wanted, $0 }
	$4 > 0.5 && $5 > $4 / 2 || $2 ~ /pebs/ && $5 >= $4 { print }
	END { if (rows != 6) print rows " rows" }' run/rates rows >out
[[ -s out ]] && { problem "what was attributed is off"; cat out; }
# The model alone is the machine, if its caches are as empty.
some="--samples 4000 --only timer"
# shellcheck disable=SC2086 # words, here and below
"$golden" attribute run t $some --variant cold >out 2>&1
awk -F '\t' '$2 == "model" && $7 > 0.05 { print } $2 == "model" { rows++ } END { if (rows != 1) print rows }' out >off
[[ -s off ]] && { problem "the model is not the machine"; cat off; }
"$golden" attribute run t $some >rows 2>&1
[[ $(wc -l <rows) -eq 3 ]] || { problem "not so many samples of one tier, and the model"; cat rows; }
"$golden" attribute run t $some >again 2>&1
cmp -s rows again || problem "the same samples are attributed otherwise the next time"
"$golden" attribute run t $some --seed 9 2>&1 | cmp -s rows - && problem "samples are drawn whatever the seed is"
for gone in timer spe; do
	mkdir "without-$gone"
	cp run/* "without-$gone"
	rm "without-$gone/$gone.data"
	"$golden" attribute "without-$gone" t >out 2>&1 && problem "samples of $gone are attributed that are not there"
	expect "no samples of $gone" "^gusprof-golden: .*without-$gone/$gone.data"
done
for wrong in "nowhere t" "run nowhere" "run t --uarch nowhere" "run t --uarch ./nowhere" "nowhere"; do
	# shellcheck disable=SC2086 # words
	"$golden" attribute $wrong >out 2>&1 && problem "attribute $wrong does"
	expect "attribute $wrong" 'nowhere'
done

# Without a trace attribution has the windows of the run.
"$golden" attribute run $some >windows 2>&1 || { problem "windows are not attributed"; cat windows; }
"$golden" windows run t --windows 3,1000 --seed 4 >out 2>&1 || { problem "windows are not written"; cat out; }
"$GUSPROF" dump run/windows >dumped
"$golden" windows run t --windows 3,1000 --seed 4 && "$GUSPROF" dump run/windows | cmp -s dumped - ||
	problem "the same seed gives other windows"
"$golden" windows run t --windows 3,1000 --seed 5 && "$GUSPROF" dump run/windows | cmp -s dumped - &&
	problem "another seed gives the same windows"
"$golden" attribute run $some >few 2>&1
cmp -s windows few && problem "windows are not what is attributed"
awk -F '\t' '/^#/ || $2 == "model" { next } $9 < 0.1 || $9 > 1 { print }' few >out
[[ -s out ]] && { problem "a part of the trace has what all has"; cat out; }
"$golden" windows run >out 2>&1 && problem "windows of no trace are written"
expect "windows of no trace" 'a trace comes behind'

# What calibration finds out of a machine of which the truth is known: all that it claims of a window is right, and what
# its table says then is nearer than what it began from.
"$golden" calibrate 6 --bare --only window --replay --write written >out 2>&1
expect "a reorder buffer" '^rob	368	368	.*	high	.*	right	'
expect "sizes" '^# sizes within 2 %: [5-9] of [5-9], 0 more are in a wide interval, and [01] not told$'
[[ $(grep -c WRONG out) == 0 ]] || { problem "calibration is wrong"; grep WRONG out; }
expect "another table to begin from" '^# begins from emeraldrapids$'
awk '/ microbenchmarks within / { print $(NF - 3) }' out | tr '\n' ' ' >off
awk '{ exit !(NF == 2 && $2 < $1) }' off || { problem "the calibrated table is no nearer"; cat off; }
# That table is one, says so of the reorder buffer, and is what attribution is given.
"$GUSPROF" uarch check written >out 2>&1 || { problem "what calibration writes is no table"; cat out; }
cp written out
expect "the table has what was found" '^param rob 368 entries calibrated # emeraldrapids: 512$'
"$golden" attribute run t $some --uarch ./written >with 2>&1 ||
	{ problem "the calibrated table serves nobody"; cat with; }
"$golden" attribute run t $some --uarch emeraldrapids 2>&1 | cmp -s with - && problem "what was found changes nothing"
"$golden" calibrate 6 --only front --quick --write nowhere/t >out 2>&1 && problem "a table is written nowhere"
expect "a table nowhere" '^gusprof-golden: cannot write nowhere/t: '
"$golden" calibrate 6 --only windows >out 2>&1 && problem "a fit of no name is run"
expect "no such fit" 'there is no fit called windows'

# A run under stress says so wherever it is taken for one without.
for stress in bursts neighbour resonance; do
	"$golden" run --seed 5 --passes 2 --stress $stress t -o $stress >out 2>&1 ||
		{ problem "$stress is not run"; cat out; }
	head -n 1 $stress/machine.uarch >out
	expect "the table of a run with $stress" "^# stressed by $stress"
	grep '^stress' $stress/rates >out
	expect "the rates of a run with $stress" "^stress $stress"
	cmp -s $stress/truth run/truth
	[[ $? == $([[ $stress == resonance ]] && echo 0 || echo 1) ]] || problem "$stress has another truth"
done
expect "the periods of resonance" '^stress resonance: each [0-9]+ cycles, [0-9]+ slots, [0-9]+ instructions; '
awk 'FNR == NR { if ($1 == "stress") { n["pebs"] = $4 + 0; n["spe"] = $6 + 0; n["tpebs"] = $8 + 0 } next }
	$1 in n && ($7 != n[$1] || $6 != 1) { print } $1 in n { seen++ }
	END { if (seen != 3) print "no rates" }' resonance/rates resonance/rates >out
[[ -s out ]] && { problem "samplers have other periods"; cat out; }
grep -q stress run/rates && problem "a run without stress has some"
"$golden" run --seed 5 --stress nothing t -o wrong >out 2>&1 && problem "an unknown stress is run"
expect "an unknown stress" 'there is no stress called nothing'

# What it cannot do it says.
qemu-x86_64 -plugin "$plugin,out=none,quiet=on,range=1-2" "$threads" >out 2>&1
"$golden" run --seed 5 none -o nothing >out 2>&1 && problem "a trace of nothing is run"
expect "a trace of nothing" 'nothing to run: none has no instruction'
for option in "--seed five" "--seed -1" "--seed 5x" "--seed 99999999999999999999" "--passes 65" "--windows 8" \
	"--windows 0,100" "--windows 8,0" "--windows 8,1x" "--windows ,1"; do
	# shellcheck disable=SC2086 # two words
	"$golden" run $option t -o wrong >out 2>&1
	[[ $? == 2 ]] || problem "$option is taken"
done
((failed == 0))
