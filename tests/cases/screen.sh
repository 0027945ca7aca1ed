#!/bin/bash
# SPDX-License-Identifier: MIT
# What people see: text on a terminal, of 80, 120 and 200 columns, as expected outputs in tests/data/screen; what of it
# depends on the terminal; and what is found by name. `tests/cases/screen.sh --update`, with GUSPROF and GUS_BUILDDIR
# set, writes the expected outputs anew: look at them before they are committed.
. "$(dirname "$0")/lib.sh"
: "${GUS_BUILDDIR:?}"
screens=$scripts/../data/screen
LC_ALL=C.UTF-8
unset COLUMNS NO_COLOR PAGER GUSPROF_PAGER
TERM=xterm
export LC_ALL TERM
make=$GUS_BUILDDIR/tests/cases/make-screen
show=$GUS_BUILDDIR/tests/cases/show-screen
stacks=$GUS_BUILDDIR/tests/cases/make-stacks
accesses=$GUS_BUILDDIR/tests/cases/make-accesses
if [[ ! -x $make || ! -x $show || ! -x $stacks || ! -x $accesses ]]; then
	skip "there is no $make; 'make check' builds it"
fi

"$make" demo.data && "$make" process.data process && "$make" cut.data cut && "$make" deep.data deep &&
	"$stacks" stacks.data && "$accesses" views.data && "$accesses" sharing.data sharing || exit 99
report() { "$gusprof" report --symfs "$screens" "$@"; }
annotate() { "$gusprof" annotate --symfs "$screens" "$@"; }

# Their own texts, as (name, command) with @ for the width.
draw()
{
	case $1 in
	report) report --width "$2" demo.data ;;
	report-graph) report --width "$2" -g process.data ;;
	report-rows) report --width "$2" -g rows process.data ;;
	report-callers) report --width "$2" -g deep.data ;;
	report-tree) report --width "$2" -g caller deep.data ;;
	report-collapsed) report --width "$2" -g caller,fractal --collapse-recursion deep.data ;;
	report-children) report --width "$2" -g --children --max-depth 3 deep.data ;;
	report-by-comm) report --width "$2" -g caller,5 --by comm deep.data ;;
	report-line) report --width "$2" --by line demo.data ;;
	report-instruction) report --width "$2" --by instruction cut.data ;;
	report-process) report --width "$2" --by process demo.data ;;
	report-data) report --width "$2" --by line,data-source,snoop views.data ;;
	report-data-line) report --width "$2" --by data-line,access,thread sharing.data ;;
	report-sharing) report --width "$2" --false-sharing sharing.data ;;
	report-header) report --width "$2" --header --percent-limit 20 process.data ;;
	annotate) annotate --width "$2" -i process.data realloc_insert ;;
	model) "$gusprof" model --width "$2" --uarch skylake --causality --sensitivity \
		--block 4801c84829d04883c00175f4 ;;
	model-recording) "$gusprof" model --width "$2" --uarch skylake -i stacks.data ;;
	stat | repeat | slots | doctor) "$show" "$1" "$2" ;;
	esac
}
names="report report-graph report-rows report-callers report-tree report-collapsed report-children
	report-by-comm report-line report-instruction report-process report-data report-data-line
	report-sharing report-header annotate model model-recording
	stat repeat slots doctor"

if [[ ${1-} == --update ]]; then
	for name in $names; do
		for width in 80 120 200; do
			draw "$name" $width >"$screens/$name-$width.txt" 2>/dev/null || problem "$name at $width: $?"
		done
	done
	exit $failed
fi

for name in $names; do
	for width in 80 120 200; do
		draw "$name" $width >out 2>err || problem "$name at $width ends with $?"
		if ! diff "$screens/$name-$width.txt" out >diff; then
			problem "$name at $width is not as expected:"
			cat diff
		fi
		# Every character is one cell wide but for the two of a server's name, which "wc -L" knows, too.
		if [[ $(wc -L <out) -gt $width ]]; then problem "$name is wider than $width"; cat out; fi
	done
	echo "ok: $name at 80, 120 and 200 columns"
done

# Nothing is shortened where there is no terminal, or where names were asked for in full.
full='engine::vector<engine::pair<long, unsigned char>, engine::allocator<engine::pair<long, unsigned char> > >'
check "a pipe has full names" sh -c '"$1" report --symfs "$2" demo.data | grep -qF "$3::realloc_insert"' \
	sh "$gusprof" "$screens" "$full"
