#!/bin/bash
# SPDX-License-Identifier: MIT
# record --embed from outside: recordings keep their names when the programs are rebuilt, deleted, or on another
# machine, for which a folder that has nothing but gusprof and its libraries stands in (chroot). Needs a perf_event
# clock, a C++ compiler and python3; what needs root or user namespaces is left out where there are none, and says so.
. "$(dirname "$0")/lib.sh"
command -v c++ >/dev/null || skip "a C++ compiler (c++) is missing"
command -v python3 >/dev/null || skip "python3 is not installed"

cat >shapes.cc <<'P'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
namespace shapes {
struct point { double x, y; double dot(const point &o) const { return x * o.x + y * o.y; } };
template <typename T> static inline T square(T v) { return v * v; }
struct polygon {
	std::vector<point> points;
	explicit polygon(size_t n) : points(n) {
		for (size_t i = 0; i < n; i++)
			points[i] = { double(i % 17), double(i % 13) };
	}
	__attribute__((noinline)) double area() const {
		double sum = 0;
		for (size_t i = 0; i + 1 < points.size(); i++)
			sum += square(points[i].dot(points[i + 1]));
		return sum;
	}
	__attribute__((noinline)) void sort() {
		std::sort(points.begin(), points.end(), [](const point &a, const point &b) {
			return a.x < b.x || (a.x == b.x && a.y < b.y); });
	}
};
}
static __attribute__((noinline)) size_t words(int n)
{
	std::map<std::string, int> m;
	for (int i = 0; i < n; i++)
		m[std::to_string(i * 7919 % 1009)]++;
	return m.size();
}
int main(int argc, char **argv)
{
	double sum = 0;
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
		shapes::polygon p(100000);
		p.sort();
		for (int k = 0; k < 20; k++) { // other points each time, or one call is enough
			p.points[k].x += k;
			sum += p.area();
		}
		sum += double(words(20000));
	}
	printf("%f\n", sum);
}
P
build() { c++ -O2 -g -Wl,--build-id=sha1 "$@" shapes.cc -o shapes; }
# take ARGUMENT...: records; again if anything is left out because this machine is busy, as it then is by rule. Where it
# is too busy each time, and under sanitizers, something of libraries is left out at most: then whole is 0.
whole=1
windows=(--trace off) # of most of these nobody looks at what was executed
take()
{
	local try
	for try in 1 2 3 4 5; do
		timeout 60 "$gusprof" record "${windows[@]}" -v -F 2000 "$@" >out 2>err || return
		grep -q "no time or room" err || return 0
	done
	whole=0
	echo "# something is left out: $(grep "no time or room" err | head -1)"
}
build || skip "the C++ compiler does not build the test's program"
take --embed=symbols -o symbols.data -- ./shapes 60
skip_if_refused $?
ok "the summary says what was taken along" says '\[ names of [0-9]* functions: [0-9.]* KB \]'
for what in none lines all; do
	take --embed=$what -o $what.data -- ./shapes 60 || problem "record --embed=$what: $(head -1 err)"
done
ok "a word that it does not know is refused" not timeout 10 "$gusprof" record --embed=some -- true

# Rows of a report as lines that can be compared: what they are, and how many samples.
cat >rows.py <<'P'
import json, sys
for r in json.load(open(sys.argv[1]))["rows"]:
    print(*(r[k] for k in ("module", "function", "file", "line", "offset", "samples")), sep="\t")
P
# All that annotate says, but for the text of source lines, which no recording has.
cat >insns.py <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
for f in d["functions"]:
    for line in f["lines"]:
        del line["source"]
print(json.dumps([d["functions"], d["rows"]], indent=1))
P
# report NAME ARGUMENT...: the rows, in NAME.rows, and what was said, in NAME.said.
report()
{
	local name=$1
	shift
	timeout 60 "${in[@]}" "$gusprof_there" report --format json "$@" >json 2>"$name.said" &&
		python3 rows.py json >"$name.rows"
}
in=() gusprof_there=$gusprof
views() {
	report "$1.symbols" --dso shapes --no-inline "$2"symbols.data
	report "$1.lines" --dso shapes --by line "$2"lines.data
	report "$1.functions" --dso shapes "$2"lines.data
	report "$1.all" --dso shapes --by line "$2"all.data
	report "$1.none" "$2"none.data
	timeout 60 "${in[@]}" "$gusprof_there" annotate --dso shapes --percent-limit 2 --format json \
		-i "$2"all.data >json 2>"$1.annotate.said" && python3 insns.py json >"$1.annotate"
	[ $whole = 0 ] && return
	timeout 200 "${in[@]}" "$gusprof_there" model -i "$2"all.data >"$1.model" 2>"$1.model.said"
	report "$1.rest" --by line "$2"all.data
	report "$1.names" --no-inline "$2"symbols.data
}
# What is looked at is worth it: names, inlines, lines, instructions, regions.
views here ""
for name in shapes::polygon::area shapes::polygon::sort; do
	ok "$name is in the report" grep -q "$name" here.functions.rows
