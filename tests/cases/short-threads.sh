#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that live in threads of milliseconds, which end before they are sampled: shares are right where the CPUs may
# be sampled, and elsewhere the interval holds the truth and a warning says what to do. What no sample stands for is
# said to be that only where it is that. Programs that the kernel takes away from us as they are executed.
. "$(dirname "$0")/lib.sh"
shown='err figures'
builddir=${GUS_BUILDDIR:?}
threads=$builddir/tests/cases/short-threads

skip_unless_root() { [[ $(id -u) == 0 ]] || skip "the CPUs may be sampled by root only: $1"; }

# figures FILE: share, low and high of rare, weight, counted, unsampled, and how many warnings of it
figures()
{
	"$gusprof" report --format json "$1" 2>/dev/null | python3 -c '
import json, sys
r = json.load(sys.stdin)
rows = [row for row in r["rows"] if row["function"] == "rare"]
row = rows[0] if rows else {"share": 0, "ci95": [0, 1]}
c = r["recording"]
print(row["share"], *row["ci95"], r["total"]["weight"], c["counted"], c.get("unsampled", 0),
      sum("tasks ended before" in n for n in c["notices"]))' >figures
}
# holds EXPRESSION: of these, by name, and of truth, the true share of rare
holds()
{
	awk -v truth="$truth" "{ share = \$1; low = \$2; high = \$3; weight = \$4; counted = \$5; unsampled = \$6
		warned = \$7; held = ($1) }
		END { exit !held }" figures
}
# record THREADS long|short OPTION...: launched. truth is what the threads say themselves.
launched()
{
	local n=$1 mode=$2
	shift 2
	echo | "${run_as[@]}" "$program" record --trace off "$@" -o data -- "$threads" "$n" "$mode" >spent 2>err
	status=$?
	truth=$(awk '{ print $1 / $3 }' spent)
	figures data
}
# The same program, watched from outside.
attached()
{
	local n=$1 mode=$2 target
	shift 2
	rm -f go && mkfifo go
	"$threads" "$n" "$mode" <go >spent &
	target=$!
	children="$children $target"
	exec 5>go
	: >err
	"$gusprof" record --trace off "$@" -p "$target" -o data 2>err &
	recorder=$!
	children="$children $recorder"
	wait_for grep -q sampling err
	sleep 0.2
	echo >&5
	exec 5>&-
	wait "$recorder"
	status=$?
	truth=$(awk '{ print $1 / $3 }' spent)
	figures data
}
program=$gusprof
run_as=()

"$gusprof" record -q -o data -- true 2>err
skip_if_refused $?
skip_unless_root "figures of --sample-cpus"

# A period of 10 ms, and most of the threads are shorter. All that matters is what is not chance: a share that is far
# off, or much that stands for nothing. (An interval of 95 % may miss the truth by a little once in twenty times. With
# 230 samples of long ones, or 430 of short ones, the share has a standard deviation of 0.013 or 0.014, and an interval
# goes down by 0.035 or 0.03; with 0.04 more it is five of these. A share of nothing is still beyond that.)
launched 300 long -F 99
ok "launched: ends as the command does" is $status 0
ok "launched, -F 99: the interval has the truth" holds 'low - 0.04 < truth && truth < high + 0.04'
ok "the samples stand for most of the time" holds 'weight > 0.75 * counted && unsampled < 0.15 * counted'
ok "the interval is no wider than that" holds 'high - low < 0.25'
ok "since when it is CPUs that are sampled is recorded" eval '"$gusprof" dump data | grep -q "sample-cpus"'
attached 600 short -F 99
ok "attached, -F 99: the interval has the truth" holds 'low - 0.04 < truth && truth < high + 0.04'
ok "the samples stand for most of the time" holds 'weight > 0.75 * counted && unsampled < 0.15 * counted'

launched 300 long -F 99 --sample-cpus=always
ok "from the beginning: nothing is missed" holds 'unsampled == 0 && weight > 0.8 * counted && weight < 1.2 * counted'
ok "the interval has the truth" holds 'low - 0.04 < truth && truth < high + 0.04 && !warned'
ok "all samples are of the program" is "$("$gusprof" dump data |
	sed -n 's/.* sample cpu .* pid \([0-9]*\) .*/\1/p' | sort -u | wc -l)" 1

launched 300 long -F 99 --sample-cpus=never
ok "never: much stands for nothing" holds 'unsampled > 0.3 * counted'
ok "the interval has the truth, and all that may be" holds 'low < truth && truth < high &&
	high - low > unsampled / counted'
ok "the report warns" holds 'warned == 1'
ok "the recorder warns, and says what to do" says 'Without --sample-cpus=never it would be less'

# What else runs is left out, and what it costs is bound.
"$threads" 100000 long <<<"" >/dev/null &
stranger=$!
children="$children $stranger"
launched 100 long -F 999 --sample-cpus=always -v
ok "beside another of its kind: the interval has the truth" holds 'low - 0.04 < truth && truth < high + 0.04'
ok "and all its time" holds 'weight > 0.8 * counted && weight < 1.2 * counted'
ok "the other one's samples are counted and not kept" says "none of the target's and are not kept"
kill "$stranger"