COLUMNS=60 report demo.data >out 2>err
expect "COLUMNS is of terminals" "$full::realloc_insert\$"
report --width 80 --full-names demo.data >out 2>err
expect "--full-names" "$full::realloc_insert\$"
report --width 80 demo.data >out 2>err
expect "shortened, with its class and all brackets" ' engine::vector<…>::realloc_insert$'
LC_ALL=C report --width 80 demo.data >out 2>err
expect "no dots of Unicode where the locale has none" ' engine::vector<..>::realloc_insert$'

# The header is three lines at most before the table; what was watched is told, and not how long.
report process.data >out 2>err
if [[ $(grep -c '^#' out) -gt 4 ]]; then problem "the header is long:"; cat out; fi
expect "a process is told with its name" '^# example: process 1234 \(shape\)$'
grep -q sleep out && problem "the duration is told as what was recorded"
expect "the cost is that of the run" '; cost 0\.99 %$'
report --header process.data >out 2>err
expect "--header has the duration" "^# duration: for as long as 'sleep 2' ran\$"
expect "beginning and end apart" 'its beginning and end took 67\.00 ms more$'
expect "--header has the date" '^# date: +2026-01-01 00:00:00 UTC, for 2\.100 s$'
report --format json process.data >process.json 2>err
if command -v python3 >/dev/null; then
	check "JSON says whom" python3 - <<'P'
import json
t = json.load(open("process.json"))["recording"]["target"]
assert t == {"kind": "process", "ids": [1234], "text": "process 1234 (shape)"}, t
P
fi
report cut.data >out 2>err
expect "a warning is marked" '^# WARNING: the recording was cut at offset'

# Views of tasks, and names.
report --by process --format csv demo.data >out 2>err
expect "by process: its first thread's name" ',1234,,shape,934,'
expect "another one" ',2000,,.*server,69,'
report --by comm --format csv demo.data >out 2>err
expect "by name: no numbers" ',,,worker/1,221,'
report --by thread --sort tid demo.data >out 2>err
if [[ $(grep -v '^#' out | awk '{ print $NF }' | tr '\n' ' ') != "1234/1234 1234/1235 2000/2000 " ]]; then
	problem "--sort tid"; cat out
fi
report --by comm --sort name demo.data >out 2>err
if [[ $(grep -v '^#' out | awk '{ print $NF }' | head -n 2 | tr '\n' ' ') != "shape worker/1 " ]]; then
	problem "--sort name of tasks"; cat out
fi
report --symbol "run,$full::realloc_insert" --format csv demo.data >out 2>err
if [[ $(wc -l <out) != 3 ]]; then problem "--symbol takes names with commas in brackets"; cat out err; fi
report --symbol '*::mix,clear*' demo.data >out 2>err
expect "--symbol takes patterns" ' engine::\(anonymous namespace\)::mix$'
expect "and several of them" ' clear_page_erms$'
expect "what it leaves out is counted" '^# 419 more samples were left out by the options$'
if [[ -s err ]]; then problem "something is said of names that are there"; cat err; fi
report --symbol clear_page_emrs demo.data >out 2>err
expect "a function that is not there" "no sample is in a function 'clear_page_emrs'; the nearest: clear_page_erms" err
expect "its report is empty" '^# no samples are left$'
report --comm nosuch demo.data >out 2>err
expect "a name that is not there" "called 'nosuch'; there are: shape, worker/1, 漢字-server" err
report --symbol page_erms demo.data >out 2>err
expect "a part of a name" "'page_erms'; with that in their names there are: .*clear_page_erms" err
report --dso libshpe.so demo.data >out 2>err
expect "a module that is not there" "called 'libshpe.so'; the nearest: libshape.so" err
annotate -i demo.data clear_page_emrs >out 2>err
expect "annotate: a function that is not there" 'no function called clear_page_emrs was sampled; the nearest: cl' err
report demo.data >out 2>err

# Colours.
esc=$(printf '\033')
report --color=always demo.data >colours 2>err
expect "colours if asked for" "^  $esc\[31m54\.24%$esc\[0m " colours
sed "s/$esc\[[0-9;]*m//g" colours >out
report demo.data 2>err | diff - out >diff || { problem "colours change the text"; cat diff; }
report demo.data | grep -q "$esc" && problem "a pipe has colours"

# On a terminal.
if ! command -v python3 >/dev/null; then
	echo "# python3 is not installed: nothing was looked at on a terminal"
	exit $failed
