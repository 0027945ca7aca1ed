#!/bin/sh
# SPDX-License-Identifier: MIT
# Accesses to memory that are planted: every view of them, each row's latencies, and lines that threads share by
# accident.
. "$(dirname "$0")/lib.sh"
make=${GUS_BUILDDIR:?}/tests/cases/make-accesses
symfs=$scripts/../data/screen
[ -x "$make" ] || skip "there is no $make; 'make check' builds it"
for kind in views sharing none second hostile empty; do "$make" $kind.data $kind || exit 99; done

report() { "$gusprof" report "$@" >out 2>err; }
refuses() { status=$1; shift; report "$@"; [ $? -eq "$status" ]; }
says() { grep -q "$1" err; }
shows() { grep -q "$1" out; }

planted() { python3 "$scripts/accesses.py" "$1" "$gusprof" "$1.data" "$symfs" >out 2>err; }
ok "each view has what was planted" planted views
ok "lines shared by accident are found, and no others" planted sharing

ok "stacks of samples that are not of time" refuses 0 --stacks views.data
ok "say of what they are" shows "^# all samples of cpu/mem-loads,ldlat=30/P, which are not of time: unknown 100%"

ok "samples of a clock tell of no access" refuses 125 --by data-source none.data
ok "what would is said" says "no sample of the recording tells of an access to memory: that takes 'perf mem record'"
ok "the same of lines that are shared" refuses 125 --false-sharing none.data
ok "in the same words" says "no sample of the recording tells of an access to memory: that takes 'perf mem record'"
ok "another event has accesses" refuses 125 --by data-line second.data
ok "its name is said" says "samples of 'cycles' tell nothing .* those of 'cpu/mem-stores/P' do: --event 1"
ok "and takes it there" refuses 0 --by data-line --event 1 second.data
ok "where they are" shows "100.00%.* 3  *3  *12  *4 .*555500000000  *500  \[heap\]"
ok "of an empty recording" refuses 0 --by data-line empty.data
ok "it is said that there are no samples" shows "no samples were taken"
ok "no lines are shared there" refuses 0 --false-sharing empty.data
ok "which is said" shows "^# 0 of 0 samples .* 0 by the same bytes"

ok "addresses, sizes and latencies at their ends" refuses 0 --by data-page,access hostile.data
ok "the last page of all" shows "fffffffffffff000 .*\[kernel\]"
ok "a size that is none is the machine's" shows " 1  *1 .* 0  *500  \[unknown\]"
ok "all that an access may be" shows " load+store+prefetch+fetch  *555500000000  *500  \[heap\]"
ok "a latency of 64 bits" shows " 18446744073709551615 "
ok "they are shared by nobody" refuses 0 --false-sharing hostile.data

ok "the longest come first" refuses 0 --by data-source --sort latency views.data
ok "memory is slower than caches" sh -c 'grep -v "^#" out | head -n 1 | grep -q "360 .*  memory$"'
# The first page has 101 loads of 4 to 104 cycles and 30 of 40; the next 9 of 200 to 360 and 5 of 90; then 16 of 50.
sums() { refuses 0 --by data-page --sort "$1" --format csv views.data && [ "$(cut -d, -f41 out | xargs)" = "$2" ]; }
ok "the greatest sum of latencies comes first" sums sum "latency_sum 6654 2970 800 160 84 10 10"
ok "by perf's word as well" sums weight "latency_sum 6654 2970 800 160 84 10 10"
ok "the longest one" refuses 0 --by data-source --sort longest --width 60 views.data
ok "stays in a narrow terminal" sh -c 'grep -v "^#" out | head -n 1 | grep -q " 360  memory$"'
ok "rows of code have no latencies" refuses 129 --sort sum views.data
ok "which rows do is said" says "sum is for rows of accesses to memory: --by data-source"
ok "the lowest comes first" refuses 0 --by data-line --sort address views.data
ok "which is what has none" sh -c 'grep -v "^#" out | head -n 1 | grep -q "not told"'
ok "places within a file" refuses 0 --by data-line views.data
ok "by where it begins" shows "20c0  *table.bin+0x20c0$"
ok "within a variable" shows "planted_counters+0x48$"
ok "without a file by its name" shows "7ffd00000040  *500  \[stack\]$"
ok "a module alone" refuses 0 --by data-module views.data
ok "has no distance" shows " make-accesses$"
ok "trees of rows of data" refuses 0 --by data-source -g none views.data
ok "a word that is none" refuses 129 --by data-sorce views.data
ok "which one was meant" says "did you mean 'data-source'"
ok "perf's word" refuses 129 --by line,symbol_daddr views.data
ok "and ours" says "perf's 'symbol_daddr' is 'data-symbol' here"
ok "rows and lines exclude each other" refuses 129 --false-sharing --by line views.data
ok "no flame graph of data" refuses 129 --flamegraph x.html --by data-source views.data
ok "no time off the CPU of data" refuses 129 --off-cpu --by snoop views.data

# More places than are told apart: all samples are there, and how many are together is said.
"$make" random.data random 300000 || exit 99
ok "very many places" refuses 0 --by data-line --format csv random.data
ok "are told apart up to a limit" sh -c '[ "$(wc -l <out)" -eq 262145 ]'
ok "those that came later are together" says "more than 262144 places of data: [0-9]* samples"
ok "and none is lost" sh -c '[ "$(awk -F, "NR > 1 { n += \$11 } END { print n }" out)" -eq 300000 ]'
finish
