#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof compare: measured against modelled, of a command, a process and a recording. The program's loop is a chain of
# multiplications of 3 cycles each on every CPU that there is a table for, so the truth is known.
. "$(dirname "$0")/lib.sh"
set -o pipefail
target=$GUS_BUILDDIR/tests/cases/traced-target
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so && -x $target ]] || skip "the plugin for QEMU was not built"
[[ $(uname -m) == x86_64 ]] || skip "the program to compare is for x86-64"
command -v python3 >/dev/null || skip "python3 is not installed"
table=skylake
"$GUSPROF" model --block 4801c8 >/dev/null 2>&1 && table=host
"$GUSPROF" record -q -o probe.data -- "$target" spin 1000000 0 >out 2>err
skip_if_refused $?
"$GUSPROF" model --uarch skylake -o probe -- "$target" spin 1000 0 >out 2>err ||
	skip "nothing can be traced: $(tail -n 1 err)"

compare() { timeout 300 "$GUSPROF" compare --uarch $table "$@"; }

# holds WHAT CONDITION: it does for the document in "report", which is d; r is the region of the loop.
holds()
{
	shown='out err' ok "$1" python3 -c '
import json, sys
d = json.load(open("report"))
w = d["whole"]
r = [x for x in d["regions"] if x["function"] == "spin" and x["loop"] is not None]
r = r[0] if r else None
if not eval("(" + sys.argv[1] + ")"):
    print(json.dumps({"whole": w["measured"], "modelled": w["modelled"], "loop": r and r["ratio"]}))
    sys.exit(1)' "$2"
}

# refuses WHAT STATUS PATTERN ARGUMENT...: one line on standard error, and no report.
refuses()
{
	local refused=$1 wanted=$2 pattern=$3
	shift 3
	timeout 120 "$GUSPROF" compare "$@" >out 2>err
	ok "$refused: the status" is $? "$wanted"
	ok "$refused: one line says why" grep -qE "^gusprof: .*$pattern" err
	ok "$refused: and no more" is "$(wc -l <err) $(wc -c <out)" "1 0"
}

# A command. It says "before" and "after" to standard output, and "trouble" to standard error.
compare -r 3 -F 4000 --format json -o report -- "$target" spin 4000000 3 >out 2>err
ok "command: the status is its own" is $? 3
ok "command: what it prints is there once" is "$(<out)" $'before\nafter'
holds "command: cycles are compared" 'r["basis"] == "cycles" and not d["part"]'
holds "command: its loop has most of the time" 'r["measured"]["share"] > 0.5 and r["modelled"]["share"] > 0.9'
holds "command: three instructions a turn" 'r["modelled"]["instructions"] == 12000000'
holds "command: modelled, a multiplication is 3 cycles" 'abs(r["modelled"]["cycles"] / 4e6 - 3) < 0.1'
# However busy the machine is: what a VM has to share makes the core slower and not faster.
holds "command: measured, it is no less, and not twice as much" '2.7 < r["measured"]["cycles"] / 4e6 < 6'
holds "command: the interval is around the ratio" \
	'r["ratio"]["interval"][0] < r["ratio"]["value"] < r["ratio"]["interval"][1]'
holds "command: the ratio is that of the figures" \
	'abs(r["ratio"]["value"] - r["measured"]["cycles"] / r["modelled"]["cycles"]) < 1e-6'
holds "command: samples are added up" \
	'r["measured"]["runs"] == 3 and r["measured"]["samples"] <= d["coverage"]["samples"]'
holds "command: a row says what it is of" 'r["schema"] == "gusprof.compare/1" and r["host"]["kernel"] and
	r["host"]["family"] is not None and r["table"]["name"] and r["table"]["files"] and
	r["program"]["command"][1] == "spin" and r["module"].endswith("traced-target")'
holds "command: figures have their evidence" '(r["measured"]["evidence"], r["modelled"]["evidence"],
	r["ratio"]["evidence"]) in (("inferred", "modelled", "modelled"), ("observed", "modelled", "modelled"))'
holds "command: time by verdict adds up" 'abs(sum(d["time"].values()) - 1) < 0.01'
holds "command: samples by instruction are those of the region" \
	'[sum(x["samples"] for x in y["instructions"]) == y["measured"]["samples"] for y in d["regions"][:1]] == [True]'
compare -r 1 --trace-options length=1000000 --format json -o report -- "$target" spin 4000000 0 >out 2>err
holds "a part of it: no cycles are compared" 'd["part"] and r["basis"] == "shares" and r["measured"]["cycles"] is None'
holds "a part of it: all of the time says nothing" 'r["verdict"] == "cannot tell"'

