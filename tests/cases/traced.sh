#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof model of what is executed: a command under the emulator, a trace in a file, a process that runs. The program's
# functions have a known number of instructions, strides and dependences.
. "$(dirname "$0")/lib.sh"
set -o pipefail
plugin=$GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so target=$GUS_BUILDDIR/tests/cases/traced-target
sums=$GUS_BUILDDIR/tests/cases/trace-sums replayed=$GUS_BUILDDIR/tests/cases/replay-target
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $plugin ]] || skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
[[ -x $target ]] || skip "the programs to trace are for x86-64"
command -v nm >/dev/null || skip "nm is not installed (package binutils)"
command -v python3 >/dev/null || skip "python3 is not installed"
pid=
cleanup() { [[ -z $pid ]] || kill -KILL $pid; }
qemu-x86_64 -plugin "$plugin,out=probe" "$target" spin 1 0 >out 2>&1 ||
	{ grep -qiE 'version|api' out && skip "this QEMU does not take plugins of version 1: $(head -n 1 out)"
	cat out; exit 1; }

# model STATUS ARGUMENT...: what it prints is in "out", and ends with that status.
model()
{
	local wanted=$1 status
	shift
	"$GUSPROF" model --uarch skylake "$@" >out 2>err
	status=$?
	[[ $status == "$wanted" ]] || { problem "model $*: status $status, not $wanted"; head -n 3 err; }
}

# holds WHAT CONDITION: it does for the JSON in "out", which is m; r has its regions by function.
holds()
{
	python3 - "$1" "$2" <<'P' || problem "$1"
import json, sys
m = json.load(open("out"))
r = {}
for one in m["regions"]:
    r.setdefault(one["function"], []).append(one)
near = lambda a, b: abs(a - b) <= 1e-6 * max(abs(a), abs(b))
if not eval(sys.argv[2]):
    print({k: v for k, v in m.items() if not isinstance(v, (list, dict))})
    sys.exit(1)
P
}

# refuse STATUS PATTERN ARGUMENT...: one line on standard error that matches, nothing on standard output.
refuse()
{
	local wanted=$1 pattern=$2
	shift 2
	model "$wanted" "$@"
	[[ -s out ]] && { problem "$*: something is on standard output"; head -n 3 out; }
	[[ $(wc -l <err) == 1 ]] && grep -qE -- "^gusprof: .*$pattern" err ||
		{ problem "$*: it is told"; head -n 5 err; }
}

# Addresses of a function, as the plugin takes them.
range_of() { nm -S "$target" | awk -v name="$1" '$4 == name { print $1, $2 }' |
	{ read -r a n; printf 'range=%x-%x' $((0x$a)) $((0x$a + 0x$n)); }; }

# A command: its status is ours, and so is its trouble. Where its output goes and where ours, model-output.sh has.
model 3 -o - -- "$target" spin 100000 3
[[ $(sort err) == "after"$'\n'"before"$'\n'"trouble" ]] ||
	{ problem "nothing but what the command says is on standard error"; cat err; }
expect "the loop is first" '^ +[0-9]+\.[0-9]+% .*  spin, loop at \+0x0  \[traced-target\]$'
[[ $(grep -A 1 ' region$' out | tail -n 1) == *spin,\ loop* ]] || problem "no region is before it"
expect "its instruction, which takes the time" '^ +[0-9a-f]+ +100000 +[0-9.]+% .*imul rax, rax$'
[[ $(grep -A 1 'more of$' out | tail -n 1) == '  latency mul '* ]] || problem "its latency is what would help most"

