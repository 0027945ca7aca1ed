#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of programs with debug information: what is remembered of them, and in which kinds of files they are found.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null && command -v objcopy >/dev/null || skip "needs a C compiler and binutils"

cat >spin.c <<'END'
#include <time.h>
static volatile unsigned long sum;
static inline __attribute__((always_inline)) void add(unsigned long x)
{
	sum += x * x;
}
__attribute__((noinline)) void spin(void)
{
	for (unsigned long i = 0; i < 20000000; i++)
		add(i);
}
int main(void)
{
	while (clock() < 300 * (CLOCKS_PER_SEC / 1000))
		spin();
}
END
cc -g -O1 -Wl,--build-id=sha1 spin.c -o spin || exit 99
"$GUSPROF" record -q -o spin.data -- ./spin >out 2>err
skip_if_refused $?

report() { timeout 60 "$GUSPROF" report -i spin.data --by line --format csv "$@" >out 2>err; }
same() { report "$@" && cmp -s out first; }
# cached FOLDER N: the program has N files there. (The C library may have one more: it has a sample now and then.)
id=$(readelf -n spin | sed -n 's/.*Build ID: //p')
cached() { [ "$(find "$1" -name "$id-*.names" 2>/dev/null | wc -l)" = "$2" ]; }
mode_of() { [ "$(stat -c %a "$1")" = "$2" ]; }

ok "a report finds the inlined function" report --no-cache
cp out first
ok "and its line" grep -q 'add,.*spin\.c,5,' first

unset GUSPROF_CACHE XDG_CACHE_HOME
ok "--no-cache makes no folder" same --no-cache
ok "nor the one above" test ! -e "$HOME"/.cache
ok "the first report is the same" same
ok "and is remembered" cached "$HOME"/.cache/gusprof 1
ok "in a folder that is ours" mode_of "$HOME"/.cache/gusprof 700
ok "and a file that is ours" mode_of "$(echo "$HOME"/.cache/gusprof/"$id"-*)" 600
ok "the second is the same" same
echo x >>"$(echo "$HOME"/.cache/gusprof/"$id"-*)"
ok "a damaged file changes nothing" same
ok "and is whole again" same
annotate() { GUSPROF_CACHE=$work/annotated timeout 60 "$GUSPROF" annotate -i spin.data spin >out 2>err; }
ok "an annotation remembers too" annotate
ok "in one file" cached annotated 1
XDG_CACHE_HOME=$work/xdg report
ok "XDG_CACHE_HOME is another place" cached xdg/gusprof 1
XDG_CACHE_HOME=relative report
ok "but for a relative one" test ! -e relative
GUSPROF_CACHE=$work/own report
ok "GUSPROF_CACHE is one" cached own 1
rm -rf "$HOME"/.cache
GUSPROF_CACHE='' report
ok "an empty one is none" test ! -e "$HOME"/.cache
mkdir -m 777 open
GUSPROF_CACHE=$work/open report -v
ok "where others may write the report is the same" cmp -s out first
ok "nothing is kept" cached open 0
ok "and -v says why" grep -q 'nothing is remembered.*open: others may write' err
GUSPROF_CACHE=/proc/none report
ok "where nothing can be kept the report is the same" cmp -s out first

# debuginfod: a server that has one file, and one that takes its time.
server=$work/server
mkdir -p "$server/buildid/$id"
objcopy --only-keep-debug spin "$server/buildid/$id/debuginfo"
strip spin
export DEBUGINFOD_CACHE_PATH=$work/fetched DEBUGINFOD_TIMEOUT=90 DEBUGINFOD_URLS=
GUSPROF_CACHE=
export GUSPROF_CACHE
ok "stripped it has no lines" report
ok "(none)" test "$(grep -c 'spin\.c' out)" = 0
report --debuginfod
ok "without a server to ask it is an error" grep -q 'DEBUGINFOD_URLS' err
ok "that is one line" test "$(wc -l <err)" = 1
if command -v python3 >/dev/null && ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1; then
	cat >serve.py <<'END'
import http.server, os, socket, sys
os.chdir(sys.argv[1])
slow = socket.socket()
slow.bind(("127.0.0.1", 0))
slow.listen(20)
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
with open("../ports.new", "w") as f:
	f.write("%d %d\n" % (server.server_port, slow.getsockname()[1]))
os.rename("../ports.new", "../ports")
server.serve_forever()
END
	python3 serve.py "$server" 2>asked &
	children=$!
	for _ in $(seq 100); do
		test -e ports && break
		sleep 0.1
	done
	read -r port slow <ports
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	ok "nobody is asked without --debuginfod" report
	ok "(nobody)" test ! -s asked
	ok "with it the report" report --debuginfod
	ok "has lines and inlined functions again" grep -q 'add,.*spin\.c,5,' out
	ok "what was fetched is of the hot module alone" test "$(grep -c 'GET /buildid/' asked)" = 1
	cp out fetched.csv
	GUSPROF_CACHE=$work/remembered report --debuginfod
	GUSPROF_CACHE=$work/remembered report --debuginfod
	ok "remembered it is the same" cmp -s out fetched.csv
	ok "and one file" cached remembered 1
	rm -rf fetched "$server/buildid"
	report --debuginfod
	ok "what no server has is said" grep -q 'no debug information of .*spin from debuginfod: .*No such file' err
	rm -rf fetched
	export DEBUGINFOD_URLS=http://127.0.0.1:$slow
	begun=$SECONDS
	ok "a server that does not answer is no failure" report --debuginfod --debuginfod-time 2
	ok "and given up in time" test $((SECONDS - begun)) -le 20
	ok "which is said" grep -q 'took all of the time' err
	report --debuginfod-time 2
	ok "a time alone is an error" grep -q 'needs --debuginfod' err
else
	echo "# skipped in part: needs python3 and libdebuginfod"
fi
finish
