#!/bin/bash
# SPDX-License-Identifier: MIT
# Each allocation and each call of the C library that asks the kernel for something fails once, one in a run
# (tests/faults/). The outcome is the right answer, or one line of error and a status that says so. A file that was
# recorded opens. Never a crash, a hang, a process or file left behind, or another answer that says nothing.
#
# Of allocations it is each so-many-th of the first 1,000, of the calls of most verbs that only read all of them, and
# of verbs that measure, which take longer, fewer. `tests/bench/faults` sets FAULTS_FULL, for all and the first of each
# further place.
#
#	right   the same bytes as undisturbed (for what measures: the same words), status 0
#	error   one line on stderr more than undisturbed, and a status that is not 0
#	told    something is missing in the answer, and a line on stderr says what; status 0
#	unmet   the call was not made again, or not so often
: "${GUS_BUILDDIR:?}"
. "$(dirname "$0")/lib.sh"
library=$GUS_BUILDDIR/tests/faults/faults.so
[ -e "$library" ] || skip "there is no $library: it needs the GNU C library and no sanitizers"
build=$(cd "$GUS_BUILDDIR" && pwd)
"$build/tests/cases/make-stacks" stacks || { echo "FAILED: the recording was not made"; exit 1; }

# A recording with kernel, libraries and debug information, where sampling is allowed; else that with stacks.
measures=yes
"$gusprof" record -q -g -F 2000 -o data -- "$GUS_DEMO" 0.1 >out 2>err || measures=
[ -n "$measures" ] || cp stacks data
# Which function is the hottest one of a short recording is chance, and so whether its code can be read: it may be the
# kernel's. The demo is as long in each of its own.
hot=${measures:+divider}
cat >busy <<'S'
i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done
S
mkdir in tmp
export TMPDIR=$work/tmp

