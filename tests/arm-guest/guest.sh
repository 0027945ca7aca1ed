# SPDX-License-Identifier: MIT
# What is checked in the guest, by busybox's shell: gusprof on the PMUv3 driver of a Debian arm64 kernel. Each check is
# a line "ok N - ..." or "not ok N - ..."; the last line has the totals.
set -u
n=0
passed=0

# ok WHAT CONDITION...
ok()
{
	n=$((n + 1))
	what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $n - $what ($(cut -d. -f1 /proc/uptime) s)"
	else
		echo "not ok $n - $what ($(cut -d. -f1 /proc/uptime) s)"
		head -n 12 out err 2>/dev/null | sed 's/^/    /'
	fi
}

is() { test "$1" = "$2"; }
says() { grep -q -- "$1" "${2:-err}"; }

# near A B LIMIT: whether two numbers differ by LIMIT at most.
near()
{
	awk -v a="$1" -v b="$2" -v limit="$3" 'BEGIN {
		d = a - b; exit !(a != "" && b != "" && d <= limit && -d <= limit) }'
}

# per B A: A in percent of B.
per() { awk -v a="$2" -v b="$1" 'BEGIN { if (b > 0) printf "%.6f", 100 * a / b }'; }

# sum_of COLUMN FILE: of a report as CSV.
sum_of()
{
	awk -F, -v what="$1" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ s += $column[what] } END { printf "%.0f", s }' "$2"
}

# one_of_both FILE: what phase_one has of both functions in a report as CSV, in percent; nothing, if they do not have
# nearly all: a program begins and ends, too, and an emulated interrupt is long.
one_of_both()
{
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ all += $column["weight"] }
		$column["function"] == "phase_one" { one += $column["weight"] }
		$column["function"] == "phase_two" { two += $column["weight"] }
		END { if (one + two > 0.9 * all) printf "%.3f", 100 * one / (one + two) }' "$1"
}

# column_of NAME COLUMN FILE: of that function's row.
column_of()
{
	awk -F, -v name="$1" -v what="$2" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["function"] == name { print $column[what]; exit }' "$3"
}

# true_percent FILE: what phases itself measured, of phase_one.
true_percent() { awk '$1 == "one" { printf "%.3f", 100 * $2 / ($2 + $4) }' "$1"; }

if ! ls /sys/bus/event_source/devices 2>/dev/null | grep -q armv8_pmuv3; then
	echo "not ok 1 - the kernel has the PMUv3 driver"
	exit 1
fi

# What it says of the machine.
gusprof doctor >out 2>err
ok "doctor: tier B" says '^Tier B' out
ok "doctor: there is a table for this CPU" says 'uarch .*cortex-a72: there is a table' out
ok "doctor: no precise samples, as the driver does not look at precise_ip" says '^  - precise-cycles' out
echo "guest: what doctor says"
sed -n '1,/^Rights/p' out | sed 's/^/guest: /'

# No options at all.
gusprof record -- phases 7 3 12 >true.txt 2>err
ok "record: exit status" is $? 0
ok "record: by real cycles" says 'sampling cycles: '
gusprof report --format csv >out 2>>err
ok "record: both functions are there" test "$(grep -c ',phase_\(one\|two\),' out)" = 2

# An emulated interrupt takes so long that the kernel would lower the rate; of that is no more to be seen here.
echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# By rate: enough samples for three points, and a run beside which the beginning of a program is short.
gusprof record --trace off -F 1000 -o rate.data -- phases 7 3 30 >true.txt 2>err
gusprof report -i rate.data --format csv >out 2>>err
true_one=$(true_percent true.txt)
one=$(one_of_both out)
echo "guest: of phase_one $true_one % by its own clock, 70 by argument; sampled $one"
ok "record -F: its own clock says what was asked for" near "$true_one" 70 2
ok "record -F: phase_one within 3 points" near "$one" "$true_one" 3

# By period, in cycles, which are ns here.
gusprof record --trace off -e cycles -c 2000000 -o period.data -- phases 4 6 20 >true.txt 2>err
gusprof report -i period.data --format csv >out 2>>err
sampled=$(sum_of samples out)
lasted=$(awk '{ printf "%.0f", $2 + $4 }' true.txt)
echo "guest: $sampled samples each 2000000 cycles, of $lasted ns"
ok "record -c: a sample each 2,000,000 cycles" near "$(per "$lasted" $((sampled * 2000000)))" 100 3

