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
cached() { [ "$(find "$1" -name '*.names' 2>/dev/null | wc -l)" = "$2" ]; }
mode_of() { [ "$(stat -c %a "$1")" = "$2" ]; }

ok "a report finds the inlined function" report --no-cache
cp out first
ok "and its line" grep -q 'add,.*spin\.c,5,' first

HOME=$work/home
export HOME
mkdir home
unset GUSPROF_CACHE XDG_CACHE_HOME
ok "--no-cache makes no folder" same --no-cache
ok "nor the one above" test ! -e home/.cache
ok "the first report is the same" same
ok "and is remembered" cached home/.cache/gusprof 1
ok "in a folder that is ours" mode_of home/.cache/gusprof 700
ok "and a file that is ours" mode_of "$(echo home/.cache/gusprof/*)" 600
ok "the second is the same" same
echo x >>"$(echo home/.cache/gusprof/*)"
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
rm -rf home/.cache
GUSPROF_CACHE='' report
ok "an empty one is none" test ! -e home/.cache
mkdir -m 777 open
GUSPROF_CACHE=$work/open report -v
ok "where others may write the report is the same" cmp -s out first
ok "nothing is kept" cached open 0
ok "and -v says why" grep -q 'nothing is remembered.*open: others may write' err
GUSPROF_CACHE=/proc/none report
ok "where nothing can be kept the report is the same" cmp -s out first
finish