# row NAME KIND STEP VARIABLES -- ARGS...
row()
{
	row=$1 kind=$2 step=$3
	shift 3
	vars=()
	while [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	shift
	[ -z "${FAULTS_ROWS-}" ] || [[ $row/$kind =~ $FAULTS_ROWS ]] || return 0
	[ -z "${FAULTS_FULL-}" ] || step=1
	start=$SECONDS
	[ -n "${FAULTS_FULL-}" ] || vars+=(FAULTS_TURNS=1)
	(cd in && env FAULTS="$(basename "$gusprof")" FAULTS_NAME="$row" FAULTS_KIND="$kind" FAULTS_STEP="$step" \
		FAULTS_BELOW=1000 FAULTS_PLACES="${FAULTS_FULL:-0}" "${vars[@]}" \
		LD_PRELOAD="$library" "$gusprof" "$@" 3>>../table) || failed=1
	[ -z "${FAULTS_FULL-}" ] || echo "$row $kind: $((SECONDS - start)) s"
	rm -rf in/*
}

# What fails is one of so many places for what measures, as each run of it takes longer.
quick()
{
	[ -n "${FAULTS_FULL-}" ] && echo FAULTS_BELOW=10 || echo "FAULTS_BELOW=1 FAULTS_PLACES=1 FAULTS_EVERY=$1"
}

# The same, and in full each place once, as there are thousands of calls.
few() { echo "FAULTS_BELOW=1 FAULTS_PLACES=1 FAULTS_EVERY=${FAULTS_FULL:-$1}"; }

cat >rows <<R
report|3|report -i ../data
report-json|7|report -i ../data --by line --format json
report-page|7|report -i ../data --flamegraph -
annotate|3|annotate -i ../data $hot
dump|2|dump ../data
script|7|script ../data
script-folded|7|script --folded -i ../data
uarch|2|uarch show zen4
model-block|2|model --uarch skylake --block 4801d8480fafc3
model-stacks|100|model --uarch skylake -i ../stacks
R
while IFS='|' read -r name step args; do
	# shellcheck disable=SC2086 # the arguments are words
	row "$name" alloc "$step" -- $args
	# shellcheck disable=SC2086
	row "$name" calls $((step > 3 ? step : 1)) -- $args
done <rows
# What is remembered may be lost at any time, and is asked anew.
for kind in alloc calls; do
	row report-kept $kind 7 GUSPROF_CACHE=../kept -- report -i ../data --by line
done
if [ -n "$measures" ]; then
	for kind in alloc calls; do
		# shellcheck disable=SC2046 # these are words, too
		row record $kind 1 $(quick 8) FAULTS_LOOSE=1 FAULTS_MAKES=data -- \
			record -F 2000 -g -o data -- sh ../busy
		# shellcheck disable=SC2046
		row stat $kind 1 $(quick 2) FAULTS_LOOSE=1 -- stat -- sh ../busy
		# shellcheck disable=SC2046
		row stat-csv $kind 1 $(quick 5) FAULTS_LOOSE=1 -- stat -x, -o - -- sh ../busy
	done
else
	echo "skipped: record and stat, as sampling is not allowed here: $(head -n 1 err)"
fi

# A calibration that cannot be read in passing is not taken for none.
"$gusprof" calibrate --check >out
kept=$(GUSPROF_DATA=$work/calibrated "$gusprof" calibrate --check | sed -n 's/^it would be //p')
if [ -n "$kept" ]; then
	mkdir -m 700 calibrated
	{
		echo 'uarch skylake-calibrated isa x86-64 "Made up"'
		echo 'like skylake'
		sed -n 's/^  \([a-z]*\)  *\(.*\)/valid \1 "\2"/p' out
		echo end
	} >"$kept"
	chmod 600 "$kept"
	for kind in alloc calls; do
		row model-kept $kind 3 GUSPROF_DATA="$work/calibrated" -- model --block 4801d8480fafc3
	done
fi

# What is emulated: a trace, a command, and a process, whose emulator and plugin are other programs and are let alone.
target=$build/tests/cases/traced-target
plugin=$build/tracing/plugin/gusprof-qemu.so
if command -v qemu-x86_64 >/dev/null && [ -x "$target" ] && [ -e "$plugin" ] &&
	qemu-x86_64 -plugin "$plugin,out=trace" "$target" spin 500 0 >out 2>err; then
	row model-trace alloc 20 -- model --uarch skylake -i ../trace
	row model-trace calls 8 -- model --uarch skylake -i ../trace
	"$target" spin 1000000000000 0 >/dev/null 2>&1 &
	children="$children $!"
	for kind in alloc calls; do
		# shellcheck disable=SC2046
		row model-command $kind 1 $(few 40) FAULTS_OTHERS="what reads it has gone" -- \
			model --uarch skylake -o - -- "$target" spin 500 0
		# shellcheck disable=SC2046
		[ -z "${FAULTS_FULL-}" ] ||
			row model-process $kind 1 $(few 40) FAULTS_LOOSE=1 FAULTS_OTHERS="what reads it has gone" -- \
			model --uarch skylake --snapshots 1 --spread 1 --window 2000 -p $!
	done
else
	echo "skipped: what is emulated, as qemu-x86_64 or its plugin is missing: $(head -n 1 err)"
fi

# Stdout that takes nothing: one line, and status 125.
while read -r args; do
	[ -z "${FAULTS_ROWS-}" ] || break
	# shellcheck disable=SC2086
	"$gusprof" $args >/dev/full 2>err
	status=$?
	[ $status = 125 ] && [ "$(grep -c '^gusprof: cannot write the output' err)" = 1 ] ||
		problem "$args >/dev/full: status $status: $(cat err)"
done <<L
--version
--help
help report
report --help
--list-verbs
--list-options report
report -i data
report -i data --format json
report -i data --format csv
report -i data --flamegraph -
annotate -i data $hot
annotate -i data --format json $hot
annotate -i data --format csv $hot
dump data
script data
script --folded data
uarch list
uarch show zen4
model --block 90
model --block 90 --format json
model --block 90 --format csv
doctor
doctor --format json
L
printf '%-16s %-18s %7s %6s %6s %6s %6s %6s %6s %6s\n' what fails calls places runs right error told unmet BAD
cat table
exit $failed
