#!/bin/bash
# SPDX-License-Identifier: MIT
# Time off the CPU: a program that spends known times in known ways, each in a function of its own, says by its own
# clocks what it took; so does the report, launched and attached, and whatever it is asked for adds up.
. "$(dirname "$0")/lib.sh"
shown='err out truth'
builddir=${GUS_BUILDDIR:?}
target=$builddir/tests/cases/off-target

# holds FILE EXPRESSION [OPTION...]: in Python, of the report as JSON (r), the rows' ns with all that they call by
# function (total), without (own), what the program says (wall, cpu), and close(a, b): within 2 % and a millisecond.
holds()
{
	local file=$1 expression=$2
	shift 2
	"$gusprof" report -q --format json -g "$@" "$file" >json 2>out || return 1
	python3 - "$expression" <<'P' >>out
import json, sys
r = json.load(open("json"))
total, own, off = {}, {}, {}
for row in r["rows"]:
    name = row["function"]
    total[name] = total.get(name, 0) + row["total"]
    own[name] = own.get(name, 0) + row["weight"]
    off[name] = off.get(name, 0) + row["off"]["ns"]
    assert 0 <= row["off"]["waiting_ns"] <= row["off"]["ns"] <= row["weight"], row
wall, cpu = {}, {}
for line in open("truth"):
    name, w, c = line.split()
    wall[name], cpu[name] = int(w), int(c)
def close(a, b):
    return abs(a - b) <= 0.02 * b + 1e6
def sampled(a, b): # by a timer, which is late where a hypervisor takes the CPU
    return abs(a - b) <= 0.1 * b + 1e6
w = r["wall"]
assert w["wall_ns"] == w["on_ns"] + w["blocked_ns"] + w["waiting_ns"] + w["unknown_ns"], w
sys.exit(not eval("(" + sys.argv[1] + ")"))
P
}

"$gusprof" record -q -o data -- true 2>err
skip_if_refused $?
"$gusprof" record --off-cpu -o data -- true 2>err
grep -q 'may not record where' err && skip "this user may not sample where threads leave their CPU: $(cat err)"

# Launched.
what="sleeps:200 computes:300 reads_pipe:150 polls:100 selects:120 epolls:110 waits_for_lock:250
	waits_for_condition:130 is_stopped:140 syncs:100"
# shellcheck disable=SC2086 # these are words
"$gusprof" record --trace off --off-cpu -F 2000 -o data -- "$target" $what >truth 2>err
ok "the program ends as it does alone" is $? 0
for name in sleeps reads_pipe polls selects epolls waits_for_lock waits_for_condition is_stopped; do
	ok "launched: $name" holds data "close(off['$name'], wall['$name'] - cpu['$name'])" --off-cpu
done
ok "launched: computes, on a CPU and waiting for one" holds data "sampled(total['computes'], wall['computes'])" --wall
# What it has of a CPU is in pieces shorter than the period, so that is as uncertain as samples are.
ok "launched: syncs" holds data "abs(total['syncs'] - wall['syncs']) <=
	0.02 * wall['syncs'] + 1e6 + 5 * (0.5e6 * cpu['syncs']) ** 0.5" --wall
ok "what computes does not wait for anything" holds data \
	"sum(x['off']['ns'] - x['off']['waiting_ns'] for x in r['rows'] if x['function'] == 'computes') < 1e6" --off-cpu
ok "what sleeps does not wait for a CPU" holds data \
	"sum(x['off']['waiting_ns'] for x in r['rows'] if x['function'] == 'sleeps') < 1e6" --off-cpu
ok "all of the program's life is there" holds data "close(sum(wall.values()),
	sum(total[name] for name in wall))" --wall
ok "nothing is unknown" holds data "w['unknown_ns'] == 0 and w['nowhere_ns'] == 0" --wall
ok "rows add up to the whole" holds data "sum(own.values()) == r['total']['weight'] ==
	w['on_ns'] + w['blocked_ns'] + w['waiting_ns']" --wall
ok "those off the CPU, too" holds data "sum(own.values()) == r['total']['weight'] ==
	w['blocked_ns'] + w['waiting_ns']" --off-cpu
ok "by thread each adds up to its life" holds data "all(x['life']['wall_ns'] == x['weight'] ==
	x['life']['on_ns'] + x['off']['ns'] for x in r['rows'])" --wall --by thread