# What the driver grants, and does not do.
gusprof record --trace off -e cycles:pp -o p.data -- phases 1 1 5 >out 2>err
ok "record -e cycles:pp: says that it cannot be" says 'have no exact addresses'
gusprof dump p.data >out 2>err
ok "record -e cycles:pp: the recording does not claim it" test "$(grep -c 'precise [1-3]' out)" = 0

# What runs already.
phases 6 4 0 >true.txt 2>/dev/null &
target=$!
sleep 1
gusprof record --trace off -F 1000 -p $target -o attach.data -- sleep 2 >out 2>err
ok "attach: exit status" is $? 0
ok "attach: it goes on" kill -0 $target
gusprof report -i attach.data --format csv >out 2>>err
kill -TERM $target
wait $target
ok "attach: its result is not disturbed" is $? 0
true_one=$(true_percent true.txt)
one=$(one_of_both out)
echo "guest: of phase_one $true_one % by its own clock, attached $one"
ok "attach: phase_one within 3 points" near "$one" "$true_one" 3

# Callers: of the frames that the kernel follows, and of copies of the stack and the files' unwind tables.
for how in fp dwarf; do
	gusprof record --trace off --call-graph $how -F 400 -o calls.data -- phases 7 3 10 >true.txt 2>err
	gusprof report -i calls.data --children --format csv >out 2>>err
	total=$(column_of play total out)
	whole=$(sum_of weight out)
	echo "guest: callers by $how: play and what it calls have $total of $whole"
	ok "--call-graph $how: play has what its two functions have" near "$(per "$whole" "$total")" 97 3
done

# Counts: both are open before it begins, and until it has ended.
mkfifo go
phases 2 1 30 wait <go >true.txt &
target=$!
exec 3>go
perf stat -x , -e cycles:u,cycles:k -o perf.csv -p $target 2>>err &
gusprof stat --format csv -e cycles:u,cycles:k -o ours.csv -p $target 2>>err &
sleep 4
echo >&3
exec 3>&-
wait
for event in cycles:u cycles:k; do
	theirs=$(awk -F, -v e=$event '$3 == e { print $1 }' perf.csv)
	counted=$(awk -F, -v e=$event '$4 == e { print $6 }' ours.csv)
	echo "guest: $event: perf $theirs, gusprof $counted"
	ok "stat: $event is perf's" near "$(per "$theirs" "$counted")" 100 0.01
done

# What perf recorded.
perf record -q -e cycles -F 1000 -o perf.data -- phases 8 2 15 >true.txt 2>err
gusprof import -o imported.data perf.data >>err 2>&1
gusprof report -i imported.data --format csv >out 2>>err
true_one=$(true_percent true.txt)
one=$(one_of_both out)
echo "guest: of phase_one $true_one % by its own clock, by perf's samples $one"
ok "import: phase_one within 3 points" near "$one" "$true_one" 3

# Snapshots by themselves: as long again as all else.
if [ -n "${gus_unit_tests-}" ]; then
	test_snapshot_take >out 2>&1
	ok "unit test of snapshots" is $? 0
	echo "guest: $(grep -c '\[       OK \]' out) of its cases passed"
fi

# Snapshots of what runs, replayed by qemu-aarch64: a window of each, of the two functions' own loops.
phases 3 2 0 >true.txt 2>/dev/null &
target=$!
sleep 1
gusprof model -p $target --snapshots 2 --window 100000 >out 2>err
ok "model -p: exit status" is $? 0
echo "guest: $(grep 'windows of' out)"
ok "model -p: whole windows" says ' 200.0 k instructions, ' out
ok "model -p: of the two functions' loops" says ' phase_\(one\|two\), loop at .*\[phases\]' out
ok "model -p: their instructions" says 'madd w1, w1, w7, w6' out
ok "model -p: all instructions have a row" says ' 100.00% of the instructions have a row' out
ok "model -p: nothing was missed in small tables" says ' L1 100.00%' out
kill -TERM $target
wait $target
ok "model -p: the process is not disturbed" is $? 0

# The same while it is recorded.
gusprof record --trace auto --trace-window 50000 -o traced.data -- phases 3 2 50 >true.txt 2>err
ok "record --trace auto: exit status" is $? 0
ok "record --trace auto: windows" says '[0-9]* windows of what it did, of up to 50000 instructions'
gusprof report --stacks -i traced.data >out 2>>err
ok "report --stacks: exit status" is $? 0
ok "report --stacks: nearly all is in code that windows executed" says '^# 9[0-9]\.. % of the time is in code that' out
ok "report --stacks: by the table of this CPU" says '^# the model is of cortex-a72' out
echo "guest: $(grep 'windows of what' err)"

echo "$passed of $n"
test "$passed" = "$n"