# A region may lose by more of something, as it waits then for what another one waited for before: that is no gain to
# be shown, and the whole does not lose.
model 3 -o - --rows 100000 -- "$target" spin 1000 3
grep -E '%  [a-z][^%]* -[0-9.]+%' out && problem "a negative gain is shown"
expect "what nothing helps alone has no gain" '  nothing alone +-  '
expect "an IPC above the width is explained" '^  an IPC above 4, which are issued in a cycle: '
model 3 -o - --format json -- "$target" spin 1000 3
holds "in JSON it is there" 'min(v for x in m["regions"] for v in x["sensitivity"].values()) < -0.001'
holds "the whole does not lose" 'min(m["sensitivity"].values()) > -0.001'
holds "what an IPC above the width has: fused pairs" \
	'all(x["slots"] + x["fused"] >= x["instructions"] for x in m["regions"] if x["ipc"]) and m["issue_width"] == 4'

# Only the function: 300,001 instructions, three cycles a turn, and the multiplication 15 % faster.
model 0 -o - --format json --trace-options "$(range_of spin)" --warm-up 30000 -- "$target" spin 100000 0
holds "instructions after the warm-up" 'm["instructions"] + m["warm_up"] == 300001 and 30000 <= m["warm_up"] < 30100'
holds "cycles, and what its return waits for" '0 <= m["cycles"] - m["instructions"] < 400'
holds "those of an instruction are of what is counted" \
	'near(sum(i["cycles"] or 0 for x in m["regions"] for i in x["rows"]), m["cycles"])'
holds "and so are what it holds up" \
	'near(sum(i["holds_up"] or 0 for x in m["regions"] for i in x["rows"]), m["cycles"])'
holds "its sensitivity" 'abs(m["sensitivity"]["latency mul"] - 0.15) < 0.001'
holds "no other knob gains" 'all(abs(v) < 0.001 for k, v in m["sensitivity"].items() if k != "latency mul")'
refuse 125 'the warm-up of 1000000 instructions is longer' --warm-up 1000000 -i probe

# Both engines on what is hot: a chain is the same to both; a scheduler of one entry for integers is the core engine's
# alone. What is left soon is not compared, nor is anything if that is not asked for.
model 3 -o - --engine both -- "$target" spin 100000 3
expect "they agree" '^  they agree within 10% on 1$'
model 3 -o - --engine both --set rs_int=1 -- "$target" spin 100000 3
expect "they differ, and by what" '^ +4\.[0-9]+ +3\.0[0-9] +-[0-9.]+%  parts of the scheduler +spin, loop at \+0x0$'
model 3 -o - --engine both -- "$target" spin 100 3
expect "it is left too soon" '^  there is none that goes round for long without leaving$'
model 3 -o - --format json --engine both --set rs_int=1 -- "$target" spin 100000 3
holds "in JSON" 'r["spin"][0]["engines"]["reason"] == "parts of the scheduler"'
holds "cycles of the other" 'abs(r["spin"][0]["engines"]["stream"] - 3) < 0.05'
holds "how far" 'm["engine"] == "both" and r["spin"][0]["engines"]["difference"] < -0.2'
model 3 -o - --format json -- "$target" spin 100000 3
holds "not without the option" 'm["engine"] == "stream" and all(x["engines"] is None for x in m["regions"])'

# A file and a command: the same trace, the same numbers.
options=$(range_of carry)
model 0 -o - --format json --memory --interval --trace-options "$options" -- "$target" carry 2000 0
cp out live
qemu-x86_64 -cpu max -plugin "$plugin,out=t,$options" "$target" carry 2000 0 >/dev/null 2>&1
model 0 --format json --memory --interval -i t
alike='import json, sys
m = json.load(sys.stdin)
del m["command"], m["input"], m["programs"]
print(json.dumps(m, indent=1))'
diff <(python3 -c "$alike" <live) <(python3 -c "$alike" <out) >differ ||
	{ problem "a file and a command differ"; head -n 10 differ; }
holds "as many instructions as the trace has" \
	"m['instructions'] == 12001 == $("$sums" t | sed -nE 's/^target.* instructions ([0-9]+) .*/\1/p')"
