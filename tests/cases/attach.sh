#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof record of what runs already: targets, how it ends, what is refused, files in parts, flight recorder, control.
. "$(dirname "$0")/lib.sh"
shown=err

dump() { "$gusprof" dump "${1:-gusprof.data}" >dump 2>&1; }
ended() { dump "${2:-gusprof.data}" && says "ended_by \"$1\"" dump; }
count() { grep -c -e "$1" dump; }
# Runs gusprof record; sets status, out, err.
record()
{
	"$gusprof" record "$@" >out 2>err </dev/null
	status=$?
}
# begin NAME COMMAND...: starts it in the background; its number becomes $pid, to be ended with the test.
begin()
{
	"$@" >/dev/null 2>&1 &
	pid=$!
	children="$children $pid"
}
# In the background until it says that it watches; $recorder is its number.
record_behind()
{
	: >err
	"$gusprof" record "$@" >out 2>err </dev/null &
	recorder=$!
	children="$children $recorder"
	wait_for grep -q sampling err
}

# spend PID TICKS: a command that lasts until the process has had so much more CPU time,
# which may be a while where others run.
cat >spend <<'S'
#!/bin/sh
while read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ <"/proc/$1/stat"; do
	until=${until:-$((user + system + $2))}
	[ $((user + system)) -lt $until ] || exit ${3:-0}
	sleep 0.05
done
S
chmod +x spend

begin sh -c 'while :; do :; done'
busy=$pid
record -q -p "$busy" -- true
skip_if_refused $status

