#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof stat from outside: whose exit status, what is counted, of whom, for how long, and how it is written.
. "$(dirname "$0")/lib.sh"
shown='out err counts'

stat()
{
	rm -f counts
	"$gusprof" stat "$@" >out 2>err </dev/null
	status=$?
}
# value COLUMN EVENT [PART]: of the CSV in counts; modifiers that were added do not matter.
value()
{
	awk -F, -v column="$1" -v event="$2" -v part="${3:-total}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ name = $at["event"]; sub(/:u$/, "", name) }
		name == event && $at["part"] == part { print $at[column] }' counts
}

busy='i=0; while [ $i -lt ${N:-100000} ]; do i=$((i+1)); done'

command -v "$gusprof" >/dev/null || { echo "there is no program at $gusprof"; exit 1; }
stat -e task-clock:u -- true
skip_if_refused $status

# Statuses, as perf's where perf is right.
stat -- true
ok "a success: status 0" is $status 0
ok "the counts go to stderr" says 'task-clock'
ok "not to stdout" is "$(cat out)" ""
for event in task-clock context-switches cpu-migrations page-faults cycles instructions branches branch-misses; do
	ok "$event is counted or told of" says "$event"
done
stat -- sh -c 'exit 42'
ok "the status is the command's" is $status 42
"$gusprof" stat -- sh -c 'kill -TERM $$' >out 2>err
ok "death by SIGTERM is passed on (perf: 0)" is $? 143
"$gusprof" stat -- sh -c 'kill -SEGV $$' >out 2>err
ok "death by SIGSEGV is passed on (perf: 0)" is $? 139
ok "and there are counts all the same" says 'task-clock'
stat -- no-such-command-anywhere
ok "a missing command: status 255" is $status 255
ok "a missing command is named" says no-such-command-anywhere
: >plain
stat -- ./plain
ok "a file that is no program: status 255" is $status 255
echo hello | "$gusprof" stat -o counts -- sh -c 'read x; echo "got $x"; echo oops >&2' >out 2>err
ok "standard input and output are the command's" is "$(cat out)" "got hello"
ok "with -o so is standard error" is "$(grep -v '^gusprof: this user' err)" oops
ok "and the counts are in the file" says task-clock counts
for sig in INT TERM; do
	rm -f started
	"$gusprof" stat -- sh -c 'echo $$ >started; while [ -e started ]; do :; done' >out 2>err &
	pid=$!
	wait_for test -s started || { echo "not ok - started was never written"; exit 1; }
	kill -$sig $pid
	wait $pid
	ok "SIG$sig ends it and the command with 143" is $? 143
	ok "SIG$sig: there are counts" says task-clock
done

# Numbers.
N=300000 stat -x, -o counts -e task-clock,page-faults -- sh -c "$busy"
cpu=$(value count task-clock)
ok "a busy loop is on one CPU at most" between "$(value derived task-clock)" 0.02 1.01
ok "and its time is what the shell took" between "$cpu" 30000000 20000000000
ok "it was counted all the time" is "$(value running task-clock)" 1.000000
ok "it was observed" is "$(value evidence task-clock)" observed
stat -x, -o counts -e page-faults -- dd if=/dev/zero of=/dev/null bs=64M count=1
ok "each page of a buffer that is filled is a fault" between "$(value count page-faults)" 30 40000
stat -x, -o counts -e context-switches -- sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done'
ok "each sleep and each wait for it is a switch" between "$(value count context-switches)" 10 200
# The shell knows itself what it and its children had: to a tick or two each, whatever else runs.
N=100000 stat -x, -o counts -e task-clock -- sh -c "($busy) & ($busy) & ($busy) & wait; times >times"
ms=$(tr 'ms' '  ' <times | awk '{ ms += 6e4 * ($1 + $3) + 1e3 * ($2 + $4) } END { print ms }')
ok "children are counted, as the shell tells ($ms ms)" between "$(value count task-clock)" \
	"$(awk -v m="$ms" 'BEGIN { print 1e6 * (m * 0.9 - 40) }')" \
	"$(awk -v m="$ms" 'BEGIN { print 1e6 * (m * 1.1 + 40) }')"
