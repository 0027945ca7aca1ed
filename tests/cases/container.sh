#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs in containers: in mount and PID namespaces of their own, on a file system that nobody else sees and that goes
# away with them. Watched from outside, launched, attached to and with all else, they have the names that they have
# outside: of code that they make, and of programs and libraries that are nowhere else. Needs root, unshare and chroot.
. "$(dirname "$0")/lib.sh"
shown='out err report'
[ "$(id -u)" = 0 ] || skip "needs root"
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces here (unshare --mount --pid)"

# A file system with two programs and their libraries.
mkdir -p root/bin root/tmp root/proc mnt
chmod 1777 root/tmp
made=made$$ demo=demo$$ # names that no other program has: other cases may run at the same time
cp "${GUS_BUILDDIR:?}/tests/cases/jit-target" "root/bin/$made" && cp "${GUS_DEMO:?}" "root/bin/$demo" || exit 99
ldd root/bin/* | grep -o '/[^ :)]*' | grep '\.so' | sort -u | while read -r library; do
	mkdir -p "root$(dirname "$library")" && cp -L "$library" "root$library"
done
# inside COMMAND...: runs it there. The file system is of memory, made in the namespace and gone with its last process.
cat >inside <<S
#!/bin/sh
exec unshare --mount --pid --fork --kill-child sh -c '
	mount -t tmpfs none $work/mnt && cp -a $work/root/. $work/mnt/ && mount -t proc none $work/mnt/proc &&
	exec chroot $work/mnt "\$@"' - "\$@"
S
chmod +x inside
if ! ./inside "/bin/$demo" 0.001 >out 2>err; then
	skip "cannot make a container here: $(head -n 1 err)"
fi

report() { timeout 60 "$gusprof" report --format csv "$@" >report 2>err; }
# share NAME: of all code that the runtimes in the report made, in percent.
share()
{
	awk -F, -v name="$1" '$1 ~ /^\[jit|^\/\/anon/ { all += $14; if ($3 == name) own += $14 }
		END { print all ? 100 * own / all : "" }' report
}
export -f ran has_run wait_for run_on # for what lasts as long as somebody else's CPU time
unnamed() { awk -F, '$1 ~ /^\/\/anon/ { n += $11 } END { print n + 0 }' report; }
# The process that runs in the container that was begun as $!, once it does.
running()
{
	inner=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
	inner=${inner%% *}
	[ -n "$inner" ] && grep -qE '/(made|demo)[0-9]' "/proc/$inner/cmdline"
}
begin()
{
	./inside "$@" >address 2>/dev/null </dev/null &
	children="$children $!"
	wait_for running $!
	wait_for test -s address
}
named()
{
	ok "$1: names of what the program makes" between "$(share first)" 66 84
	ok "$1: all of it" between "$(unnamed)" 0 "${2:-0}"
}

timeout 60 "$gusprof" record --trace off -q -F 1000 -- ./inside "/bin/$made" m 600 >out 2>err
skip_if_refused $?
report
named "launched"
ok "its map is in no folder of ours" not test -e "$work/mnt/tmp/perf-1.map"

timeout 60 "$gusprof" record --trace off -q -F 1000 -- ./inside "/bin/$made" dv 1500 /tmp >out 2>err
report
named "with a jitdump" 2
ok "with a jitdump: code that moved" between "$(share third)" 7 18

timeout 60 "$gusprof" record --trace off -q -F 1000 -- ./inside "/bin/$made" mx 600 >out 2>err
report
named "told with its last breath"

begin "/bin/$made" m 60000
timeout 60 "$gusprof" record --trace off -q -F 1000 -p "$inner" -- bash -c "run_on $inner 80" >out 2>err
report
named "attached to"
ok "and it is the process's number outside that is shown" grep -q "^\[jit:$inner\]" report
kill -KILL "$inner"

# It begins and ends while all is watched.
timeout 60 "$gusprof" record -q -F 1000 -a -- sh -c "./inside /bin/$made m 600; sleep 0.5" >out 2>err
report --comm "$made"
named "with all that runs"

# The map that is there is not the process's: a link out of its file system, to a map that would do.
./inside "/bin/$made" n 60000 >address 2>/dev/null </dev/null &
children="$children $!"
wait_for running $!
wait_for test -s address
echo "$(cat address) 100 given" >elsewhere
chmod 644 elsewhere
# hostile WHAT WHY: what is in its place now is not taken.
hostile()
{
	timeout 60 "$gusprof" record --trace off -v -F 1000 -p "$inner" -- sleep 0.3 >out 2>said
	report
	ok "$1 is not taken" is "$(share given)" 0
	ok "and that is said" says "$2" said
}
there=/proc/$inner/root/tmp
ln -s "$work/elsewhere" "$there/perf-1.map"
hostile "a link out of the container" 'no regular file'
rm "$there/perf-1.map" && mkfifo "$there/perf-1.map"
hostile "a FIFO in it" 'no regular file'
rm "$there/perf-1.map" && cp elsewhere "$there/perf-1.map" && chown 12345 "$there/perf-1.map"
hostile "a file of another user in it" 'belongs to user 12345'
cp elsewhere "/tmp/perf-$inner.map"
rm "$there/perf-1.map"
hostile "a map of our own namespace" 'perf-1.map: No such file'
rm "/tmp/perf-$inner.map"
cp elsewhere "$there/perf-1.map"
timeout 60 "$gusprof" record --trace off -q -F 1000 -p "$inner" -- bash -c "run_on $inner 50" >out 2>err
report
ok "its own is" between "$(share given)" 60 100
kill -KILL "$inner"

# Names of programs that are only there, once recordings bring them along.
if "$gusprof" record --help | grep -q -e --embed; then
	# own: of the program's own code what has a name, in percent, and its functions.
	own()
	{
		awk -F, '$1 ~ /\/bin\/demo/ { all += $14; if ($3 != "") own += $14 }
			END { print all ? 100 * own / all : "" }' report
	}
	functions() { awk -F, '$1 ~ /\/bin\/demo/ && $16 > 0.02 { n += $3 != "" } END { print n + 0 }' report; }
	program()
	{
		report --comm "$demo"
		ok "$1: names of the program" between "$(own)" 100 100
		ok "$1: its functions" between "$(functions)" 4 9
	}
	timeout 60 "$gusprof" record --trace off -q -F 1000 -- ./inside "/bin/$demo" 1 >out 2>err
	program "launched"
	begin "/bin/$demo" 60
	timeout 60 "$gusprof" record --trace off -q -F 1000 -p "$inner" -- sleep 2 >out 2>err
	report
	ok "attached to: names of the program" between "$(own)" 100 100
	kill -KILL "$inner"
	timeout 60 "$gusprof" record -q -F 1000 -a -- sh -c "./inside /bin/$demo 1; sleep 0.5" >out 2>err
	program "with all that runs"
else
	echo "# recordings bring no names of programs along yet"
fi
finish