# A process. The command beside it is the duration.
record -F 1000 -p "$busy" -- ./spend "$busy" 60
ok "-p PID -- COMMAND: status of the command" is $status 0
ok "says that the command is the duration" says "watching process $busy for as long as './spend' runs"
ok "in one line" is "$(grep -c watching err)" 1
ok "the recording ends with the command" ended exit
ok "has samples of the process only" is "$(grep ' sample cpu ' dump | grep -vc " pid $busy ")" 0
# Its time is what the counter says, as others may have had most of the CPU. Two periods for the ends, and one for each
# time that it was switched out: the timer is stopped then, and what its period lacks may be lost.
ok "about as many as its time asks for" awk '
	/ sample cpu / { for (i = 1; i < NF; i++) if ($i == "period") sum += $(i + 1) }
	/ switch out / { switches++ }
	/events { samples/ { for (i = 1; i < NF; i++) if ($i == "count") ran = $(i + 1) }
	END {
		printf "    samples %.0f of %.0f, %d switches\n", sum, ran, switches
		exit !(sum > 0 && ran > 2e8 && sum > ran * 0.9 - (2 + switches) * 1e6 && sum < ran * 1.1 + 2e6)
	}' dump
ok "names the target" says "target \"process\"" dump
ok "what it had mapped is told" says "mmap { pid $busy .*path \".*libc.*build_id" dump
ok "as of the beginning" test "$(sed -n 's/.*clock.*start_ns \([0-9]*\) .*/\1/p' dump)" = \
	"$(sed -n 's/.* mmap { pid '"$busy"' tid [0-9]* time \([0-9]*\) .*/\1/p' dump | sort -u)"
"$gusprof" report --by module gusprof.data >report 2>&1
ok "so its addresses have modules" not says 'unknown' report
record -q -F 1000 -p "$busy" -- sh -c 'exit 7'
ok "the command's status is passed on" is $status 7
record -q -F 1000 -p "$busy,$busy" -- ./spend "$busy" 30
dump
ok "named twice is watched once" awk '
	/ sample cpu / { for (i = 1; i < NF; i++) if ($i == "period") sum += $(i + 1) }
	/events { samples/ { for (i = 1; i < NF; i++) if ($i == "running_ns") ran = $(i + 1) }
	END { printf "    samples %.0f of %.0f\n", sum, ran; exit !(sum > 0 && sum < ran * 1.1 && ran < 2e9) }' dump

# Two that watch the same process do not disturb each other.
record_behind -F 1000 -o one.data -p "$busy"
record -q -F 1000 -o two.data -p "$busy" -- ./spend "$busy" 30
kill -INT $recorder
wait $recorder
ok "stopped by SIGINT: status 0" is $? 0
ok "attached twice: the first has samples" test "$(dump one.data; count ' sample cpu ')" -gt 10
ok "and the file says how it ended" says 'ended_by "interrupt"' dump
ok "attached twice: the second too" test "$(dump two.data; count ' sample cpu ')" -gt 10
ok "the target never hears of it" kill -0 "$busy"
record_behind -p "$busy"
kill -TERM $recorder
wait $recorder
ok "stopped by SIGTERM: status 0" is $? 0
ok "and the target lives" kill -0 "$busy"
ok "says until when it watches" says 'until Ctrl-C or its end'

# Threads of a process, and processes that it starts later.
begin sh -c 'while [ ! -e go ]; do sleep 0.05; done
	for i in 1 2 3; do sh -c "i=0; while [ \$i -lt 200000 ]; do i=\$((i+1)); done"; done'
record_behind -F 1000 -p "$pid"
touch go
wait $recorder
ok "the target's end ends it: status 0" is $? 0
ok "and is said" says "process $pid has ended"
ok "and stands in the file" ended target
ok "processes born after the attach are sampled" test "$(grep ' sample cpu ' dump | grep -vc " pid $pid ")" -gt 20
ok "their births are told" test "$(count 'records { fork { ')" -ge 3

# exec, stop and go on.
begin sh -c 'while [ ! -e go2 ]; do sleep 0.05; done; exec sh -c "i=0; while [ \$i -lt 150000 ]; do i=\$((i+1)); done"'
record_behind -F 1000 -p "$pid"
touch go2
wait $recorder
dump
ok "followed through exec" \
	test "$(awk '/comm .* exec yes/ { seen = 1 } / sample cpu / { n++ } END { print seen ? n : 0 }' dump)" -gt 20
begin sh -c 'while :; do :; done'
kill -STOP "$pid"
wait_for in_state "$pid" T
record -F 1000 -p "$pid" -- sleep 0.2
ok "a stopped process: status 0" is $status 0
ok "said beforehand" says "process $pid .* is stopped"
ok "nothing was sampled" is "$(dump; count ' sample cpu ')" 0
ok "it is still stopped" in_state "$pid" T
record_behind -F 1000 -p "$pid"
kill -CONT "$pid"
run_on "$pid" 20
kill -INT $recorder
wait $recorder
ok "samples come when it goes on" test "$(dump; count ' sample cpu ')" -gt 20
kill -9 "$pid"

# One thread, CPUs.
record -q -F 1000 -t "$busy" -- ./spend "$busy" 20
ok "-t TID" test $status = 0 -a "$(dump; count ' sample cpu ')" -gt 10
ok "names the target" says 'target "thread"' dump
if "$gusprof" record -q -a -o all.data -- true 2>err; then
	record -F 1000 -a -- ./spend "$busy" 20
	ok "-a" is $status 0
	ok "says for how long" says "watching all CPUs for as long as './spend' runs"
	dump
	ok "-a sees the busy process" says " sample cpu .* pid $busy " dump
	ok "-a knows what lives" says "mmap { pid $busy .*path \".*libc" dump
	record -q -F 1000 -C 0 -- sleep 0.3
	dump
	ok "-C 0 alone is all that runs there" is "$(grep ' sample cpu ' dump | grep -vc ' sample cpu 0 ')" 0
	ok "-C 0 has samples" test "$(count ' sample cpu 0 ')" -gt 10
	"$gusprof" record -a -F 1000 >out 2>err </dev/null &
	recorder=$!
	wait_for grep -q sampling err
	sleep 0.2
	kill -INT $recorder
	wait $recorder
	ok "-a alone, until it is told to stop: status 0" is $? 0
else
	echo "# -a is not tried: $(cat err)"
fi
record -q -F 1000 -C 0 -p "$busy" -- sleep 0.3
dump
ok "-C with -p: only there" is "$(grep ' sample cpu ' dump | grep -vc ' sample cpu 0 ')" 0

# What is refused or gone. Each line: the status, what is said, the options.
# The child ends when its parent is no shell any more: a shell would wait for it.
sh -c 'sh -c "while [ \"\$(cat /proc/\$PPID/comm)\" != sleep ]; do sleep 0.05; done" &
	echo $! >zombie; exec sleep 100' &
parent=$!
children="$children $parent"
wait_for test -s zombie
zombie=$(cat zombie)
wait_for in_state "$zombie" Z
while IFS='|' read -r want text options; do
	# shellcheck disable=SC2086 # the options are words
	record $options
	ok "record $options: status $want" is $status "$want"
	ok "record $options: says '$text'" says "$text"
	ok "record $options: in one line" is "$(wc -l <err)" 1
done <<LIST
244|no process 2147483647|-p 2147483647
244|no thread 2147483647|-t 2147483647
244|ended already: it is a zombie|-p $zombie
244|ended already: it is a zombie|-t $zombie
244|no process 2147483647|-p $busy,2147483647 -- true
255|no such command|-p $busy -- no-such-command-anywhere
129|processes (-p) and all that runs (-a) exclude each other|-p $busy -a
129|not online|-C 60000
129|list of CPUs|-p $busy -C x
129|--overhead and -F exclude each other|-p $busy --overhead 1 -F 100
129|percentage|-p $busy --overhead much
129|percentage above 0 and up to 50|-p $busy --overhead 0
129|percentage|-p $busy --overhead 99
129|--switch-output takes|-p $busy --switch-output=10
129|--switch-output takes|-p $busy --switch-output=0s
129|--control takes|-p $busy --control pipe:x
125|mkfifo|-p $busy --control fifo:no-such
129|-D -1 needs --control: there is no way to start|-D -1 -p $busy
129|--trace auto is for processes (-p) or a command (--); here the target is threads (-t)|--trace auto -t $busy
129|--trace qemu is for a command (--); here the target is processes (-p)|--trace qemu -p $busy
129|--trace qemu and --switch-output exclude each other|--trace qemu --switch-output -- true
129|--trace qemu and --trace-window 0 exclude|--trace qemu --trace-window 0 -- true
129|--trace-window and --trace off exclude each other|--trace off --trace-window 5 -- true
129|--trace-window takes a number up to|--trace qemu --trace-window 18446744073709551615 -- true
129|-D takes a number from -1 to 2147483647|-D -2 -p $busy
LIST
record -p 1x
ok "-p 1x: status 129" is $status 129
ok "-p 1x is explained" says 'numbers of processes'
record -p "$busy" -t "$busy"
ok "-p and -t: status 129" is $status 129
if command -v python3 >/dev/null; then
	begin python3 -c 'import threading, time
def spin():
    while True: time.sleep(0.05)
for i in range(3): threading.Thread(target=spin, daemon=True).start()
spin()'
	wait_for sh -c "[ \"\$(ls /proc/$pid/task | wc -l)\" = 4 ]"
	other=$(ls "/proc/$pid/task" | grep -vx "$pid" | head -n 1)
	record -p "$other"
	ok "-p with a thread's number: status 129" is $status 129
	ok "and says which process, and what to write" says "$other is a thread of process $pid: -t $other"
	record -q -F 1000 -p "$pid" -- sleep 0.3
	dump
	ok "all threads that live are told" is "$(grep -c "comm { pid $pid " dump)" 4
else
	echo "# a process of several threads is not tried: there is no python3"
fi

# Descriptors: the soft limit is raised, the hard one is respected and explained.
if [ "$(id -u)" != 0 ]; then
	(ulimit -n 40; "$gusprof" record -p "$busy" -- true >out 2>err)
	ok "too few descriptors: status 125" is $? 125
	ok "and says how many are needed" says 'need .* descriptors'
else
	(ulimit -Sn 40; "$gusprof" record -q -p "$busy" -- true >out 2>err)
	ok "a low soft limit of descriptors is raised" is $? 0
fi

# Another user's process. As root: as nobody, which may watch its own at most.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ -x "$gusprof" ]; then
	chmod 777 "$work"
	if setpriv --reuid=65534 --regid=65534 --clear-groups "$gusprof" --version >out 2>err; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$gusprof" \
			record -p "$busy" -o other.data -- true >out 2>err
		ok "another user's process: status 125" is $? 125
		ok "says whose it is and what to do" says 'belongs to root.*CAP_PERFMON'
		ok "in one line" is "$(wc -l <err)" 1
	else
		echo "# another user's process is not tried: nobody cannot run $gusprof"
	fi
else
	echo "# another user's process is not tried: that takes root and setpriv"
fi

# The governor's account.
record --overhead 2 -p "$busy" -- ./spend "$busy" 60
ok "asked and got are said" says 'cost about .* of 2.00 asked at [0-9]* samples a second'
dump
ok "and stand in the file" says 'overhead_ppm 20000' dump
ok "with what it was got by" says 'overhead { got_ppm [0-9]* samples_ppm' dump
record -F 500 -p "$busy" -- ./spend "$busy" 20
ok "-F switches the governor off" not says 'asked'
"$gusprof" report gusprof.data >report 2>&1
ok "the report tells the cost" says "; cost .* %\$" report

# Files in parts.
rm -f part.data*
record_behind -F 1000 --switch-output=1s -o part.data -p "$busy"
wait_for sh -c 'ls part.data.*' >ls
run_on "$busy" 10
kill -INT $recorder
wait $recorder
parts=$(ls part.data* | wc -l)
ok "--switch-output=1s makes two files" test "$parts" -ge 2 # or more, where a tenth of a second takes longer
ok "named by time" is "$(ls part.data* | grep -cE '^part\.data\.[0-9]{16}$')" "$parts"
for f in part.data.*; do
	"$gusprof" report --by module "$f" >report 2>&1
	ok "each part is whole and has names" not grep -qE 'unknown|WARNING' report
	dump "$f"
	[ "$f" = "$(ls part.data.* | tail -n 1)" ] && [ "$parts" -gt 2 ] && continue # that may just have begun
	ok "and samples" test "$(count ' sample cpu ')" -gt 3
done
ok "the first one says that there is more" \
	sh -c '"$0" dump "$(ls part.data.* | head -n 1)" | grep -q "ended_by \"part\""' "$gusprof"
rm -f part.data*
record_behind -F 1000 --switch-output -o part.data -p "$busy"
sleep 0.3
kill -USR2 $recorder
wait_for sh -c 'ls part.data.* >ls 2>/dev/null'
sleep 0.2
kill -INT $recorder
wait $recorder
ok "--switch-output by signal" is "$(ls part.data.* | wc -l)" 2
rm -f part.data*
record -F 5000 --switch-output=4K -o part.data -- sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done'
ok "--switch-output by size" test "$(ls part.data.* | wc -l)" -ge 2
ok "of a launched command, with names in each" sh -c \
	'for f in part.data.*; do "$0" report --by module $f 2>&1 | grep -q unknown && exit 1; done; true' "$gusprof"

# Flight recorder: at the end only what fits the rings, oldest first.
record_behind -F 5000 --overwrite -p "$busy"
run_on "$busy" 15
kill -USR2 $recorder
run_on "$busy" 15
kill -INT $recorder
wait $recorder
dump
ok "--overwrite is noted" says 'overwrite yes' dump
ok "the snapshot is marked" says 'mark { .*kind "snapshot"' dump
ok "samples before and after it, each once" awk '
	/kind "snapshot"/ { marked = NR }
	/ sample cpu / { key = $4 " " $1; again += seen[key]++; if (marked) n++ }
	END { printf "    %d samples, %d twice\n", n, again; exit !(n > 200 && !again) }' dump
ok "in order on each CPU" \
	awk '/ sample cpu / { t = $1 + 0; if (t < last[$4]) bad = 1; last[$4] = t } END { exit bad }' dump

# Control.
mkfifo ctl ack
exec 5<>ack
record_behind -F 1000 -D -1 --control fifo:ctl,ack -p "$busy"
for word in ping enable nonsense disable snapshot enable stop; do
	echo $word >ctl
	[ $word = nonsense ] || head -n 1 <&5 >>acks
	[ $word != enable ] || run_on "$busy" 10
done
wait $recorder
ok "--control stop: status 0" is $? 0
ok "each word is acknowledged" is "$(grep -c '^ack$' acks)" 6
ok "one that is none is named" says "'nonsense' is none of"
ok "it ended so" ended control
ok "sampled while enabled" test "$(count ' sample cpu ')" -gt 10
ok "and never before" awk '/kind "enable"/ && !from { for (i = 1; i < NF; i++) if ($i == "time") from = $(i + 1) }
	/clock .*start_ns/ { for (i = 1; i < NF; i++) if ($i == "start_ns") start = $(i + 1) }
	/ sample cpu / && start + $1 * 1e9 < from - 1e6 { bad = 1 } END { exit bad || !from }' dump

# Marks from the program.
if command -v cc >/dev/null && [ -n "${GUS_SRCDIR:-}" ]; then
	cat >mark.c <<'C'
#include "gusprof-mark.h"
int main(void)
{
	gusprof_mark_begin("load");
	gusprof_mark_end("load");
	gusprof_mark("a name that is too long");
	return 0;
}
C
	cc -I"$GUS_SRCDIR/contrib" -o mark mark.c 2>err
	record -q -- ./mark
	dump
	ok "marks: begin and end" is "$(count 'kind "begin" name "load"')$(count 'kind "end" name "load"')" 11
	ok "a long name is cut" says 'kind "point" name "a name that i"' dump
	ok "the thread keeps its name" is "$(grep 'comm {' dump | grep -vc 'name "mark"')" \
		"$(grep 'comm {' dump | grep -c 'name "gusprof"')"
else
	echo "# marks are not tried: there is no C compiler, or no source folder"
fi

finish