ok "and have most of it" between "$(tail -n 1 times | tr 'ms' '  ' | awk '{ print 1e3 * ($2 + $4) }')" \
	"$(awk -v m="$ms" 'BEGIN { print m / 2 }')" "$ms"

# What is not to be had.
stat -e task-clock,alignment-faults:k,r1234567812345678 -- true
ok "an event that does not exist here is told of" says '<not supported> *r1234567812345678'
ok "and the others are counted" says '[0-9] ms task-clock'
stat -e r1234567812345678 -- touch ran
ok "if there is no other: status 125" is $status 125
ok "and why" says "cannot count r1234567812345678.*: "
ok "and the command was not run" test ! -e ran

# Repeating.
stat -x, -o counts -r 5 -e task-clock,page-faults -- sh -c 'echo x >>runs'
ok "-r 5 runs it five times" is "$(wc -l <runs)" 5
ok "-r: how often is told" is "$(value runs task-clock)" 5
ok "-r: the interval holds the mean" awk -v lo="$(value ci95_low task-clock)" -v m="$(value count task-clock)" \
	-v hi="$(value ci95_high task-clock)" -v min="$(value min task-clock)" -v max="$(value max task-clock)" \
	'BEGIN { exit !(lo <= m && m <= hi && min <= m && m <= max && min < max) }'
stat -r 3 -- sh -c 'echo x >>again; [ $(wc -l <again) != 2 ]'
ok "-r: one run of three fails: its status" is $status 1
ok "-r: the others were made" is "$(wc -l <again)" 3
rm -f again
"$gusprof" stat -r 5 -- sh -c 'echo x >>again; kill -TERM $$' >out 2>err
ok "-r: a signal ends it all" is "$? $(wc -l <again)" "143 1"

# Intervals.
stat -x, -o counts -I 50 -e task-clock -- sh -c 'sleep 0.22; '"$busy"
parts=$(value count task-clock interval | wc -l)
ok "-I 50: one line each 50 ms, and the rest" between "$parts" 5 200
sum=$(value count task-clock interval | awk '{ s += $1 } END { printf "%.0f", s }')
ok "-I: the parts add up to the total" is "$sum" "$(value count task-clock)"
ok "-I: they follow each other" \
	sh -c 'grep ^interval, counts | awk -F, "NR > 1 && \$2 != last { exit 1 } { last = \$3 }"'

# What runs already.
sh -c 'echo $$ >pid; while [ -e pid ]; do :; done' &
children="$children $!"
wait_for test -s pid || { echo "not ok - pid was never written"; exit 1; }
target=$(cat pid)
stat -x, -o counts -e task-clock,page-faults -p "$target" -- sleep 0.3
ok "-p: status of the command" is $status 0
ok "-p: it is said that the command is the duration" says "as long as 'sleep' runs"
ok "-p: the process is counted, not the sleep" between "$(value count task-clock)" 4e6 5e9
ok "-p: for that long" between "$(value to_ns task-clock)" 300000000 5000000000
stat -x, -o counts -e task-clock -t "$target" -- sleep 0.2
ok "-t: the thread is counted" between "$(value count task-clock)" 4e6 5e9
"$gusprof" stat -x, -o counts -e task-clock -p "$target" >out 2>err &
pid=$!
counts() { ls -l "/proc/$1/fd" | grep -q perf_event; }
wait_for counts $pid
run_on "$target" 10
kill -TERM $pid
wait $pid
ok "-p without a command: a signal ends it, by that signal" is $? 143
ok "with counts" between "$(value count task-clock)" 5000000 2000000000
ok "and the process goes on" kill -0 "$target"
rm -f pid
stat -x, -o counts -e task-clock -p "$target"
if [ $status = 0 ]; then
	ok "-p: ends with the process" is $status 0
else
	ok "-p: the process had ended: status 244" is $status 244
	ok "-p: that is said" says 'no process\|has ended'
fi
stat -p 2147483646 -- sleep 10
ok "-p: no such process: status 244, as record" is $status 244
ok "-p: it is named" says 'no process 2147483646'

# Threads: all of a process, and those born later.
if python3 -c '' 2>/dev/null; then
	python3 -c '
