#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof record from outside: whose exit status, which signal, what files, what is refused, what the file holds.
. "$(dirname "$0")/lib.sh"
shown=err

# Runs gusprof record; sets status, out, err.
record()
{
	"$gusprof" record "$@" >out 2>err </dev/null
	status=$?
}
dump() { "$gusprof" dump "${1:-gusprof.data}" >dump 2>&1; }
whole() { dump "${1:-gusprof.data}" && says 'footer' dump && says "ended_by \"${2:-exit}\"" dump; }
samples() { dump "${1:-gusprof.data}" && grep -c ' sample cpu ' dump; }
busy='i=0; while [ $i -lt ${N:-150000} ]; do i=$((i+1)); done'

"$gusprof" record -q -- true >out 2>err
skip_if_refused $?

# Files.
rm -f gusprof.data*
record -- sh -c "$busy"
ok "exit status of a success" is $status 0
ok "says what it samples" says 'sampling .*clock\|sampling cycles\|sampling .*cycles'
ok "says how many samples" says '[1-9][0-9]* samples, 0 lost, .* MB in gusprof.data'
ok "the file is whole" whole
ok "only its owner can read it" is "$(stat -c %a gusprof.data)" 600
ok "nothing else was left" is "$(ls gusprof.data*)" gusprof.data
ok "the command is in it" says 'command "sh"' dump
ok "the program was followed through exec" says 'comm .*name "sh" exec yes' dump
ok "where a clock's samples land was tried before" \
	says 'skid { slow "load" at [0-9]* at [0-9]* at [0-9]* at [0-9]*\|event.*unit "cycles"' dump
ok "its mappings are there" says 'mmap .*path ".*libc' dump
before=$(cksum <gusprof.data)
record -q -- true
ok "an old file is kept" is "$(cksum <gusprof.data.old)" "$before"
ok "-q says nothing" is "$(cat err)" ""
record -q -o other.data -- true
ok "-o" whole other.data
before=$(ls -l --time-style=full-iso gusprof.data)
record -- no-such-command-anywhere
ok "a missing command: status 255" is $status 255
ok "a missing command is named" says "no-such-command-anywhere"
ok "a missing command touches no file" is "$(ls -l --time-style=full-iso gusprof.data)" "$before"
: >plain
record -- ./plain
ok "a file that is no program: status 255" is $status 255

# Statuses and streams.
record -q -- sh -c 'exit 42'
ok "the status is the command's" is $status 42
ok "and stands in the file" sh -c '"$0" dump gusprof.data | grep -q "exit_status 42"' "$gusprof"
"$gusprof" record -q -- sh -c 'kill -SEGV $$' >out 2>err
ok "death by a signal is passed on" is $? 139
ok "and stands in the file" sh -c '"$0" dump gusprof.data | grep -q "exit_signal 11"' "$gusprof"
"$gusprof" record -q -- sh -c 'kill -TERM $$' >out 2>err
ok "death by SIGTERM is passed on" is $? 143
echo hello | "$gusprof" record -q -- sh -c 'read x; echo "got $x"; echo oops >&2' >out 2>err
ok "standard input and output are the command's" is "$(cat out)" "got hello"
ok "standard error is the command's" is "$(cat err)" "oops"

# Being asked to stop. The exec makes the process the one that is signalled.
for sig in INT TERM; do
	rm -f gusprof.data
	"$gusprof" record -q -- sh -c 'echo $$ >started; while :; do :; done' >out 2>err &
	pid=$!
	wait_for test -s started
	run_on "$(cat started)" 40
	kill -$sig $pid
	wait $pid
	ok "SIG$sig ends it with 143" is $? 143
	ok "SIG$sig leaves a whole file" whole gusprof.data interrupt
	ok "with samples" test "$(samples)" -gt 0
	rm -f started
done
"$gusprof" record -q -- sh -c 'trap "" TERM; echo $$ >started; while [ -e started ]; do :; done' >out 2>err &
pid=$!
wait_for test -s started
kill -INT $pid
sleep 0.5
ok "a command that ignores SIGTERM is waited for" kill -0 $pid
kill -INT $pid
wait $pid
ok "but not after a second signal" is $? 143
ok "and the file is whole" whole gusprof.data interrupt
rm -f started