fi
cat >on_terminal.py <<'P'
"""on_terminal.py COLUMNS COMMAND...: runs it on a terminal of that width, prints what came, and ends as it did."""
import fcntl, os, pty, signal, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL) # which Python ignores, and its children would, too
    os.execvp(sys.argv[2], sys.argv[2:])
data = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
sys.stdout.flush()
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
P
terminal() { local columns=$1; shift; timeout 60 python3 on_terminal.py "$columns" "$gusprof" "$@"; }
report_on() { local columns=$1; shift; terminal "$columns" report --symfs "$screens" demo.data "$@"; }

for width in 80 120; do
	report_on $width --no-pager --color=never >out 2>err
	diff "$screens/report-$width.txt" out >diff || { problem "a terminal of $width columns"; cat diff; }
done
COLUMNS=80 report_on 120 --no-pager --color=never >out
diff "$screens/report-80.txt" out >diff || { problem "COLUMNS on a terminal"; cat diff; }
report_on 120 --no-pager >out
expect "a terminal has colours" "$esc\[31m"
NO_COLOR=1 report_on 120 --no-pager >out
grep -q "$esc" out && problem "NO_COLOR is not heeded"
TERM=dumb report_on 120 --no-pager >out
grep -q "$esc" out && problem "a dumb terminal has colours"

# The pager: by name, only on terminals, its reader may leave, and the status is ours.
GUSPROF_PAGER="sed s/^/paged:/" report_on 80 >out
if [[ $(grep -vc '^paged:' out) != 0 || ! -s out ]]; then problem "GUSPROF_PAGER"; cat out; fi
PAGER="sed s/^/other:/" GUSPROF_PAGER="sed s/^/paged:/" report_on 80 >out
expect "GUSPROF_PAGER before PAGER" '^paged:'
PAGER="sed s/^/other:/" report_on 80 >out
expect "PAGER" '^other:'
PAGER="sed s/^/other:/" report_on 80 --no-pager >out
grep -q '^other:' out && problem "--no-pager"
for none in '' cat; do
	PAGER="sed s/^/other:/" GUSPROF_PAGER=$none report_on 80 >out
	expect "GUSPROF_PAGER='$none' is none" '^# 1003 samples'
	grep -q other: out && problem "GUSPROF_PAGER='$none' is PAGER"
done
mkdir pagers
printf '#!/bin/sh\nexec sed s/^/less:/\n' >pagers/less
chmod +x pagers/less
PATH=$PWD/pagers:$PATH report_on 80 >out
expect "less is what pages" '^less:# 1003 samples'
PATH=$PWD/pagers:$PATH TERM=dumb report_on 80 >out
expect "a dumb terminal is not paged, as less would wait for a key there" '^# 1003 samples'
PATH=$PWD/pagers:$PATH TERM=dumb PAGER=less report_on 80 >out
expect "unless a pager is named" '^less:# 1003 samples'
GUSPROF_PAGER=no-such-pager report_on 80 >out
expect "a pager that is not there is said" "there is no pager 'no-such-pager'"
expect "and the text is there" '^# 1003 samples'
GUSPROF_PAGER="head -n 1" report_on 80 >out
status=$?
if [[ $status != 0 || $(wc -l <out) != 1 ]]; then problem "a reader that leaves: status $status"; cat out; fi
# More than a pipe holds, so that there is something to be written when the reader has left.
"$make" many.data many || exit 99
GUSPROF_PAGER="head -n 1" terminal 80 report --by instruction many.data >out
status=$?
if [[ $status != 0 || $(wc -l <out) != 1 ]]; then problem "a reader that leaves early: status $status"; cat out; fi
GUSPROF_PAGER="sed s/^/paged:/" terminal 80 annotate --symfs "$screens" -i demo.data nothing-like-it >out
status=$?
if [[ $status != 129 ]]; then problem "the status with a pager is $status"; fi
expect "what fails before is not paged" '^gusprof: no function called'
GUSPROF_PAGER="sed s/^/paged:/" report_on 80 --comm nosuch >out
expect "what is said on stderr is paged as well" '^paged:gusprof: warning: no sample is of a thread'
GUSPROF_PAGER="sed s/^/paged:/" report --width 80 demo.data >out
grep -q paged: out && problem "a pipe is paged"
GUSPROF_PAGER="sed s/^/paged:/" report_on 80 --format json >out
grep -q paged: out && problem "JSON is paged"
exit $failed