ok "what it says it weighs" holds data "r['weighs'] == 'off-cpu'" --off-cpu
ok "callers are those of the waiting function" holds data "[c['function'] for x in r['rows'] if x['function'] ==
	'sleeps' for c in x['callers']] == ['perform']" --off-cpu
ok "in the kernel: there it left its CPU" holds data "own['sleeps'] == 0 and
	close(total['sleeps'], wall['sleeps'] - cpu['sleeps'])" --off-cpu --kernel-ends
ok "of one function" holds data "[name for name in own if own[name]] == ['sleeps']" --off-cpu --symbol sleeps
ok "of part of the time no thread has more than that" holds data "0 < max(x['life']['wall_ns'] for x in r['rows']) <=
	0.1 * r['recording']['time_ns'] + 1e6" --wall --time 10%-20% --by thread
"$gusprof" report --off-cpu --format csv data >csv 2>err
ok "CSV has the times" eval 'head -1 csv | grep -q ",off_ns,waiting_ns,times_off,longest_off_ns$" &&
	grep ",sleeps," csv | grep -q ",1,[0-9]*$"'
"$gusprof" report --off-cpu data >text 2>err
ok "the text says on what the time went" grep -qE '^# .* of wall time: .* on a CPU, .* off it' text
"$gusprof" report --off-cpu --width 80 data >text2 2>err
sed 's/^#  *//' text2 | paste -sd ' ' >flat
ok "all of it, however narrow the terminal" grep -qF "$(sed '1!d;s/^# //' text)" flat
"$gusprof" report --off-cpu data >text2 2>err
ok "and the same each time" cmp -s text text2
for what in --off-cpu --wall; do
	"$gusprof" report $what -G --color never data >text 2>err
	ok "$what: a tree" grep -q ' sleeps' text
	ok "$what: what was measured has no interval of sampling" not grep -qE '95% interval|\.\. ' text
done
"$gusprof" report --off-cpu --wall data >out 2>err
ok "not both" is $? 129
"$gusprof" report data >out 2>err
ok "a plain report has the first event" grep -q 'computes' out

# The vfork of a program with sanitizers keeps its return address elsewhere than in the stack.
if ! grep -q __asan_init "$target"; then
	"$gusprof" record --trace off --off-cpu --call-graph tables -o data -- "$target" vforks:200 >truth 2>err
	ok "vfork: parent and child wait in the function that calls it" holds data \
		"0.98 * wall['vforks'] - 1e6 < total['vforks'] - 0.2e9" --off-cpu
fi

# What following switches costs is no matter of samples: the overhead asked for cannot be kept, and that is said.
cat >turns.py <<'P'
import os, sys
to, back = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(to[1])
    while os.read(to[0], 1):
        os.write(back[1], b"x")
    os._exit(0)
for i in range(int(sys.argv[1])):
    os.write(to[1], b"x")
    os.read(back[0], 1)
P
"$gusprof" record --trace off --off-cpu --overhead 0.01 -o data -- python3 turns.py 30000 >out 2>err
# What a switch costs is measured at the beginning, and may be lost in what else runs.
if "$gusprof" dump data | grep -qE 'switch_ns[: ]+[1-9][0-9]{2}'; then
	ok "it says before from how many switches on the overhead cannot be kept" \
		grep -qE 'a switch costs about [0-9]+ ns here.* beyond [0-9]+ of them a second .*--overhead cannot' err
	ok "and at the end that it was not, and why" \
		grep -qE 'overhead could not be kept: [0-9]{4,} switches a second of CPU time cost [0-9.]+ % alone' err
fi
"$gusprof" record --trace off --overhead 50 -o data -- python3 turns.py 100 >out 2>err
ok "nothing of that where it was kept, or nothing was asked about switches" not grep -qE 'overhead c' err

# Attached.
mkfifo go
"$target" -w sleeps:300 waits_for_lock:200 computes:200 <go >truth &
child=$!
children="$children $child"
exec 5>go
: >err
"$gusprof" record --trace off --off-cpu -F 2000 -p "$child" -o data 2>err &
recorder=$!
children="$children $recorder"
wait_for grep -q sampling err
sleep 0.4
echo >&5
exec 5>&-
wait "$recorder"
for name in sleeps waits_for_lock; do
	ok "attached: $name" holds data "close(off['$name'], wall['$name'] - cpu['$name'])" --off-cpu