# As text and CSV.
compare -r 1 -o text -- "$target" spin 3000000 0 >out 2>err
ok "text: the loop has a row" \
	grep -qE ' (trust|doubtful|do not trust|cannot tell) +spin, loop at \+0x0  \[traced-target\]$' text
ok "text: its instructions stand below" grep -qE ' imul rax, rax$' text
ok "text: the whole has a verdict" grep -qE '^  verdict on the whole: ' text
ok "text: it says how cycles are known" grep -qE '^  cycles ' text
compare -r 1 --format csv -o rows.csv -- "$target" spin 3000000 0 >out 2>err
ok "CSV: all lines have as many fields" is "$(python3 -c '
import csv
print(len(set(len(x) for x in csv.reader(open("rows.csv")))))')" 1
ok "CSV: the loop has a line" grep -q '^"\?spin, loop at' rows.csv

# Standard input is read by all runs, if it is a file.
seq 5000 >numbers
compare -r 2 --format json -o report -- sh -c 'exec sort -n -r' <numbers >out 2>err
ok "input: the first run has all of it" is "$(wc -l <out)" 5000
holds "input: and so has the trace" 'w["modelled"]["instructions"] > 5000 * 20'

ok "input: of a file nothing is said" not says 'standard input' err
seq 5000 | compare -r 1 --format json -o report -- sh -c 'exec sort -n -r' >out 2>err
ok "input: of a pipe it is said that one run has it" \
	says "warning: standard input is a pipe, which can be read once: the first run of 'sh' has all of it" err
ok "input: and it has" is "$(wc -l <out)" 5000
compare -r 1 --format json -o report -- "$target" spin 1000 0 </dev/null >out 2>err
ok "input: of /dev/null nothing is said" not says 'standard input' err

# What fails, and what is too short, is not run again for samples: once it is recorded, and once traced.
compare --format json -o report -- sh -c 'echo x >>runs; exec "$0" spin 4000000 3' "$target" >out 2>err
ok "a command that fails: the status is its own" is $? 3
ok "a command that fails: it is recorded once" is "$(wc -l <runs)" 2
ok "a command that fails: it is said" says 'ended with status 3, so it is not recorded again'
rm runs
compare --format json -o report -- sh -c '"$0" spin 4000000 0; kill -SEGV $$' "$target" >out 2>err
ok "a command that crashes: it is said by what" says 'ended with status 139, as by signal 11 (Segmentation fault), so'
compare -F 1 -- sh -c 'echo x >>runs' >out 2>err
ok "no sample: the status" is $? 125
ok "no sample: it is run once" is "$(wc -l <runs)" 1
ok "no sample: it says why" says 'has no sample, so it is not run again'

# Of a run of half a millisecond there are a few samples, and nothing is told by them: not of the whole, either. There
# is no report where none was in code that was traced.
rm -f report
compare -r 20 --format json -o report -- "$(command -v true)" >out 2>err
[[ -e report ]] || ok "a short run: a report, or a reason" grep -qE 'samples of the recording|has no sample' err
[[ -e report ]] && holds "a short run: without verdicts there is none of the whole" \
	'd["time"]["cannot tell"] <= 0.5 or w["verdict"] == "cannot tell" or
	w["ratio"]["interval"][1] <= 1.3 * w["ratio"]["interval"][0]'

# A recording with a trace; and one whose trace is a file of its own.
"$GUSPROF" record -q -F 4000 --trace qemu -o both.data -- "$target" spin 20000000 0 >out 2>err
compare --format json -o report -i both.data >out 2>err
holds "recording: it is a part, and shares are compared" 'd["part"] and r["basis"] == "shares"'
compare --format json -o report -i - <both.data >out 2>err
holds "recording: from a pipe" 'r["measured"]["samples"] > 0'
"$GUSPROF" record -q -F 4000 -o plain.data -- "$target" spin 3000000 0 >out 2>err
qemu-x86_64 -plugin "$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so,out=apart.trace" "$target" spin 3000000 0 >out 2>err
compare --format json -o report -i plain.data --trace apart.trace >out 2>err
holds "trace apart: it is all of the run" \
	'not d["part"] and r["basis"] == "cycles" and 2.7 < r["measured"]["cycles"] / 3e6 < 9'

