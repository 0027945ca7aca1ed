#!/bin/bash
# SPDX-License-Identifier: MIT
# Each allocation and each call of the C library that asks the kernel for something fails once, one in a run
# (tests/faults/). The outcome is the right answer, or one line of error and a status that says so. A file that was
# recorded opens. Never a crash, a hang, a process or file left behind, or another answer that says nothing.
#
# Every allocation below 1,000 fails, for the verbs that only read; of those that measure each so-many-th, as these take
# longer. `tests/bench/faults` sets FAULTS_FULL, for all of them and the first of each further place.
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
cat >busy <<'S'
i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done
S
mkdir in

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
	start=$EPOCHREALTIME
	(cd in && env FAULTS="$(basename "$gusprof")" FAULTS_NAME="$row" FAULTS_KIND="$kind" FAULTS_STEP="$step" \
		FAULTS_BELOW=1000 FAULTS_PLACES="${FAULTS_FULL:-0}" "${vars[@]}" ${FAULTS_FULL-FAULTS_TURNS=1} \
		LD_PRELOAD="$library" "$gusprof" "$@" 3>>../table) || failed=1
	[ -z "${FAULTS_FULL-}" ] || echo "$row $kind: $(bc <<<"$EPOCHREALTIME - $start") s" >>times
	rm -rf in/*
}

cat >rows <<'R'
report|1|report -i ../data
report-json|1|report -i ../data --by line --format json
annotate|1|annotate -i ../data
dump|1|dump ../data
uarch|1|uarch show zen4
model-block|1|model --uarch skylake --block 4801d8480fafc3
model-stacks|25|model --uarch skylake -i ../stacks
R
while IFS='|' read -r name step args; do
	# shellcheck disable=SC2086 # the arguments are words
	row "$name" alloc "$step" -- $args
	# shellcheck disable=SC2086
	row "$name" calls 1 -- $args
done <rows
if [ -n "$measures" ]; then
	file=FAULTS_MAKES=data loose=FAULTS_LOOSE=1
	each="FAULTS_PLACES=1 FAULTS_BELOW=${FAULTS_FULL:+100}${FAULTS_FULL-1}"
	for kind in alloc calls; do
		row record $kind 1 $each $loose $file -- record -F 2000 -g -o data -- sh ../busy
		row stat $kind 5 $loose -- stat -- sh ../busy
		row stat-csv $kind 5 $loose -- stat -x, -o - -- sh ../busy
	done
fi
printf '%-16s %-18s %7s %6s %6s %6s %6s %6s %6s %6s\n' what fails calls places runs right error told unmet BAD
cat table
exit $failed
