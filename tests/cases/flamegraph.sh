#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof report --flamegraph: the page's markup as a parser of HTML reads it, its data against what report and script
# say of the same recording, names that mean something to a browser, the files that it is written to, and, where node
# is, its script's own functions. What a browser makes of it: flamegraph-browser.sh.
: "${GUS_BUILDDIR:?}" "${GUS_SRCDIR:?}"
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
make=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases/make-calls
flame() { PYTHONDONTWRITEBYTECODE=1 python3 "$scripts/flame.py" "$@"; }
# page OF [OPTION...]: makes OF.html of the recording OF.
page() { local of=$1; shift; "$gusprof" report -q -i "$of" --flamegraph "$of.html" "$@" >out 2>err; }
same() { diff "$1" "$2" >diff.out || { cut -c 1-200 diff.out | head -n 10; return 1; }; }

for kind in small hostile torn tasks inlined deep flat empty; do
	"$make" $kind $kind || problem "$kind was not made"
	page $kind
	ok "$kind: a page" test $? = 0
	ok "$kind: says nothing" test ! -s out
	ok "$kind: markup, policy, order" flame $kind.html check
done
"$make" many many 20000 || problem "many was not made"
page many
ok "many: markup, policy, order" flame many.html check
ok "many: 20,000 stacks in less than 2 MB" test "$(stat -c %s many.html)" -lt 2000000
ok "many: samples and weight are all there" is "$(flame many.html totals)" \
	"$("$gusprof" report -i many --format json 2>err | python3 -c '
import json, sys
t = json.load(sys.stdin)["total"]
print(t["samples"], t["weight"])')"

# The stacks, with what a frame is.
cat >want <<'P'
main 10000000
main;[0x10000] 2000000
main;qsort;cmp:are 15000000
main;recurse 5000000
main;recurse;recurse;recurse 20000000
main;work 40000000
main;work;do_syscall_64 4000000
main;work;qsort;cmp:are 4000000
P
sed -i 's/\[0x10000\]/[unknown]/' want
flame small.html folded >got
ok "small: the stacks" same want got
printf '%s\t%s\t%s\n' '[unknown]' '[unknown]' unknown 'cmp;are' /opt/lib/libsort.so.6 library \
	do_syscall_64 '[kernel]' kernel main /opt/app program qsort /opt/lib/libsort.so.6 library \
	recurse /opt/app program work /opt/app program >want
flame small.html names >got
ok "small: functions, modules and what these are" same want got
for by in comm process thread; do
	page small --by $by
	flame small.html check || problem "--by $by"
	flame small.html names | grep task$ | cut -f 1 | tr '\n' , >$by.got
done
ok "by comm" is "$(cat comm.got)" app,worker,
ok "by process" is "$(cat process.got)" "app 1000,"
ok "by thread" is "$(cat thread.got)" "app 1000/1000,worker 1000/1001,"
# What script folds has names of the kernel marked, as other programs look for that.
for of in small many; do
	page $of --by comm
	"$gusprof" script -i $of --folded 2>err | sed 's/_\[k\]//g' >want
	flame $of.html folded >got
	ok "$of: by comm it is what script folds" same want got
done
flame torn.html folded >got
printf '%s\n' '[truncated];work;work 2000000' 'main 1000000' 'main;work 6000000' >want
ok "torn: what has no outer end stands on [truncated]" same want got
ok "torn: what is whole, of what is known" is "$(flame torn.html data whole)" '{"whole": "75.00 %"}'
ok "small: of nothing it is known" is "$(flame small.html data whole)" '{"whole": ""}'
for by in comm process thread; do
	page tasks --by $by
	flame tasks.html folded >$by.got
done
printf '%s\n' '[unnamed];do_syscall_64 4000000' 'after;do_syscall_64 2000000' 'before;do_syscall_64 1000000' >want
ok "tasks: by the names of then" same want comm.got
printf '%s\n' '[unnamed] 1000/1000;do_syscall_64 4000000' 'after 1000/1001;do_syscall_64 3000000' >want
ok "tasks: by thread, which has its last name" same want thread.got
ok "tasks: by process" is "$(cat process.got)" '[unnamed] 1000;do_syscall_64 7000000'
ok "inlined: functions are frames" is "$(flame inlined.html folded | tr '\n' ,)" \
	'inner 2000000,outer;middle;inner 1000000,'
ok "and marked" is "$(flame inlined.html names | cut -f 1,3 | tr '\t\n' ' ,')" \
	'inner program,inner inlined,middle inlined,outer program,'
page inlined --no-inline
ok "if they are wanted" is "$(flame inlined.html folded | tr '\n' ,)" 'inner 2000000,outer 1000000,'

# Filters.
page small --comm worker
ok "--comm" is "$(flame small.html totals)" "4 25000000"
page small --symbol recurse
ok "--symbol" is "$(flame small.html totals)" "2 25000000"
page small --dso libsort.so.6
ok "--dso" is "$(flame small.html totals)" "2 19000000"
page small --time 0%-0.0004%
ok "--time" is "$(flame small.html totals)" "4 75000000"
ok "what a filter left out is told" says '"left out by options", "4"' <(flame small.html data facts)
page small --comm nobody
ok "a filter that leaves nothing: no stacks" is "$(flame small.html totals)" "0 0"
ok "and that is told" says 'no samples to show' <(flame small.html data notices)