# Who ends it while it records ends the command: with a signal to it alone, as with one that it can do nothing about.
gone() { ! kill -0 "$1" 2>/dev/null || [[ $(ps -o stat= -p "$1") == Z* ]]; }
ignored=$((16#$(sed -n 's/^SigIgn:\t//p' /proc/self/status)))
for number in 15 2 1 9; do
	if ((ignored >> number - 1 & 1)); then
		echo "# signal $number: who started the tests has it ignored"
		continue
	fi
	rm -f pid
	# In a group of its own, as from a shell with job control.
	setsid bash -c 'exec "$0" compare --uarch '$table' -r 2 -o report -- sh -c "echo \$\$ >pid.new; mv pid.new pid
		while :; do :; done"' "$GUSPROF" >out 2>err &
	children=$!
	wait_for test -s pid
	children="$children $(<pid)"
	kill -$number ${children% *}
	wait ${children% *} 2>/dev/null
	ok "signal $number: it ends it" is $? $((128 + number))
	tries=0
	until gone "$(<pid)" || [[ $((tries++)) -gt 200 ]]; do sleep 0.05; done
	ok "signal $number: and the command" gone "$(<pid)"
	kill -KILL "$(<pid)" 2>/dev/null
	children=
done

# So few windows that a ratio may be anything: no interval stands there as if it were known, and it says what would tell
# more. The first of two loops has half of the time, and a window is in one of them.
sh -c 'while :; do :; done' &
children=$!
run_on $children 5
compare --duration 1 --snapshots 2 --window 1000 -o text -p $children >out 2>err
ok "few windows: it says how many" grep -qE '^  modelled .* instructions in [12] windows?, ' text
ok "few windows: nothing is known from 0 on" not grep -qE '^ +[0-9.]+% +[0-9.]+% +[0-9.]+ +0\.00 +[1-9]' text
ok "few windows: it says what would tell more" eval \
	'grep -q -e "--snapshots 8 --duration 4" text || grep -q "nothing beside it" text'
ok "it says what the columns are" grep -q 'ratio is measured over modelled cycles' text
kill -KILL $children
wait $children 2>/dev/null
children=

# A process.
sh -c 'while :; do :; done' &
children=$!
run_on $children 5
compare --duration 1 --snapshots 3 --format json -o report -p $children >out 2>err
holds "process: it is sampled while it is traced" \
	'w["program"]["pid"] and w["measured"]["samples"] > 0 and d["part"] and w["basis"] == "shares"'
kill -KILL $children
wait $children 2>/dev/null
"$target" nest 10000000 0 >/dev/null 2>&1 &
spinning=$!
children="$children $spinning"
run_on $spinning 5
compare --duration 1 --snapshots 3 --format json -o report -p $spinning >out 2>err
holds "process of one loop: there is nothing to hold it against" '[x["function"] == "nest" and
	x["ratio"]["value"] is None and x["ratio"]["interval"] is None and x["verdict"] == "cannot tell" and
	"nothing beside it" in x["explanation"][0] for x in d["regions"][:1]] == [True]'
ok "process of one loop: the whole says what would tell more" grep -q 'takes cycles, so the trace of a whole run' report
compare --duration 1 --snapshots 3 --format csv -o rows.csv -p $spinning >out 2>err
ok "process of one loop: its fields are empty in CSV" grep -qE '^"?nest, loop.*,,,,cannot tell,shares' rows.csv
kill -KILL $spinning
wait $spinning 2>/dev/null

# What cannot be compared.
refuses "a process that is gone" 244 'does not exist, or has ended' -p $spinning
refuses "a recording without a trace" 125 'has neither a trace nor snapshots' -i plain.data
"$GUSPROF" record -q -o other.data -- awk 'BEGIN { while (i < 2e6) i++ }' >out 2>err
refuses "a trace of another program" 125 'only [0-9]+ of the [0-9]+ samples' -i other.data --trace apart.trace
head -c 100 both.data >cut.data
refuses "a recording that is cut in its header" 125 '' -i cut.data
refuses "no such CPU" 129 'neither a CPU nor a file called nowhere' --uarch nowhere -- "$target" spin 1000 0
printf '#!/nowhere/interpreter\n' >script
chmod +x script
refuses "a script without its interpreter" 125 '/nowhere/interpreter does not exist' -- ./script
refuses "no recording" 125 'nowhere.data' -i nowhere.data
refuses "no trace" 125 'nowhere.trace' -i plain.data --trace nowhere.trace
refuses "another architecture" 125 'arm64|aarch64' --uarch neoverse-n1 -- "$target" spin 1000 0
refuses "no emulator" 125 'cannot trace' --emulator /nowhere/qemu -- "$target" spin 1000 0
refuses "no command" 255 'nowhere' -- /nowhere/command
refuses "two inputs" 129 '' -i both.data -p 1
size=$(wc -c <both.data)
head -c $((size * 3 / 4)) both.data >cut.data
timeout 120 "$GUSPROF" compare -i cut.data >out 2>err
ok "a recording that is cut: a report, or one line" eval '[ -s out ] || [ "$(wc -l <err)" = 1 ]'
finish
