#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings through pipes: record -o -, and -i - of all that read one. What comes out at the end is what a file gives,
# the command's output is not in between, and whoever leaves harms nobody else.
. "$(dirname "$0")/lib.sh"
shown='out err log'

"$gusprof" record -q -o file -- "$GUS_DEMO" 0.4 >out 2>err
skip_if_refused $?
[ -s file ] || skip "nothing was recorded here: $(cat err)"

# Reading.
for verb in 'report --format json' 'report --format csv' annotate 'script --folded' script dump 'model'; do
	# shellcheck disable=SC2086 # words
	timeout 100 "$gusprof" $verb -i file >expected 2>log
	want=$?
	for way in pipe redirected; do
		# shellcheck disable=SC2086,SC2002 # words; a pipe is the point
		case $way in
		pipe) cat file | timeout 100 "$gusprof" $verb -i - >out 2>err ;;
		*) timeout 100 "$gusprof" $verb -i - <file >out 2>err ;;
		esac
		ok "$verb -i - ($way): as of the file, status $want" is $? $want
		# The name is another one.
		sed 's/"file": "-"/"file": "file"/; s/"input": "-"/"input": "file"/
			s/^standard input on /file on /; s/"seconds": .*//' out >normal
		sed 's|"seconds": .*||' expected >normal.expected
		ok "$verb -i - ($way): the same output" cmp normal normal.expected
	done
done
head -c $(($(wc -c <file) / 2)) file >cut
# shellcheck disable=SC2002
cat cut | "$gusprof" report -i - >out 2>err
ok 'a pipe that ends too early is told as a cut file is' says 'was cut' out
: | "$gusprof" report -i - >out 2>err
ok 'an empty pipe has status 125' is $? 125
ok 'an empty pipe is named' says 'standard input' err
echo none | "$gusprof" model -i - >out 2>err
ok 'what is no recording has the name of a pipe' says '^gusprof: standard input is neither a recording'
"$gusprof" report -i - <&- >out 2>err
ok 'no standard input at all has status 125' is $? 125

# Where nothing is mounted there is no /proc, which a search for leaks needs and nothing of ours.
if [ "$(id -u)" = 0 ]; then
	mkdir -p bare/tmp
	ldd "$gusprof" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "bare$(dirname "$library")"
		cp -L "$library" "bare$library"
	done
	cp "$gusprof" bare/gusprof
	if chroot bare /gusprof --version >out 2>err; then
		# shellcheck disable=SC2002
		cat file | chroot bare /gusprof report --no-cache -i - >out 2>err
		ok 'a pipe is read without /proc' is $? 0
		ok 'and has its samples' says 'samples of' out
		# shellcheck disable=SC2002
		cat file | chroot bare /gusprof model -i - >out 2>err
		ok 'model says that it needs /proc' says 'for which /proc has to be mounted' err
	else
		echo "# left out: a root without /proc is not to be had here: $(head -n 1 err)"
	fi
fi
# What is no recording need not end to be told: it is not kept until the disk is full.
timeout 20 cat /dev/zero | (ulimit -f 100000; timeout 20 "$gusprof" report -i - >out 2>err)
ok 'what is no recording and has no end has status 125' is $? 125
ok 'and is told' says 'neither a recording of gusprof nor of perf' err
(cat file; head -c 3000000 /dev/zero) | (ulimit -f 1000; timeout 20 "$gusprof" report -i - >out 2>err)
ok 'a limit on sizes of files is an error as a full disk is' is $? 125
ok 'and says what to do' says 'TMPDIR' err

# No room to keep it: one error, with what to do.
mkdir full
if mount -t tmpfs -o size=64k none full 2>/dev/null; then
	cleanup() { umount full 2>/dev/null; }
	head -c 300000 /dev/zero | cat file - | TMPDIR=$work/full "$gusprof" report -i - >out 2>err
	ok 'a full disk has status 125' is $? 125
	ok 'a full disk is told with what to do' says 'No space left.*\|TMPDIR' err
	ok 'and in one line' is "$(wc -l <err)" 1
	umount full
fi

# An interrupt from the terminal is for who writes; what came is shown.
# (What a shell begins in the background ignores interrupts unless it is told otherwise.)
if env --default-signal=INT true 2>/dev/null; then
	# catches PID: whether it has a handler for SIGINT, which it has once, while it reads.
	catches() { [ $((0x$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$1/status") & 2)) != 0 ]; }
	for times in 1 2; do
		rm -f over
		(cat file; wait_for test -e over) | env --default-signal=INT "$gusprof" report -i - >out 2>err &
		reader=$!
		wait_for catches "$reader"
		kill -INT "$reader"
		wait_for not catches "$reader"
		[ $times = 2 ] && kill -INT "$reader" 2>/dev/null
		: >over
		wait "$reader" 2>log
		status=$?
		[ $times = 1 ] && ok 'a reader that is interrupted once shows what came' says 'samples of' out
		[ $times = 2 ] && ok 'and twice, ends' is $status 130
	done
fi

# Writing.
"$gusprof" record -o - -- sh -c 'echo to-out; echo to-err >&2; "$GUS_DEMO" 0.4 >/dev/null' 2>err >streamed
ok 'record -o - into a file ends as its command' is $? 0
ok "the command's output goes to standard error" says '^to-out$' err
ok "its errors, too" says '^to-err$' err
ok 'the recording is whole' sh -c '"$0" dump streamed | tail -n 1 >out' "$gusprof"
"$gusprof" dump streamed >out 2>>err
ok 'and without damage' is $? 0
# shellcheck disable=SC2016
"$gusprof" record -q -o - -- "$GUS_DEMO" 0.4 2>log | "$gusprof" report -i - --format csv >out 2>err
ok 'record -o - | report -i - shows functions' says 'pointer_chase' out
"$gusprof" record -q -o - -- sh -c 'exit 7' >streamed 2>err
ok 'the status is the command'"'"'s' is $? 7

# A reader that leaves: one error, and the command goes on to its own end.
# shellcheck disable=SC2016
("$gusprof" record -o - -- sh -c '"$GUS_DEMO" 1.5 >/dev/null; echo whole >done' 2>err; echo $? >status) |
	head -c 100 >/dev/null
ok 'a reader that leaves: status 125' is "$(cat status)" 125
ok 'a reader that leaves is told' says 'cannot write to standard output.*what reads it has gone' err
ok 'once' is "$(grep -c 'what reads it has gone' err)" 1
ok 'and the command came to its end' is "$(cat done)" whole
"$gusprof" record -o - -- true >/dev/full 2>err
ok 'a full device: status 125' is $? 125
ok 'and one error' is "$(grep -c '^gusprof: cannot write' err)" 1
"$gusprof" record -o - --switch-output -- true >out 2>err
ok 'parts and a pipe exclude each other: 129' is $? 129
if command -v script >/dev/null; then
	script -qec "'$gusprof' record -o - -- true" /dev/null >out 2>err </dev/null
	ok 'a terminal gets no recording' says 'to the terminal' out
	script -qec "'$gusprof' report -i -; echo status \$?" /dev/null >out 2>err </dev/null
	ok 'and gives none' says 'it is a terminal' out
fi
finish