# What is said of the recording.
page small
ok "the title is the command" says '"title": "./app --fast"' <(flame small.html data title)
ok "the host" says '"host", "example"' <(flame small.html data facts)
ok "the event" says '"event", "cpu-clock"' <(flame small.html data facts)
ok "samples and their time" says '8 samples of cpu-clock, 100.00 ms of CPU time in 1.000 s' \
	<(flame small.html data summary)
ok "a weight is a nanosecond" says '"unit": "ns", "nsPerWeight": 1.0' <(flame small.html data unit nsPerWeight)
ok "no notice" is "$(flame small.html data notices)" '{"notices": []}'
page empty
ok "empty: that is told" says 'no samples to show' <(flame empty.html data notices)
"$gusprof" report -i flat --flamegraph flat.html >out 2>err
ok "flat: a warning" says 'warning: flat has no call chains: record with -g'
ok "flat: and in the page" says 'no call chains.*record with -g' <(flame flat.html data notices)
ok "flat: one level" is "$(flame flat.html folded)" "space_0::function_0 1000000"
head -c $(($(stat -c %s small) - 300)) small >cut
"$gusprof" report -i cut --flamegraph cut.html >out 2>err
ok "cut: a warning" says 'warning: the recording was cut at offset'
ok "cut: and in the page" says 'the recording was cut at offset' <(flame cut.html data notices)

# Names.
flame hostile.html names | cut -f 1 >got
for name in '</script><b>bold</b>' 'operator<' ']]><!--<script>' 'line end ' "\"quote'\\&amp;" '???_bytes' \
	'?backwards' '?[31m FORGED' 'javascript:alert(1)' __proto__ '$&'; do
	ok "hostile: $name" grep -qxF -- "$name" got
done
ok "hostile: 65,000 letters" is "$(awk '{ if (length > most) most = length } END { print most }' got)" 65000
ok "hostile: the title" grep -qF '<title>&#60;/title&#62;&#60;script&#62;alert(1)' hostile.html

# Files.
"$gusprof" report -i small --flamegraph - >stdout.html 2>err
ok "standard output" cmp small.html stdout.html
LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$gusprof" report -i small --flamegraph again.html 2>err
ok "the same input, the same bytes, in each locale" cmp small.html again.html
ok "the page is for whom the mask lets read" is "$(umask 027; page small; stat -c %a small.html)" 640
echo mine >page
"$gusprof" report -i small --flamegraph page 2>err
ok "what was there is kept" is "$(cat page.old)" mine
echo secret >victim
ln -s victim link
"$gusprof" report -i small --flamegraph link 2>err
ok "a link is not written through" is "$(cat victim)" secret
ok "and the page has its name" cmp small.html link
"$gusprof" report -i small --flamegraph none/page >out 2>err
ok "no such folder" is "$?:$(wc -l <err)" 125:1
ok "and that is said" says 'cannot create the flame graph none/page: No such file'
"$gusprof" report -i nothing --flamegraph unmade >out 2>err
ok "no recording, no page" is "$?:$(test -e unmade || echo none)" 125:none
if [ -w /dev/full ]; then
	"$gusprof" report -i small --flamegraph /dev/full >out 2>err
	ok "a full disk: one error" is "$?:$(wc -l <err)" 125:1
	ok "and that is said" says 'cannot write the flame graph to /dev/full: No space'
	"$gusprof" report -i small --flamegraph - >/dev/full 2>err
	ok "the same of standard output" is "$?" 125
fi
for name in x.svg a.png b.JSON .svg; do
	"$gusprof" report -i small --flamegraph $name >out 2>err
	ok "$name: what it is not" is "$?:$(test -e $name || echo none)" 129:none
	ok "and it is said what it is" says 'it is a page of HTML'
done
for name in svg x.svg.html; do
	"$gusprof" report -i small --flamegraph $name >out 2>err
	ok "$name" cmp small.html $name
done
"$gusprof" report -i small --flamegraph "" >out 2>err
ok "an empty name" is "$?" 129
for wrong in "--format json" "--sort name" "--percent-limit 1" "--header" "--by line" "--by module" \
	"--by instruction"; do
	# shellcheck disable=SC2086 # words
	"$gusprof" report -i small --flamegraph x $wrong >out 2>err
	ok "$wrong does not fit" is "$?:$(test -e x || echo none)" 129:none
done
"$gusprof" report -g -i small --flamegraph again.html 2>err
ok "-g does" cmp small.html again.html

# The page's script by itself.
if command -v node >/dev/null; then
	node "$scripts/flame_tree.js" "$GUS_SRCDIR/cli/report/flame/tree.js" small.html many.html >out 2>err
	ok "the script's functions" test $? = 0
	grep '^not ok' out
else
	echo "left out: the script's functions (node is not installed)"
fi
finish