import threading, time, os
def spin(): 
    end = time.monotonic() + 20
    while os.path.exists("threads") and time.monotonic() < end: time.sleep(0.001); sum(range(100000))
open("threads", "w").write("x\n")
for i in range(8): threading.Thread(target=spin).start()
open("tpid", "w").write("%d\n" % os.getpid())
time.sleep(0.1)
for i in range(8): threading.Thread(target=spin).start()
' &
	children="$children $!"
	wait_for test -s tpid || { echo "not ok - tpid was never written"; exit 1; }
	tpid=$(cat tpid)
	# What it had while the command ran was counted; what it had before stat began and after it ended was not.
	# /proc rounds two numbers down to ticks each time, and knows what runs now as of the last tick only; what
	# switches themselves take is in neither in the same way, so that there may not be too many.
	cat >while <<-'S'
	awk '{ print $14 + $15 }' "/proc/$1/stat" >first
	sleep 1
	awk '{ print $14 + $15 }' "/proc/$1/stat" >last
	S
	before=$(ran "$tpid")
	stat -x, -o counts -e task-clock -p "$tpid" -- sh while "$tpid"
	after=$(ran "$tpid")
	rm -f threads
	least=$(($(cat last) - $(cat first))) most=$((after - before))
	ok "-p: threads of before and later, as /proc tells: $least to $most ticks, within a few" \
		between "$(value count task-clock | awk -v hz="$(getconf CLK_TCK)" '{ print $1 / 1e9 * hz }')" \
		$((least * 9 / 10 - 4)) $((most + 4))
else
	echo "# python3 is not installed: a process with threads was not tried"
fi

# Whole CPUs.
# As long that nobody who keeps us from a CPU meanwhile matters: each end may be so much later for the last CPU.
stat -x, -o counts -a -- sleep 1
if [ $status = 125 ]; then
	ok "-a: refused, with the reason and what to do" \
		says 'on whole CPUs: .*\(perf_event_paranoid\|seccomp\|security module\)'
	echo "# this user may not count whole CPUs"
else
	cpus=$(getconf _NPROCESSORS_ONLN)
	ok "-a: every CPU's clock runs" between "$(value derived cpu-clock)" \
		"$(awk -v c="$cpus" 'BEGIN { print c * 0.9 }')" "$cpus.1"
	stat -x, -o counts -C 0 -e cpu-clock -- sleep 1
	ok "-C 0: one of them" between "$(value derived cpu-clock)" 0.9 1.1
	stat -C 0-4000 -- sleep 10
	ok "-C: a CPU that is not there" is $status 125
	ok "is named" says 'not online'
fi

# Trees of issue slots: shown, or refused with the reason before the command runs.
stat --topdown -e task-clock -- touch ran
if [[ $status == 0 ]]; then
	ok "--topdown: a tree, or why not" says 'Issue slots\|not supported\|refused'
	rm -f ran
else
	ok "--topdown: what this machine has not: status 125" is $status 125
	ok "with the reason" says 'cannot count what becomes of issue slots'
	ok "and the command was not run" test ! -e ran
fi

# So is the traffic of memory.
stat --memory -e task-clock -- touch ran
if [[ $status == 0 ]]; then
	ok "--memory: what is counted" says 'Traffic of memory, of all of the machine'
	rm -f ran
else
	ok "--memory: what this machine has not, or this user may not: status 125" is $status 125
	ok "with the reason" says 'cannot count'
	ok "and the command was not run" test ! -e ran
fi

# The same as CSV, of counts that are made up.
show=${GUS_BUILDDIR-}/tests/cases/show-screen
if [[ -x $show ]]; then
	"$show" slots-csv 0 >trees
	row() { grep "^total,0,0,topdown/$1,share of" trees | cut -d , -f "$2"; }
	ok "CSV: a node is a line, by its way from the root" \
		is "$(row cpu_core/backend_bound/memory_bound 5-18)" \
		"share of slots,0.200000,inferred,1.000000,,,1,,,,,,,"
	ok "of groups that took turns it has an interval" between "$(row cpu_atom/retiring 12)" 0.3 0.4
	ok "around the share" between "$(row cpu_atom/retiring 13)" 0.4 0.45
	ok "what was below 0 is told" \
		is "$(row cpu_core/backend_bound/memory_bound/l2_bound 18)" "the method set what was below 0 to 0"