# What samples say. The timer of a clock is stopped when the command is switched out: what a period lacks then may be
# lost, so that each switch may cost one. Where a hypervisor takes the CPU away for some milliseconds, the timer is late
# and the clock goes on.
N=800000 record -q -F 2000 -- sh -c "$busy"
dump
awk '
	/ sample cpu / { for (i = 1; i < NF; i++) if ($i == "period") { period = $(i + 1); sum += period } }
	/ switch out / { switches++ }
	/events { samples/ { for (i = 1; i < NF; i++) if ($i == "count") count = $(i + 1) }
	END {
		printf "    samples stand for %.0f of %.0f, in periods of %.0f, with %d switches\n",
			sum, count, period, switches
		exit !(count > 0 && sum > count * 0.9 - switches * period && sum < count * 1.01)
	}
' dump >sums
rc=$?
cat sums
unit=$(sed -nE 's/^ *events .* unit "([a-z]*)".*/\1/p' dump | head -n 1)
if [ "$unit" = ns ]; then
	ok "the samples' periods add up to the counter" is $rc 0
else
	echo "# periods of a hardware event are not compared: its frequency is adapted"
fi
record -q -e cpu-clock -c 500000 -- sh -c "$busy"
dump
ok "-c is taken literally" is "$(grep ' sample cpu ' dump | grep -vc 'period 500000 ')" 0
record -q -e page-faults -c 1 -- sh -c "$busy"
dump
ok "every page fault, counted twice the same" is "$(grep -c ' sample cpu ' dump)" \
	"$(sed -nE 's/.*events \{ samples [0-9]+ .*count ([0-9]+).*/\1/p' dump)"
record -q -e '{cpu-clock,task-clock}' -- sh -c "$busy"
dump
ok "a group of two" test "$(grep -c ' event 0 ' dump)" -gt 0 -a "$(grep -c ' event 1 ' dump)" -gt 0
ok "shares a number" is "$(grep -c 'events .* group 1 ' dump)" 2
record -q -e cpu-clock:u -- sh -c "$busy"
dump
ok "cpu-clock:u leaves the kernel out" is "$(grep ' sample cpu ' dump | grep -c ' kernel')" 0
record -q -g -- sh -c "$busy"
dump
ok "-g records callers" says ' chain 0x' dump
ok "-g is noted, and which way it took" says 'call_graph "\(fp\|tables\)"' dump
record -q -- sh -c "$busy"
dump
ok "without -g there are none" is "$(grep -c ' chain 0x' dump)" 0
record -q -D 100000 -- sh -c "$busy"
ok "-D: nothing before its time" is "$(samples)" 0
ok "but the side band is there" says 'mmap .*path ".*libc' dump
record -q --no-switch-events -- sh -c 'sleep 0.1; sleep 0.1'
dump
ok "--no-switch-events" is "$(grep -c ' switch ' dump)" 0
record -q -- sh -c 'sleep 0.1; sleep 0.1'
dump
ok "switches by default" test "$(grep -c ' switch ' dump)" -gt 0
record -q -- sh -c 'sh -c "exit 0"; sh -c "exit 0"'
dump
ok "children are followed" test "$(grep -c 'records { fork' dump)" -ge 2
record -F 5000 --max-size 8K -- sh -c 'while :; do :; done'
ok "--max-size ends it with 143" is $status 143
ok "--max-size says so" says 'limit'
ok "--max-size leaves a whole file" whole gusprof.data max-size
ok "of about that size" test "$(stat -c %s gusprof.data)" -ge 8192 -a "$(stat -c %s gusprof.data)" -lt 65536

# kill -9.
rm -f gusprof.data started
"$gusprof" record -q -F 2000 -- sh -c 'echo started >started; while [ -e started ]; do :; done' >out 2>err &
pid=$!
on_disk() { dump; [ "$(grep -c ' sample cpu ' dump)" -gt 100 ]; }
wait_for test -s started
wait_for on_disk # they get there once a second or so
kill -9 $pid
wait $pid 2>/dev/null
rm -f started
dump
ok "after kill -9 the samples are there" test "$(grep -c ' sample cpu ' dump)" -gt 100
ok "and that it was cut is said" says 'was cut' dump

record -o /no/such/folder/data -- true
ok "a folder that does not exist: status 125" is $status 125
ok "and is named" says '/no/such/folder'

# Refused. Each line: the status, what is said, the options.
while IFS='|' read -r want text options; do
	# shellcheck disable=SC2086 # the options are words
	record $options
	ok "record $options: status $want" is $status "$want"
	ok "record $options: says '$text'" says "$text"
done <<LIST
129|no target was given; record takes .* or a command|-q
129|unknown.*--bogus|--bogus -- true
129|level from 1 to 9, not 'all'|--topdown=all -- true
129|--topdown is for|--topdown -G nothing
129|exclude each other|-F 100 -c 100 -- true
129|unknown event 'nonsense'|-e nonsense -- true
129|did you mean 'cpu-clock'|-e cpu-clok -- true
129|unknown modifier 'z'|-e cpu-clock:z -- true
129|never closed|-e {cpu-clock -- true
129|no PMU 'nosuchpmu'|-e nosuchpmu/x=1/ -- true
129|-F takes a number|-F 0 -- true
129|-F takes a number|-F fast -- true
129|more than this kernel allows|-F 4000000000 -- true
129|-c takes a number above 0|-c 0 -- true
129|auto, tables, fp, dwarf, lbr or none|--call-graph psychic -- true
129|auto, tables, fp, dwarf, lbr or none|--call-graph table -- true
129|auto, tables, fp, dwarf, lbr or none|--call-graph ,8192 -- true
129|64 to 65528 bytes|--call-graph dwarf,65529 -- true
129|64 to 65528 bytes|--call-graph tables,63 -- true
129|64 to 65528 bytes|--call-graph dwarf, -- true
129|64 to 65528 bytes|--call-graph dwarf,8x -- true
129|64 to 65528 bytes|--call-graph dwarf,64K -- true
129|takes no size|--call-graph fp,8192 -- true
129|takes no size|--call-graph lbr,8192 -- true
129|either calls or branches|--call-graph lbr -b -- true
129|no way to start|-D -1 -- true
129|exclude each other|-b -j any -- true
129|any_call.*not 'bogus'|-j any,bogus -- true
129|not ''|-j any, -- true
125|cannot record the branches before each sample|-b -e cpu-clock -- true
LIST

finish