holds "all are in regions" 'sum(x["instructions"] for x in m["regions"]) == m["instructions"]'
for what in cycles cycles_if_warm; do
	holds "so is the time ($what)" "near(sum(x['$what'] for x in m['regions']), m['$what'])"
done
holds "an interval has two ends" '0 < m["cycles_if_warm"] < m["cycles"]'
holds "accesses" 'm["memory"]["accesses"] == 4001 == sum(m["memory"][k] for k in ("L1", "L2", "L3", "memory"))'
holds "branches" \
	'm["branches"]["executed"] == 2000 and m["branches"]["taken"] == 1999 and m["branches_of_unknown_way"] == 1'
holds "what was stored is loaded one turn later" \
	'[(p["times"], p["iterations"][1], p["farther"], p["outside"]) for p in m["dependences"]["pairs"]]'\
' == [(1999, 1999, 0, 0)]'
holds "each has a stride" \
	'[(g["stride"], g["stride_times"]) for g in m["access_groups"] if g["accesses"] == 2000] == [(8, 1999)] * 2'
holds "a chain through memory takes what forwarding takes, with warm caches" 'm["cycles_if_warm"] / 2000 > 4.5'
holds "keys do not vanish" \
	'm["phases"] is None and m["windows"] is None and m["inferred"] is None and m["trouble"] is None'
model 0 -o - --format json --warm-up 12001 --trace-options "$options" -- "$target" carry 2000 0 2
holds "a chain through memory is limited by forwarding, the second time" \
	'max(m["sensitivity"], key=m["sensitivity"].get) == "store forwarding" and m["cycles"] / 2000 > 4.5'
holds "the first time was the warm-up" 'm["warm_up"] == 12001 == m["instructions"]'
model 0 --format json -i t
holds "what was not asked for is null" \
	'm["access_groups"] is None and m["dependences"] is None and m["cycles_if_warm"] is None'
model 0 --memory --interval --phases -i t
expect "dependences are in the text" ' 1999   1: carried by the loop$'
expect "and phases" '^Phases \([0-9]+ bins of '
expect "and the interval" '^  as if the caches had been empty; from .* cycles on if all that was touched for the '
model 0 -o - --memory --trace-options "$(range_of stride)" -- "$target" stride 500 0
expect "a stride" '^ +[0-9a-f]+ +500       24 \(100%\)'

# A trace that ends too soon is said to, and told as far as it goes.
qemu-x86_64 -cpu max -plugin "$plugin,out=long,plain=on" "$target" spin 200000 0 >/dev/null 2>&1
head -c -300 long >cut
model 0 -i cut
expect "a cut trace" '^The trace is not whole: cut was cut: it ends at offset [0-9]+'
expect "is told all the same" '  spin, loop at \+0x0  \[traced-target\]$'
model 0 --format json -i cut
holds "and as JSON" 'm["trouble"].startswith("cut was cut") and 0 < m["instructions"] < 900000'
head -c 40 long >cut
refuse 125 'cut .*cut' -i cut
model 143 -o - -- "$target" die 100 0
expect "a command that dies of a signal" '^The trace is not whole: '

# The core engine beside: its cycles have the regions between them, and its stacks all that it ran.
model 0 --engine core --lanes all --rows 100000 --format json -i long
holds "the core engine's regions add up" '(near(sum(o["core_cycles"] for o in m["regions"]), m["core_cycles"]) and
	m["engine"] == "core" and near(m["core_ipc"], m["instructions"] / m["core_cycles"]))'
holds "and its stacks" 'abs(sum(sum(s.values()) for s in m["core_stack"].values()) - m["core_ran"]) < 1000'
holds "each instruction has its own" 'near(sum(sum(s.values()) for o in m["regions"] for i in o["rows"]
	if i["core_stack"] for s in i["core_stack"].values()), sum(sum(s.values()) for s in m["core_stack"].values()))'
