#!/bin/sh
# SPDX-License-Identifier: MIT
# What record and stat exit with and say when things end: the command by itself, by a signal, not at all as it does not
# exist; gusprof by a signal that is sent to it alone. perf 6.1 was run through the same cases, and gusprof does the
# same, but for these, where what perf does hides a failure:
#   stat, death of the command by a signal   perf: 0                   here: dies by that signal, as record does
#   stat -p, no such process                 perf: 234 and its usage   here: 244, as record does
#   record, kill -9                          perf: no usable file      here: a file that opens and says that it was cut
# None of the cases needs a PMU. Those that need perf_event_open are named and skipped where this user may not use it.
. "$(dirname "$0")/lib.sh"
shown='err shell'
skipped=0

printf '#!/bin/sh\nexit 42\n' >exit42
printf '#!/bin/sh\nkill -TERM $$\n' >term
printf '#!/bin/sh\nkill -SEGV $$\n' >segv
# Until it is told to end by a signal, or, if nobody does, when the mark is gone.
printf '#!/bin/sh\necho $$ >spins\nwhile [ -e spins ]; do :; done\n' >spin
# The same, stopped; killed, which is another status, if nobody has ended it after ten seconds.
printf '#!/bin/sh\necho $$ >spins\n(sleep 10; [ "$(cat spins)" = $$ ] && kill -KILL $$) 2>/dev/null &\n' >stopped
printf 'kill -STOP $$\nwhile [ -e spins ]; do :; done\n' >>stopped
chmod +x exit42 term segv spin stopped

# The shell between us says how its command died, if by a signal.
run()
{
	sh -c '"$@" >out 2>err </dev/null; status=$?; exit $status' sh "$gusprof" "$@" 2>shell
	status=$?
}
# A signal for gusprof alone, when the command runs.
send()
{
	sig=$1
	shift
	rm -f spins
	: >shell
	"$gusprof" "$@" >out 2>err </dev/null &
	pid=$!
	tries=0
	until [ -s spins ] || [ $tries -ge 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	sleep $([ $sig = KILL ] && echo 1 || echo 0.3) # so long that some samples are on the disk
	command=$(cat spins)
	kill "-$sig" $pid
	wait $pid 2>/dev/null
	status=$?
	[ $sig = KILL ] || ok "$*: SIG$sig: the command was ended by SIGTERM, not left behind" \
		sh -c '! kill -0 "$1"' sh "${command:-1}" 2>/dev/null
	rm -f spins
}
# The state of the recording: none, what ended it, or cut.
file()
{
	[ -e gusprof.data ] || { echo none; return; }
	"$gusprof" dump gusprof.data >dump 2>&1
	says 'was cut' dump && echo cut
	sed -n '/ footer: /,$s/.* ended_by "\([^"]*\)".*/\1/p' dump # windows end, too
}

"$gusprof" record -q -- true >out 2>err
refused=$?
if [ $refused = 125 ] && grep -qE 'permission|refused|no event delivers|perf_event_open' err; then
	refused=$(cat err)
else
	refused=
fi

# verb | what happens | status | what the shell says | what gusprof says | the file | arguments
while IFS='|' read -r verb how want shell text end arguments; do
	case "$arguments" in
	*no-such* | *nonsense* | *2147483647*) ;;
	*)
		if [ -n "$refused" ]; then
			echo "# skipped: $verb $arguments ($how)"
			skipped=$((skipped + 1))
			continue
		fi ;;
	esac
	rm -f gusprof.data
	# shellcheck disable=SC2086 # the arguments are words
	case $how in
	ends) run "$verb" $arguments ;;
	*) send "$how" "$verb" $arguments ;;
	esac
	row="$verb $arguments ($how)"
	ok "$row: status $want" is $status "$want"
	ok "$row: the shell says '$shell'" is "$(cat err shell | grep -oE 'Terminated|Segmentation fault')" "$shell"
	ok "$row: it says '$text'" says "$text" err
	[ "$verb" = stat ] || ok "$row: the file: $end" is "$(file)" "$end"
done <<LIST
record|ends|42||samples, 0 lost, .* in gusprof.data|exit|-- ./exit42
record|ends|143|Terminated|samples, 0 lost, .* in gusprof.data|exit|-- ./term
record|ends|139|Segmentation fault|samples, 0 lost, .* in gusprof.data|exit|-- ./segv
record|ends|255||^gusprof: cannot start 'no-such-command': no such command in PATH$|none|-- no-such-command
record|ends|129||^gusprof: .*unknown event 'nonsense'|none|-e nonsense -- ./spin
record|ends|244||^gusprof: .*there is no process 2147483647|none|-p 2147483647
record|INT|143||[1-9][0-9]* samples, 0 lost, .* in gusprof.data|interrupt|-- ./spin
record|TERM|143||[1-9][0-9]* samples, 0 lost, .* in gusprof.data|interrupt|-- ./spin
record|TERM|143||0 lost, .* in gusprof.data|interrupt|-- ./stopped
record|ALRM|143||[1-9][0-9]* samples, 0 lost, .* in gusprof.data|interrupt|-- ./spin
record|USR1|143||[1-9][0-9]* samples, 0 lost, .* in gusprof.data|interrupt|-- ./spin
record|XCPU|143||[1-9][0-9]* samples, 0 lost, .* in gusprof.data|interrupt|-- ./spin
record|RTMAX|143||[1-9][0-9]* samples, 0 lost, .* in gusprof.data|interrupt|-- ./spin
record|KILL|137||sampling|cut|-- ./spin
stat|ends|42||task-clock|-|-- ./exit42
stat|ends|143|Terminated|task-clock|-|-- ./term
stat|ends|139|Segmentation fault|task-clock|-|-- ./segv
stat|ends|255||^gusprof: cannot start 'no-such-command': no such command in PATH$|-|-- no-such-command
stat|ends|129||^gusprof: .*unknown event 'nonsense'|-|-e nonsense -- ./spin
stat|ends|244||^gusprof: .*there is no process 2147483647|-|-p 2147483647 -- ./spin
stat|INT|143||task-clock|-|-- ./spin
stat|TERM|143||task-clock|-|-- ./spin
stat|TERM|143||task-clock|-|-- ./stopped
stat|USR2|143||task-clock|-|-- ./spin
stat|XCPU|143||task-clock|-|-- ./spin
LIST

echo "1..$n"
[ $failed = 0 ] || exit 1
if [ $skipped != 0 ]; then
	echo "skipped: $skipped cases, as this user may not use perf_event_open here: $refused"
	exit 77
fi
