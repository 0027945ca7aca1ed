#!/bin/sh
# SPDX-License-Identifier: MIT
# What somebody types in the first hour who knows perf, or who mistypes: each gets one line that says what to do, and
# the status of its kind: 129 for what was typed, 125 for a file.
. "$(dirname "$0")/lib.sh"

printf 'PERFILE2 and more of it, so that there is a header' >theirs
printf '2ELIFREP\0\0\0\0\0\0\0\150' >swapped
printf '\037\213\010 and more of it, so that there is a header' >gz
printf '\050\265\057\375 and more of it, so that there is a header' >zst
printf '\3757zXZ and more of it, so that there is a header' >xz
printf 'PERF' >short
printf 'nothing that anybody knows, and long enough' >other
: >empty
mkfifo fifo
mkdir folder

# status | what is said | what is typed
while IFS='|' read -r want text words; do
	# shellcheck disable=SC2086 # words
	timeout 10 "$gusprof" $words >out 2>err </dev/null
	status=$?
	ok "$words: status $want" is $status "$want"
	ok "$words: says '$text'" says "$text" err
	ok "$words: nothing on standard output" [ ! -s out ]
done <<LIST
129|did you mean 'report'|reprot
129|did you mean 'record'|recrod -- ls
129|did you mean 'annotate'|anotate
129|did you mean 'report'|help reprot
129|see 'gusprof --help'|frobnicate
129|gusprof doctor|list
129|record -a|top
129|script --folded|flamegraph
129|record -- /bin/true|/bin/true
129|did you mean '--percent-limit'|report --persent-limit 3
129|did you mean '--percent-limit'|report --persent-limit=3
129|did you mean '--no-inline'|report --no-inlin_e
129|did you mean '--call-graph'|record --callgraph -- ls
129|unknown or ambiguous option --zzz$|report --zzz
129|unknown or ambiguous option -Z$|report -Z
129|did you mean 'function'|report --by functoin
129|did you mean 'json'|report --format jsn
129|--by takes function.*, not 'zebra'$|report --by zebra
129|did you mean 'share'|report -s shar
129|for perf's 'comm' use --by comm|report -s comm,dso,sym
129|--by takes several with commas|report -s comm,dso,sym
129|for perf's 'sym' use --by function$|report -s sym
129|did you mean 'show'|uarch shwo
129|did you mean 'header'|dump --type hedaer
129|did you mean 'symoff'|script -F ip,symof
129|did you mean 'cpu-clock'|record -e cpu-clok -- ls
129|report has no --tui: |report --tui
129|report has no --field-separator: |report --field-separator=;
129|stat has no -d: |stat -d true
129|annotate has no --tui: |annotate --tui
129|annotate has no -S: -s NAME shows that function|annotate -S main
129|auto, tables, fp, dwarf, lbr or none|record --call-graph caller -- ls
129|always compressed|record -z -- ls
129|no such process runs|record -p
129|separated by commas|record -p 1 2 3
125|gusprof record -- ./app|report
125|gusprof record -- ./app|annotate
125|gusprof record -- ./app|script
125|gusprof record -- ./app|dump
125|there is no such file; 'gusprof record -o nosuch|report nosuch
125|functions are for 'gusprof annotate|report main
125|recording old/perf.data: there is no such file$|report old/perf.data
125|recording x.data: there is no such file$|report x.data
125|cannot import nosuch: No such file or directory$|import nosuch
129|--by data-source|report --mem-mode
129|the kernel that runs, if it is the one|report --vmlinux x
125|theirs is corrupt: its header says|report theirs
125|theirs is corrupt: its header says|script theirs
125|theirs is corrupt: its header says|annotate -i theirs
125|theirs is corrupt: its header says|dump theirs
125|theirs is corrupt: its header says|import theirs
125|swapped was cut: it ends within its header|report swapped
125|compressed by gzip|report gz
125|compressed by zstd|report zst
125|compressed by xz|report xz
125|a program: 'gusprof record -- PROGRAM'|report /bin/true
125|other is neither a recording of gusprof nor of perf$|report other
125|short is neither a recording of gusprof nor of perf$|report short
125|empty is empty$|report empty
125|it is a folder|report folder
125|it is a folder|annotate -i folder
125|it is a folder|script folder
125|it is a folder|dump folder
125|folder|model -i folder
125|-i -|report fifo
125|not a regular file|report /dev/null
LIST
"$gusprof" report theirs 2>&1 | grep -q . && : >perf.data
"$gusprof" report >out 2>err
ok 'a perf.data in this folder is mentioned' says 'i perf.data shows it' err

ok '-v is --version' is "$("$gusprof" -v)" "$("$gusprof" --version)"

# Options that say what is so anyhow.
if "$gusprof" record -q -g -o x -- "$GUS_DEMO" 0.2 >out 2>err; then
	"$gusprof" report x >expected 2>/dev/null
	"$gusprof" report --stdio -n --no-children x >out 2>/dev/null
	ok 'report --stdio -n --no-children is report' cmp out expected
	"$gusprof" annotate x >expected 2>/dev/null
	"$gusprof" annotate --stdio x >out 2>/dev/null
	ok 'annotate --stdio is annotate' cmp out expected
	"$gusprof" report -g --children --format csv x >out 2>/dev/null
	"$gusprof" report -g -s total --format csv x >expected 2>/dev/null
	ok 'report --children is by total' cmp out expected
	"$gusprof" report -g --format csv x >expected 2>/dev/null
	ok 'which is another order' not cmp -s out expected
	"$gusprof" report -g --children x >expected 2>/dev/null
	"$gusprof" report --children x >out 2>/dev/null
	ok 'report --children has trees without -g' cmp out expected
	"$gusprof" report -g rows -s total x 2>/dev/null | grep -v '% *call' >expected
	"$gusprof" report --children -g none x >out 2>/dev/null
	ok 'with -g none it is rows with what they take in all' cmp out expected
	"$gusprof" report -s overhead --format csv x >out 2>/dev/null
	"$gusprof" report -s share --format csv x >expected 2>/dev/null
	ok "perf's overhead is share" cmp out expected
fi
finish