holds "and both engines agree on a loop of one dependence" 'abs(m["cycles"] / m["core_cycles"] - 1) < 0.1'
model 0 --engine core -i long
expect "in the text" '^  by the core engine [0-9.]+ k cycles, [0-9.]+ instructions a cycle: the stream engine is '
expect "what retirement did" '^  stalled +[0-9.]+%'
model 0 --format json -i long
holds "without it nothing is told of it" \
	'm["core_cycles"] is None and m["core_stack"] is None and m["engine"] == "stream"'

# What cannot be run or makes no sense.
printf '#!/nonexistent/interpreter -x\n' >script
echo text >text
chmod +x script text
refuse 255 "cannot start ''" -- ''
refuse 125 "cannot trace './script': /nonexistent/interpreter does not exist" -- ./script
refuse 125 "cannot trace './text': it is no ELF program" -- ./text
refuse 255 "cannot start './probe': Permission denied" -- ./probe
refuse 255 "cannot start './nothing': No such file" -- ./nothing
refuse 125 'there is no /nonexistent; install QEMU' --emulator /nonexistent -- "$target" spin 1 0
refuse 125 'the emulator true ended before the command began' --emulator true -- "$target" spin 1 0
refuse 125 'of x86_64, and neoverse-n1 is a CPU of arm64; name another one with --uarch' \
	--uarch neoverse-n1 -- "$target" spin 1 0
refuse 125 'of x86_64, and neoverse-n1 is a CPU of arm64; name another one with --uarch' --uarch neoverse-n1 -i t
refuse 125 'cannot open the recording nothing: No such file' -i nothing
refuse 125 'script is neither a recording of gusprof nor of perf' -i script
for words in "--interval" "--warm-up 10" "--phases" "--memory" "--rows 3" "--emulator x" "--trace-options x"; do
	refuse 129 "${words%% *} is for a command .--..*; here the input is a block .--block." $words --block 90
done
for words in "--costs" "--timeline" "--variant FP" "--reach 10" "--unrolled" "--iterations 3" "--fetch ideal" \
	"--pointers equal" "--data L2"; do
	refuse 129 "${words%% *} is for a block .--block..*; here the input is a command .--." $words \
		-- "$target" spin 1 0
done
for words in "--tid 3" "--snapshots 3" "--spread 3" "--window 3" "--max-memory 3M"; do
	refuse 129 "${words%% *} is for a process .-p.; here the input is a file .-i." $words -i t
done
refuse 129 'a command .--. and a file .-i. exclude each other' -i t -- "$target" spin 1 0
refuse 129 'a process .-p. and a file .-i. exclude each other' -i t -p 1
refuse 129 '--trace-options is for a command .--.; here the input is a process' -p 1 --trace-options start=1
refuse 129 '--emulator is for a command .--. or a process .-p.; here' -i t --emulator x
refuse 129 '--sensitivity 15,100 is for .*: what was executed takes one percentage' -i t --sensitivity=15,100
refuse 129 '--format csv is for a block .*; here the input is a file' -i t --format csv

refuse 129 '--timing is for a block .*; here the input is a file' --timing -i t

# What a trace says of itself.
qemu-x86_64 -cpu max -plugin "$plugin,out=full,max=40000" "$target" spin 300000 0 >/dev/null 2>&1
model 0 -i full
expect "a trace that is full" '^The trace has stopped to grow before the program ended'
model 0 --format json -i full
holds "so does JSON" 'm["full"] is True and m["omitted_accesses"] == 0'
qemu-x86_64 -cpu max -plugin "$plugin,out=child" "$GUS_BUILDDIR/tests/cases/trace-threads" >/dev/null 2>&1
model 0 -i child
expect "a child that is not in it" '^Of the trace: .*fork'

# Samples are of the region that their cycles are of, also where it is fallen into from around it.
"$GUSPROF" record -q -F 500 --trace qemu --trace-window 400000 -o nest -- "$target" nest 20000 0 >/dev/null 2>err ||
	{ problem "a recording with windows"; head -n 3 err; }