done
ok "attached: computes" holds data "sampled(total['computes'], wall['computes'])" --wall
ok "attached: what was before is time at no place" holds data "w['before_ns'] > 0.2e9" --off-cpu
ok "all of the time is there" holds data "0.39e9 + sum(wall.values()) <
	max(x['life']['wall_ns'] for x in r['rows']) <= r['recording']['time_ns']" --wall --by thread

# Somebody who never runs, and who does so until the end: the recording's end takes time, which is nobody's.
sleep 5 &
"$gusprof" record --off-cpu -p $! -o data -- sleep 0.5 2>err
kill $!
wait $! 2>/dev/null
ok "who never ran is in no row" holds data "r['rows'] == [] and w['asleep'] == 1 and
	0.49e9 < w['asleep_ns'] <= r['recording']['time_ns']" --wall
"$gusprof" report --off-cpu data >out 2>err
ok "and is told" grep -q "1 thread never ran meanwhile" out

# More threads that compute than CPUs: they wait for their turns, for nothing else.
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
"$gusprof" record --trace off --off-cpu -o data -- taskset -c "$cpu" "$target" competes:300 >truth 2>err
ok "one CPU for four: each waits three quarters at least" holds data "close(w['on_ns'] + w['waiting_ns'], w['wall_ns'] -
	w['blocked_ns']) and 0.6 < w['waiting_ns'] / (w['on_ns'] + w['waiting_ns']) < 1" --wall

# Processes that execute and fork, and threads that end while others wait.
"$gusprof" record --trace off --off-cpu -o data -- sh -c 'sleep 0.2; (exec sleep 0.1); sh -c "sleep 0.15" & wait' 2>err
: >truth
ok "children: nothing is unknown, and each sleep is there" holds data "w['unknown_ns'] == 0 and
	0.449e9 < sum(x['off']['ns'] - x['off']['waiting_ns'] for x in r['rows'] if x['comm'] == 'sleep') < 0.85e9" \
	--off-cpu --by comm

# The whole system: idle CPUs are no thread.
if [[ $(id -u) == 0 ]]; then
	# Frame pointers: copies of all stacks, on a busy machine, may be more than rings hold.
	"$gusprof" record -a --off-cpu --call-graph fp -o data -- sleep 0.3 2>err
	ok "all CPUs: no idle time" holds data "not any(x['tid'] == 0 for x in r['rows']) and
		any(x['comm'] == 'sleep' and 0.28e9 < x['off']['ns'] for x in r['rows'])" --off-cpu --by thread
fi

# What does not fit, and what is not there.
for bad in "--overwrite -- true" "-C 0 -- true" "--no-switch-events -- true" "--call-graph none -- true" \
	"-e context-switches -- true"; do
	# shellcheck disable=SC2086 # the options are words
	"$gusprof" record --off-cpu $bad >out 2>err
	ok "not with $bad" is $? 129
done
"$gusprof" record -o data -- sleep 0.1 2>err
"$gusprof" report --off-cpu data >out 2>err
ok "without --off-cpu the places are not known, and that is told" grep -q 'where threads left their CPU was not' out
ok "but the times are" holds data "0.09e9 < w['blocked_ns']" --off-cpu
"$gusprof" record --no-switch-events -o data -- true 2>err
"$gusprof" report --off-cpu data >out 2>err
status=$?
ok "without switches: an error" eval 'is $status 125 && says "has no context switches"'

# A user who may not sample the kernel: times by thread.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [[ $(id -u) == 0 && $paranoid -ge 2 && $paranoid -le 2 ]]; then
	chmod 755 "$work"
	cp "$gusprof" "$target" "$work/"
	mkdir box && chmod 1777 box && cd box || exit 1
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	"${as[@]}" ../gusprof record --off-cpu -o data -- ../off-target sleeps:200 >truth 2>err
	status=$?
	ok "without rights: recorded, told" eval 'is $status 0 && says "may not record where threads leave their CPU"'
	ok "the time is right, and at no place" holds data "0.19e9 < w['blocked_ns'] and list(own) == [None]" --off-cpu
fi
finish