fi

# Formats.
stat --format json -o counts -e task-clock,page-faults -r 2 -- true
ok "JSON: its schema" says '"schema": "gusprof.stat/1"' counts
mv counts one
stat --format json -o lines -I 20 -e task-clock -- sleep 0.1
ok "JSON with -I: one object a line" is "$(grep -vc '^{"schema":"gusprof.stat/1".*}$' lines)" 0
if python3 -c '' 2>/dev/null; then
	python3 - <<'END' >json.out 2>&1
import json
d = json.load(open("one"))
assert list(d) == ["schema", "by", "target", "runs", "interval", "elapsed_ns", "elapsed_ci95", "user_ns", "system_ns",
                   "exit_status", "exit_signal", "user_only", "threads_missed", "rows", "topdown",
                   "memory_traffic"], list(d)
assert d["memory_traffic"] is None
assert d["runs"] == 2 and d["target"]["command"] == ["true"] and d["interval"] is None
for r in d["rows"]:
    assert list(r) == ["event", "unit", "count", "evidence", "running", "enabled_ns", "running_ns", "ci95", "min",
                       "max", "derived", "reason"], list(r)
    assert r["ci95"][0] <= r["count"] <= r["ci95"][1] and r["min"] <= r["count"] <= r["max"]
parts = [json.loads(line) for line in open("lines")]
assert parts[-1]["interval"] is None and all(p["interval"] for p in parts[:-1]) and len(parts) >= 4
total = sum(p["rows"][0]["count"] for p in parts[:-1])
assert total == parts[-1]["rows"][0]["count"], (total, parts[-1]["rows"][0])
END
	ok "JSON: keys and values" test $? = 0
	sed 's/^/    /' json.out
fi
stat -x ';' -o counts -e task-clock -- true
ok "-x: the separator" is "$(head -n 1 counts | cut -d ';' -f 1-6)" "part;from_ns;to_ns;event;unit;count"
stat -o - -e task-clock -- true
ok "-o -: standard output" says task-clock out
stat -o /no/such/folder/counts -- touch ran
ok "a file that cannot be written: status 125" is $status 125
ok "and the command was not run" test ! -e ran
"$gusprof" stat -o - -e task-clock -- true >/dev/full 2>err
ok "a full disk is no success" is $? 125

# A file that is there is kept, and a link is not written through: who makes links may not choose what is overwritten.
echo precious >victim
ln -s victim link
stat -x, -o link -e task-clock -- true
ok "the file of a link is as it was" is "$(cat victim)" precious
ok "the link is kept" is "$(readlink link.old)" victim
ok "and the counts have its name" says task-clock link
mkfifo fifo
stat -o fifo -- touch ran
ok "a FIFO is refused, and not waited for" is $status 129
ok "by name" says 'cannot write the counts fifo: it exists and is not a regular file'
ok "before the command runs" test ! -e ran

# Refused. Each line: the status, what is said, the options.
while IFS='|' read -r want text options; do
	# shellcheck disable=SC2086 # the options are words
	stat $options
	ok "stat $options: status $want" is $status "$want"
	ok "stat $options: says '$text'" says "$text"
done <<LIST
129|no target was given; stat takes a command (--), .* or CPUs|
129|unknown.*--bogus|--bogus -- true
129|level from 1 to 9, not '0'|--topdown=0 -- true
129|unknown event 'nonsense'|-e nonsense -- true
129|processes (-p) and CPUs (-a, -C) exclude each other|-p 1 -a -- true
129|-r and -I exclude each other|-r 2 -I 100 -- true
129|-p takes numbers|-p x -- true
129|-t takes numbers|-t 0 -- true
129|-C takes CPUs|-C 1-0 -- true
129|-C takes CPUs|-C all -- true
129|-r takes a number from 1 to 1000000|-r 0 -- true
129|-r needs a command (--)|-r 2 -a
129|-I takes a number from 10 to|-I 5 -- true
129|text, json or csv|--format xml -- true
129|-x and --format json exclude each other|-x ; --format json -- true
LIST

finish
