#!/bin/bash
# SPDX-License-Identifier: MIT
# record, stat and doctor for those who may do little: uid nobody, root of a user namespace, and under a seccomp filter
# that forbids perf_event_open. Each either works, with the kernel left out where it must be and that said once; or it
# says why not and what to do. Levels of perf_event_paranoid are the whole machine's and are not touched here: what the
# other levels lead to is in tests/unit/test_doctor.
. "$(dirname "$0")/lib.sh"
builddir=${GUS_BUILDDIR:?}
# Copies, in folders that everybody can enter: the build folder may be its owner's alone.
chmod 755 "$work"
cp "$(command -v "$gusprof")" "$work/gusprof" || exit 1
cp "$builddir/tests/cases/forbid-perf" "$work/forbid-perf" || exit 1
mkdir "$work/box" && chmod 1777 "$work/box" && cd "$work/box" || exit 1
ran=0
skipped=()

# Enough for ten samples, also where one costs so much that the governor takes a hundred a second.
busy='i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done'

# as WHO VERB...: runs it as that user; sets status, out, err.
declare -A prefix=(
	[self]=""
	[nobody]="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
	[namespace]="unshare --user --map-root-user"
	[filtered]="$work/forbid-perf EPERM"
	[hidden]="$work/forbid-perf ENOSYS"
	[filtered-nobody]="setpriv --reuid=65534 --regid=65534 --clear-groups $work/forbid-perf EPERM"
)
as()
{
	local who=$1
	shift
	rm -f gusprof.data* >/dev/null 2>&1
	# shellcheck disable=SC2086 # the prefix is words
	${prefix[$who]} "$work/gusprof" "$@" >out 2>err </dev/null
	status=$?
}

# reason: what stands on stderr of a failure, one line that names the cause and says what to do.
explained()
{
	[[ $(grep -c '^gusprof: ' err) == 1 ]] || { echo "    not one line"; return 1; }
	grep -qE -e 'seccomp filter .* must allow|perf_event_paranoid is .*: sudo sysctl' \
		-e 'built without perf_event_open|security module .*: its audit log' err &&
		grep -q 'gusprof doctor' err
}
left_out_said()
{
	local left_out='because this user may not sample it|its time is left out|may not count in the kernel'
	[[ $(grep -cE "$left_out" err) == 1 ]]
}
kernel_samples() { "$work/gusprof" dump gusprof.data 2>/dev/null | grep ' sample cpu ' | grep -c ' kernel'; }
user_samples() { "$work/gusprof" dump gusprof.data 2>/dev/null | grep ' sample cpu ' | grep -vc ' kernel'; }

# works WHO: the three verbs agree, and what they do is right for what they say.
works()
{
	local who=$1 usable
	ran=$((ran + 1))
	as "$who" doctor
	ok "$who: doctor: status 0 or 1" test $status -le 1
	usable=$((status == 0))
	ok "$who: doctor: a verdict" grep -qE '^(Tier [ABC]\. |Nothing can be recorded: )' out
	cp out doctor.out
	as "$who" record -- sh -c "$busy"
	ok "$who: record does what doctor said" is $((status == 0)) $usable
	if ((usable)); then
		ok "$who: record: there are samples" test "$(user_samples)" -gt 10
		if grep -q '^  ! software-clocks' doctor.out || grep -q 'left out' err; then
			ok "$who: record: says once that the kernel is left out" left_out_said
			ok "$who: record: and it is" is "$(kernel_samples)" 0
		fi
		as "$who" record -e cpu-clock -- sh -c "$busy"
		ok "$who: record -e cpu-clock works as well" is $status 0
		ok "$who: record -e cpu-clock: what is left out is said" is \
			"$(left_out_said && echo yes)" "$(grep -q '^  ! software-clocks' doctor.out && echo yes)"
	else
		ok "$who: record: status 125" is $status 125
		ok "$who: record: says why not and what to do" explained
		ok "$who: record: no file" test ! -e gusprof.data
		as "$who" record -e cpu-clock -- touch ran
		ok "$who: record -e cpu-clock: status 125" is $status 125
		ok "$who: record -e cpu-clock: the command was not run" test ! -e ran
		rm -f ran
		ok "$who: doctor: what is refused is permission's" \
			grep -qE '^  - software-clocks +\(permission\)' doctor.out
	fi
	as "$who" stat -- sh -c "sleep 0.01; $busy"
	ok "$who: stat does what doctor said" is $((status == 0)) $usable
	if ((usable)); then
		ok "$who: stat: there is a clock" grep -qE '[1-9][0-9.]* ms task-clock' err
		if grep -q 'may not count in the kernel' err; then
			ok "$who: stat: says once that the kernel is left out" left_out_said
			ok "$who: stat: the names say so too" grep -qE ' task-clock:u ' err
			ok "$who: stat: no zero for what it cannot see (perf: 0)" \
				grep -qE '^# cpu-migrations:u not counted' err
			ok "$who: stat: switches are from elsewhere, and that is said" \
				grep -qE '[1-9][0-9]* +context-switches:u .*getrusage' err
		fi
	else
		ok "$who: stat: status 125" is $status 125
		ok "$who: stat: says why not and what to do" explained
	fi
	as "$who" stat -a -- touch ran
	if ((status == 0)); then
		ok "$who: stat -a: is allowed" grep -qE ' cpu-clock ' err
	else
		ok "$who: stat -a: status 125" is $status 125
		ok "$who: stat -a: says why not and what to do" explained
		ok "$who: stat -a: the command was not run" test ! -e ran
	fi
	rm -f ran
}

# can WHO: whether this machine lets us become that.
can()
{
	# shellcheck disable=SC2086
	${prefix[$1]} true >/dev/null 2>&1
}

works self
for who in nobody namespace filtered hidden filtered-nobody; do
	if can $who; then
		works $who
	else
		skipped+=("$who")
	fi
done

# Somebody else's process.
if can nobody; then
	sleep 20 &
	other=$!
	as nobody stat -p $other -- touch ran
	ok "nobody: stat -p of root's process: status 125" is $status 125
	ok "nobody: it says whose it is" grep -q "process $other: it belongs to uid 0" err
	ok "nobody: the command was not run" test ! -e ran
	kill $other
fi

# A seccomp filter is told from perf_event_paranoid.
if can filtered; then
	as filtered doctor
	ok "filtered: doctor names the filter" grep -qE '^  - seccomp +\(permission\) .*forbids perf_event_open' out
	as filtered doctor --format json
	ok "filtered: in JSON too" grep -q '"usable": false' out
fi

echo "1..$n"
((${#skipped[@]} == 0)) || echo "not tried, as this machine does not let us: ${skipped[*]}"
exit $failed