# Options that it cannot be right with.
for bad in "--overwrite -- true" "-C 0 -- true" "-a -- true" "-t $$ -- true"; do
	# shellcheck disable=SC2086 # the options are words
	"$gusprof" record --sample-cpus=always $bad >out 2>err
	ok "not with $bad" is $? 129
done

# Children in processes of their own, and a program that a thread executes.
"$gusprof" record --trace off -F 999 --sample-cpus=always -g -o data -- sh -c 'for i in 1 2 3; do
	sh -c "i=0; while [ \$i -lt 60000 ]; do i=\$((i+1)); done"; done' 2>err
figures data
ok "children of children belong to it" holds 'weight > 0.75 * counted && weight < 1.25 * counted'

# A single task that others take turns with loses nothing that would be worth a word: half a period with each turn of
# 3 ms would be a sixth. Some hundredths are lost where a hypervisor takes the CPU away, as the timer is late then.
cat >spin.sh <<'S'
i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done
S
others=()
for i in $(seq $(($(nproc) * 5))); do
	sh -c 'while :; do :; done' &
	others+=($!)
	children="$children $!"
done
"$gusprof" record --trace off -F 999 -o data -- sh spin.sh 2>err
kill "${others[@]}"
figures data
ok "under load the samples stand for what was counted" holds 'weight > 0.925 * counted'
ok "and nothing is said of tasks that ended" holds '!warned && unsampled < 0.02 * counted'
"$gusprof" record -a -o data -- sleep 0.5 2>err
"$gusprof" report data >out 2>&1
ok "idle CPUs are no tasks that ended" eval '! grep -q "ended before" out err'

# Another user: the kernel is not theirs, and the CPUs are not.
as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
chmod 755 "$work"
cp "$gusprof" "$work/gusprof" && cp "$threads" "$work/threads"
threads=$work/threads
mkdir box && chmod 1777 box && cd box || exit 1
program=$work/gusprof
run_as=("${as[@]}")
"${as[@]}" "$program" record -q -o data -- true 2>err
if [[ $? == 125 ]]; then
	echo "skipped: what users without rights see: $(cat err)"
	finish
fi
launched 200 long -F 99
truth=$(awk '{ print $1 / ($1 + $2) }' spent) # the kernel's time is left out
ok "without rights: the interval has the truth" holds 'low - 0.04 < truth && truth < high + 0.04'
ok "what is missing is known" holds 'unsampled > 0.3 * counted && warned == 1'
ok "the recorder says what to do" says 'Use --sample-cpus=always, which takes root, CAP_PERFMON'
# A period of 125 ms, six times the longest thread: a hypervisor takes the CPU away from some of them.
launched 400 long -F 8
ok "without a single sample: not that it took too little time" eval '! grep -q "too little CPU time" err'
ok "but that its tasks ended before" says 'tasks ended before they were sampled: up to \(100\|9[0-9]\) %'
"$gusprof" report data >out 2>&1
ok "nor in the report" eval '! grep -q "too short" out && grep -q "ended before" out'
"${as[@]}" "$program" record --sample-cpus=always -o data2 -- true >out 2>err
ok "always: refused in a sentence" is "$? $(grep -c '^gusprof: ' err)" "125 1"
ok "that says what to do" says 'perf_event_paranoid to 0, get CAP_PERFMON or run gusprof as root, or leave out'

# Programs with other rights: the kernel takes its events off them.
rm -f data*
cp "$(command -v sh)" "$work/box/set-uid" && chmod 4755 "$work/box/set-uid"
cp "$(command -v sh)" "$work/box/no-read" && chmod 711 "$work/box/no-read"
busy='i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'
for how in set-uid no-read; do
	"${as[@]}" "$program" record -o data -- "./$how" -c "$busy" >out 2>err
	ok "$how: nothing could be recorded, and the status says so" is $? 125
	ok "$how: said why" says "the kernel took the events off '$how'"
	ok "$how: not that it was too short" eval '! grep -q "too little CPU time" err'
	ok "$how: no cost beyond 100 %" eval '! grep -qE "cost about [0-9]{3,}" err'
	"${as[@]}" "$program" report data >out 2>&1
	ok "$how: nor in the report" eval '! grep -qE "about [0-9]{3,}" out'
	"${as[@]}" "$program" record -o data -- "./$how" -c "exit 3" >out 2>err
	ok "$how: the command's own failure counts more" is $? 3
done
"${as[@]}" "$program" record --trace off -F 1000 -o data -- sh -c "./set-uid -c '$busy'; $busy; $busy; $busy; $busy" \
	>out 2>err
ok "what ran beside it was recorded" eval 'is $? 0 && ! grep -q "\[ 0 samples" err'
ok "and what was not is said" says "the kernel took the events off 'set-uid'"
"${as[@]}" "$program" record --trace off -o data -- sh -c "sh -c '$busy'; exec sh -c '$busy'" >out 2>err
ok "not of programs with our own rights" eval '! grep -q "took the events" err'
finish