done
ok "inlined functions are, too" grep -qE "shapes::(square|point::dot)|::\{lambda" here.functions.rows
ok "and lines" grep -qE "shapes.cc	[0-9]+" here.lines.rows
ok "annotate has instructions and lines" grep -qE "mulsd|mulpd|fmul|vfm|addsd|fmadd" here.annotate
views_whole='symbols.rows lines.rows functions.rows all.rows annotate'
if [ $whole = 1 ]; then
	ok "model has a region of it" grep -q "shapes" here.model
	views_whole="$views_whole rest.rows names.rows model"
fi

# same WHERE: every view is as it was beside the programs.
same() {
	for view in $views_whole; do
		sed "s|^/all.data|all.data|" "$1.$view" >now
		cmp -s "here.$view" now || diff "here.$view" now | head -n 20
		ok "$1: $view as beside the programs" cmp -s "here.$view" now
	done
}
lost() { ! grep -q "shapes::polygon" "$1" && grep -q "/shapes	None" "$1"; }

# A rebuilt program, and none at all.
build -fno-inline -DNDEBUG
views rebuilt ""
same rebuilt
ok "--embed=none has lost them" lost rebuilt.none.rows
ok "and says why" says "its file changed since the recording" rebuilt.none.said
rm shapes
views deleted ""
same deleted
ok "what brought its names along says nothing" not says shapes deleted.symbols.said
timeout 60 "$gusprof" annotate -i lines.data >out 2>err
ok "names without code are said to be that" says "no code (record --embed=all)"

# What the recording has.
timeout 20 "$gusprof" dump --frames-only all.data >out 2>err
ok "dump tells bytes of each module" grep -qE \
	'embedded: [0-9]+ bytes, .*; of .*/shapes: [0-9]+ functions, lines of [1-9][0-9]* bytes of code, [1-9]' out
timeout 20 "$gusprof" dump --frames-only none.data >out 2>err
ok "--embed=none takes nothing along" not grep -q embedded out

# Each part has names of its own, also of what was mapped before it began.
build
for try in 1 2 3 4 5 6 7 8; do
	rm -f part*
	timeout 60 "$gusprof" record --trace off -v -F 2000 --switch-output=1s -o part -- ./shapes 400 >out 2>err
	grep -q "no time or room" err || break
done
rm shapes
parts=$(find . -name 'part.*' | sort)
ok "there are several parts" [ "$(echo "$parts" | wc -l)" -gt 1 ]
named=0
for part in $parts; do # the last one may end before a sample of what is looked for
	report part --no-inline "$part"
	ok "$part has no code of the program without a name" not grep -q "/shapes	None" part.rows
	grep -q "shapes::polygon" part.rows && named=$((named + 1))
done
ok "all parts but perhaps the last have the names" [ $named -ge $(($(echo "$parts" | wc -l) - 1)) ]

# Callers, which were not sampled themselves.
cat >callers.c <<'P'
#include <time.h>
__attribute__((noinline)) long leaf(volatile long *p) { for (long i = 0; i < 100000; i++) *p += i; return *p; }
__attribute__((noinline)) long between(volatile long *p) { return leaf(p) + leaf(p) + 1; }
__attribute__((noinline)) long only_calls(volatile long *p) { return between(p) + between(p) + 1; }
int main(void) { volatile long v = 0; for (int i = 0; i < 2000; i++) only_calls(&v); return 0; }
P
c++ -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -x c++ callers.c -o callers
take -g -o callers.data -- ./callers
rm callers
timeout 20 "$gusprof" report -g callers.data >out 2>err
ok "a caller without samples has its name" grep -q only_calls out

# Programs at the same addresses, one after the other in a process. (Their debug information makes their build ids
# differ: symbols alone do not.)
cat >chained.c <<'P'
#include <unistd.h>
__attribute__((noinline)) long ONE(volatile long *p) { for (long i = 0; i < 60000000; i++) *p += i; return *p; }
int main(int argc, char **argv)
{
	volatile long v = 0;
	ONE(&v);
	return argc > 1 ? execv(argv[1], argv + 1) : 0;
}
P
for one in first second third; do
	cc -O1 -g -no-pie -fno-pie -Wl,--build-id=sha1 -DONE=${one}_of_them chained.c -o $one
done
take -o chained.data -- ./first ./second ./third
rm first second third
report chained chained.data
for one in first second third; do
	ok "code has its name though other programs had its address: $one" \
		grep -q "/$one	${one}_of_them" chained.rows
done

