#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof diff: a cost that was put in at one place is found there, in amount and component, and nowhere else; the same
# program twice differs by chance alone.
. "$(dirname "$0")/lib.sh"
shown='err out'
GUSPROF_CACHE=$PWD/cache # each recording's account is made once

# Two functions, each a chain; CODE is a turn of the second one.
build() # FILE CODE
{
	cat >"$1.c" <<C
#include <stdint.h>
static void __attribute__((noinline)) still(uint64_t n)
{
	uint64_t x = 3;
	for (; n; n--)
		__asm__ volatile("$again $again" : "+r"(x));
}
static void __attribute__((noinline)) changed(uint64_t n)
{
	uint64_t x = 3;
	for (; n; n--)
		__asm__ volatile("$2" : "+r"(x));
}
int main(void)
{
	for (int i = 0; i < 20; i++) {
		still(10000000);
		changed(10000000);
	}
}
C
	# shellcheck disable=SC2086 # it may be words
	${CC:-cc} -O1 -o "$1" "$1.c" 2>err || skip "no compiler: $(head -n 1 err)"
}
case $(uname -m) in
x86_64) again='imul %0, %0;' nothing='.byte 0x0f, 0x1f, 0x40, 0x00;' ;;
aarch64) again='mul %0, %0, %0;' nothing='nop;' ;;
*) skip "no loop for this processor" ;;
esac
build app "$again $nothing"
"$gusprof" record -q -o before -- ./app >out 2>err
skip_if_refused $?
"$gusprof" record -q -o same -- ./app >out 2>err
build app "$again $again"
"$gusprof" record -q -o after -- ./app >out 2>err

# json EXPRESSION: of d, the document, and rows by function
json()
{
	python3 - "$1" <<'P'
import json, sys
d = json.load(open("out"))
rows = {r["function"]: r for r in d["rows"]}
change = rows["changed"]["change"]["value"]
sys.exit(not eval("(" + sys.argv[1] + ")"))
P
}
"$gusprof" diff --format json before after >out 2>err
ok "the change is in the function that was changed" json 'rows["changed"]["sure"] and change > 0'
ok "where it takes twice as long" json '0.8 < change / rows["changed"]["before"]["value"] < 1.25'
ok "and is all that the whole changed by" json 'abs(change - d["total"]["change"]["value"]) < 0.5 * change'
ok "no other function changed as much" json 'all(abs(r["change"]["value"]) < 0.2 * change
	for f, r in rows.items() if f != "changed")'
ok "parts of a change add up to it" json 'all(abs(sum(p["change"]["value"] for p in r["stack"].values()) -
	r["change"]["value"]) < 1e3 for r in d["rows"])'
"$gusprof" diff before after --fail-on 'changed>+50%' >out 2>err
ok "a condition that holds: status 1" is $? 1
ok "which is said" says 'changed>+50%: .* it does'
ok "in text the row is first" eval "grep -m 1 -v '^#' out | grep -q 'changed \['"
"$gusprof" diff before same --fail-on 'total>+30%' --fail-on 'changed<-30%' >out 2>err
ok "one that does not: status 0" is $? 0
ok "which is said of each" is "$(grep -c 'not for sure' err)" 2
"$gusprof" diff before after --normalise still --format json >out 2>err
ok "as multiples of what did not change" json '0.7 < rows["changed"]["after"]["value"] < 1.4 and
	abs(rows["still"]["before"]["value"] - 1) < 1e-9'
"$gusprof" diff before after --by module >out 2>err
ok "by module" eval "grep -v '^#' out | grep -q app"

# The new build by another name, and by something that executes it.
cp app newer
"$gusprof" record -q -o renamed -- env ./newer >out 2>err
"$gusprof" diff --format json before renamed >out 2>err
ok "the program is one, whatever its file is called" json '0.8 < change / rows["changed"]["before"]["value"] < 1.25 and
	(d["before"]["program"], d["after"]["program"]) == ("app", "newer")'
"$gusprof" diff --by instruction before renamed >out 2>err
ok "its name before and after is said" says '^# program: app -> newer, ' out
ok "rows have the new one" eval "! grep -q '\[app\]' out && grep -q 'changed+.* \[newer\]' out"
"$gusprof" diff --all --by thread --format json before renamed >out 2>err
ok "and its thread is one" python3 -c 'import json
for r in json.load(open("out"))["rows"]:
	if r["name"].startswith("newer "):
		assert r["before"]["value"] > 0.3 * r["after"]["value"], r
		break
else:
	raise SystemExit("no such thread")'
"$gusprof" diff before after >out 2>err
ok "of one name nothing is said" eval "! grep -q '^# program' out"

# Several of each, in turns.
for kind in before same after; do
	cp "$kind" "$kind.2"
	cp "$kind" "$kind.3"
done
"$gusprof" diff --format json before after same after.2 before.2 after.3 >out 2>err
ok "of pairs the same is found" json '0.8 < change / rows["changed"]["before"]["value"] < 1.25 and
	d["before"]["paths"] == ["before", "same", "before.2"] and
	d["after"]["paths"] == ["after", "after.2", "after.3"]'
ok "no surer than runs differ" json 'rows["still"]["before"]["ci95"][1] - rows["still"]["before"]["ci95"][0] >
	abs(rows["still"]["before"]["value"] - rows["still"]["after"]["value"])'
"$gusprof" diff before after same after.2 >out 2>err
ok "in text the first is named" says '^# before: before and 1 more, [0-9]* samples of .* on average' out
"$gusprof" diff before after before after.2 >out 2>err
ok "one that is given twice: status 129" is $? 129
ok "which is said" says 'before and before are the same file'
"$gusprof" diff before before >out 2>err
ok "with itself one can be compared: status 0" is $? 0
ok "which is said" says 'before and before are the same file, of which nothing can have changed'
"$gusprof" diff before after >out 2>err
ok "of two nothing is said" eval "! grep -q 'same file' err"
"$gusprof" diff before after same >out 2>err
ok "one without its pair: status 129" is $? 129

# What cannot be compared.
"$gusprof" diff before >out 2>err
ok "one recording: status 129" is $? 129
"$gusprof" diff before none >out 2>err
ok "one that is not there: status 125" is $? 125
"$gusprof" diff before after --normalise nobody >out 2>err
ok "a function that is not there: status 125" is $? 125
ok "which is said" says 'there is no such function in before'
"$gusprof" diff before after --fail-on 'nosuch>+2%' >out 2>err
ok "what is nowhere: status 125" test $? = 125
ok "and it is said" grep -q "neither recording has a function 'nosuch'" err
"$gusprof" diff before after --fail-on ' changed > +50%' >out 2>err
ok "spaces are none of its name: status 1" test $? = 1
for pair in 'share total' 'still still'; do
	# shellcheck disable=SC2086 # it is two words
	set -- $pair
	"$gusprof" diff before after --normalise "$1" --fail-on "$2>+2%" >out 2>err
	ok "$2, normalised by $1, is always the same: status 129" is $? 129
	ok "which is said" says "^gusprof: --fail-on $2>+2% says nothing with --normalise $1"
	"$gusprof" diff before after --normalise "$1" --fail-on 'changed>+5%' >out 2>err
	ok "of something else it is not: status 1" is $? 1
done
"$gusprof" diff before after --normalise still --fail-on 'total>+2%' >out 2>err
ok "the whole, normalised by a function: status 1" is $? 1
"$gusprof" diff before after --fail-on 'total' >out 2>err
ok "no condition: status 129" is $? 129
finish