model 0 --format json -i nest
holds "samples of a loop in a loop" \
	'max(r["nest"], key=lambda x: x["cycles"])["samples"] > 0.9 * m["windows"]["samples"] > 20'

# A process. Its own caches were warm.
model 0 --format json --trace-options start=1000,length=2000 -o - -- "$target" spin 1000 0
holds "what is in a window begins with warm caches" \
	'm["caches"] == "warm" and m["cycles"] == m["cycles_if_warm"] < m["cycles_if_cold"]'
model 0 --format json --interval -o - -- "$target" spin 1000 0
holds "and what has a beginning with cold ones" \
	'm["caches"] == "cold" and m["cycles"] == m["cycles_if_cold"] > m["cycles_if_warm"]'
refuse 244 'process 999999999: it does not exist' -p 999999999
python3 -c 'import os, time; child = os.fork() or os._exit(0); print(child, flush=True); time.sleep(60)' >zombie &
pid=$!
for ((i = 0; i < 500; i++)); do # a parent that waits for nobody; a shell might before it becomes another program
	[[ -s zombie && $(ps -o state= -p "$(<zombie)") == Z ]] && break
	sleep 0.02
done
refuse 244 'a zombie' -p "$(<zombie)"
kill "$pid"
wait "$pid" 2>/dev/null
pid=
"$replayed" plain 3000000 >/dev/null 2>wanted &
pid=$!
sleep 0.2
model 0 -p $pid --snapshots 2 --spread 100 --window 50000
wait $pid || problem "the target ends with status $?"
pid=
"$replayed" plain 3000000 >/dev/null 2>alone
cmp wanted alone || problem "the target's sum is another one"
expect "a process" '^process [0-9]+ on skylake '
expect "its caches" '^  as if all that was touched .* had been in the caches; up to [0-9.]+ [kM] cycles if nothing had$'
expect "its windows" '^  2 windows of up to 50\.0 k instructions each, .* stood still for [0-9.]+ ms at most'
expect "what they are about" \
	'^  (9[0-9]|100)\.[0-9]% of the [0-9]+ samples taken meanwhile are of code that the windows have$'
expect "where it was" '  plain, loop at \+0x[0-9a-f]+  \[replay-target\]$'

# Whatever ends it leaves no recorder behind, which would write for as long as the process runs, and no file with the
# process's memory in it either.
mkdir tmp
ours() { grep -lsz "^GUS_TEST_MARK=$1\$" /proc/[0-9]*/environ | grep -c .; } # processes that have begun with the mark
several() { [[ $(ours "$1") -gt 1 ]]; }
none() { [[ $(ours "$1") == 0 ]]; }
"$replayed" plain 1000000000 >/dev/null 2>&1 &
pid=$!
for signal in INT HUP TERM QUIT KILL; do
	# Who began us may have told that signals be ignored, as nohup does, and it would ignore them as well.
	GUS_TEST_MARK=$signal.$$ TMPDIR=$PWD/tmp env --default-signal=INT,HUP,TERM,QUIT "$GUSPROF" model \
		--uarch skylake -p $pid --snapshots 60 --spread 100 >out 2>&1 &
	model=$!
	wait_for several $signal.$$ || problem "SIG$signal: nobody samples"
	sleep 0.3
	kill -$signal $model
	[[ $signal == KILL ]] || kill -$signal $model 2>/dev/null # as timeout does
	wait $model 2>/dev/null
	[[ $? == $((128 + $(kill -l $signal))) ]] || problem "SIG$signal: another status"
	wait_for none $signal.$$ || problem "SIG$signal: $(ours $signal.$$) processes go on"
	[[ -z $(ls tmp) ]] || problem "SIG$signal leaves $(ls tmp/*)"
done
kill -KILL $pid
wait $pid 2>/dev/null
pid=
((failed == 0))