# Of a limited size no more than an eighth: the hottest names first, then lines and code as far as they go. What a
# single function takes can be too much.
build -static
timeout 60 "$gusprof" record --trace off -F 20000 --embed=all --max-size 64K -o small.data -- ./shapes 4000 >out 2>err
size=$(timeout 20 "$gusprof" dump --frames-only small.data | sed -n 's/.* embedded: \([0-9]*\) bytes.*/\1/p' |
	awk '{ sum += $1 } END { print sum + 0 }')
ok "something is taken along" [ "$size" -gt 500 ]
ok "what is taken along respects --max-size: $size bytes" [ "$size" -lt 12000 ]
rm shapes

# Without a build id a program that is made anew, in the file that the old one was in (so do linkers, whose new file has
# the old one's inode), is told by the time.
c++ -O2 -g -Wl,--build-id=none shapes.cc -o shapes
c++ -O0 -g -Wl,--build-id=none -x c++ callers.c -o another
take -o anew.data -- ./shapes 60
report old --no-inline anew.data
ok "the program as it was has names" grep -q shapes::polygon old.rows
cat another >shapes
report new --no-inline anew.data
ok "a program without a build id that is made anew gives no names" cmp -s old.rows new.rows
timeout 60 "$gusprof" annotate -i anew.data shapes::polygon::area >out 2>err
ok "annotate says that it changed" says "its file changed since the recording" err
rm shapes another

# A function that windows have executed and no sample was in, as it takes a thousandth of the time, is named, too.
cat >rare.c <<'P'
#include <stdint.h>
__attribute__((noinline)) uint64_t rare(uint64_t x) { return x * 7 + 1; }
__attribute__((noinline)) uint64_t often(uint64_t x)
{
	for (int i = 0; i < 3000; i++)
		x = x * 3 + (uint64_t)i;
	return x;
}
int main(void)
{
	uint64_t x = 1;

	for (int i = 0; i < 200000; i++)
		x = rare(often(x));
	return (int)(x & 1);
}
P
windows=()
cc -O2 -g rare.c -o rare 2>err && take --embed=all -o rare.data -- ./rare
if "$gusprof" dump rare.data | grep -q "moment {" && [ $whole = 1 ]; then
	timeout 200 "$gusprof" model -i rare.data --format json >here.rare 2>err
	rm rare
	timeout 200 "$gusprof" model -i rare.data --format json >now 2>err
	ok "what only windows have executed is named" grep -q '"function": "rare"' here.rare
	ok "and stays so" cmp -s here.rare now
fi

# Another machine.
other=$work/root
run_there=(chroot "$other")
mkdir -p "$other"
if ! "${run_there[@]}" /nothing 2>err && grep -q "Operation not permitted" err; then
	run_there=(unshare --map-root-user chroot "$other")
fi
put() { mkdir -p "$other$(dirname "$1")" && cp -L "$1" "$other$1"; }
cp "$gusprof" "$other/gusprof"
for library in $(ldd "$gusprof" | grep -oE '/[^ ]+'); do
	put "$library"
done
if ! ASAN_OPTIONS=detect_leaks=0 "${run_there[@]}" /gusprof --version >out 2>err; then
	echo "# left out: a chroot is not to be had here: $(head -1 err)"
	finish
fi
export ASAN_OPTIONS=detect_leaks=0
cp ./*.data "$other"
in=("${run_there[@]}") gusprof_there=/gusprof
views chroot /
same chroot
ok "--embed=none has lost them there" lost chroot.none.rows

# Programs of the distribution: stripped, and with code of others.
foreign() {
	local name=$1
	shift
	take --embed=all -o "$name.data" -- "$@" || problem "record of $name: $(head -1 err)"
	cp "$name.data" "$other"
	[ $whole = 1 ] || return
	in=() gusprof_there=$gusprof
	report "$name.here" "$name.data"
	timeout 60 "$gusprof" annotate --no-source -i "$name.data" >here.a 2>err
	in=("${run_there[@]}") gusprof_there=/gusprof
	report "$name.there" "/$name.data"
	timeout 60 "${in[@]}" /gusprof annotate --no-source -i "/$name.data" >there.a 2>err
	timeout 200 "${in[@]}" /gusprof model -i "/$name.data" >there.m 2>err
	ok "$name: functions as beside the program" cmp -s "$name.here.rows" "$name.there.rows"
	ok "$name: it has functions" [ "$(cut -f 2 "$name.there.rows" | grep -vc '^None$')" -gt 3 ]
	ok "$name: annotate as beside the program" cmp -s here.a there.a
	ok "$name: annotate has instructions" grep -qE "mov|ldr" there.a
	ok "$name: model has regions" grep -qE "cycles" there.m
}
head -c 30000000 /dev/urandom >noise
[ -x /usr/bin/gzip ] && foreign gzip /usr/bin/gzip -c noise
[ -x /usr/bin/python3 ] && foreign python3 /usr/bin/python3 -c '
import json
for i in range(40):
    json.loads(json.dumps([{str(k): k * 1.5} for k in range(5000)]))'
finish
