#!/bin/bash
# SPDX-License-Identifier: MIT
# record -g: callers that are known by construction, of programs without frame pointers (and one with), from the place
# of a sample out to where the thread began; for each way that a program can come to its code.
. "$(dirname "$0")/lib.sh"
builddir=${GUS_BUILDDIR:?}
target=$builddir/tests/cases/callers-target
source=$(dirname "$0")/callers_target.c
shown='out err folded'
ms=400

# record [OPTION...] -- COMMAND...: its stacks are in "folded", outermost first.
record()
{
	timeout 100 "$gusprof" record --trace off -F 2000 "$@" >out 2>err </dev/null
	status=$?
	fold
}
fold() { timeout 60 "$gusprof" script --max-stack 1100 --folded --weight samples >folded 2>folded.err; }
# share PATTERN [OF]: of the samples whose stacks match OF, those that match PATTERN, in percent; of few, nothing.
share()
{
	awk -v pattern="$1" -v of="${2:-.}" '
		{ n = $NF; sub(/ [0-9]*$/, "") }
		$0 ~ of { all += n; if ($0 ~ pattern) own += n }
		END { print (all >= 20) ? 100 * own / all : "" }' folded
}
# whole: what the recording says itself of its stacks, in percent.
whole() { sed -n 's/.*callers: by unwind tables; \([0-9.]*\) % of [0-9,]* stacks are whole.*/\1/p' err; }
begun='_start;.*'
usual='main;call_outer;outer;middle;inner(;|$)'
# What the linker, and a sanitizer, do before and after the program is not of it, and on a busy machine takes a while.
own='(^|;)(inner|spin)(;|$)'

record --call-graph tables -- "$target" plain $ms
skip_if_refused $status
ok "callers by tables: status" is $status 0
ok "all that was called, in its order" between "$(share "^callers-target;$begun$usual" "$own")" 98 100
ok "the leaf is the last" between "$(share ';inner;spin$' "$own")" 80 100
ok "it says how many stacks are whole" between "$(whole)" 98 100
ok "the recording says how callers were found" says '' <("$gusprof" dump | grep 'call_graph "tables"')

record -g -- "$target" plain $ms
ok "-g finds out that there are no frame pointers" says 'callers by unwind tables: .* % of the functions of .*keep'
ok "and does the same" between "$(share "^callers-target;$begun$usual" "$own")" 98 100
ok "the recording says that, too" says '' <("$gusprof" dump | grep 'call_graph_choice.*unwind tables')

record --call-graph tables -- "$target" deep $ms 500
ok "500 levels of recursion" between "$(share "^callers-target;$begun;main;call_deep;(deep;)+inner" "$own")" 97 100

record --call-graph tables -- "$target" wide $ms 20000
ok "frames of 20 kB" between "$(share "^callers-target;$begun;main;call_wide;wide_frame;middle;inner" "$own")" 97 100

# What is read later has to be there still, so the program outlives the recording.
# record_living OPTION WORDS...: the program, or $program, with these words.
export -f ran has_run wait_for run_on
record_living()
{
	option=$1
	shift
	"${program:-$target}" "$@" >/dev/null &
	living=$!
	children="$children $living"
	wait_for has_run $living 2
	record --call-graph "$option" -p $living -- bash -c "run_on $living 40"
	kill -KILL $living
	wait $living 2>/dev/null
}

record_living tables,1K wide 60000 400000
ok "frames far larger than the copy" between \
	"$(share "^callers-target;$begun;main;call_wide;wide_frame;middle;inner" "$own")" 92 100
ok "it says that these were read later" says '% with outer callers as the thread had them'
record_living tables wide 60000 5000000
ok "frames of 5 MB" between "$(share "^callers-target;$begun;main;call_wide;wide_frame;middle;inner" "$own")" 90 100

record --call-graph tables,1K -- "$target" deep $ms 20000
ok "more frames than are kept: said" says '% of the stacks have more frames than are kept'
ok "what is kept are the inner ones" between "$(share ';deep;deep;inner')" 90 100

record --call-graph tables,4K -- "$target" up $ms 30
ok "outer callers as the thread had them before or after" says '% with outer callers as the thread had them'
record --call-graph tables -- "$target" ways $ms 100
ok "of two ways to the same depth, deeper than the copy" between "$(whole)" 60 100
ok "the right one is taken" between "$(share 'ping.*pong|pong.*ping' 'p[io]ng')" 0 1

record --call-graph tables -- "$target" again $ms 20
ok "who called the same once before is not taken for who calls now" between "$(share ';first_caller;')" 2 12
ok "but that one" between "$(share ';main;call_again;second_caller;same_way;same_call;')" 80 98

# The frames of whom it interrupted are in no copy of the handler's stack: they are read from the thread.
record_living tables signal 60000
ok "a signal's handler on a stack of its own, and whom it interrupted" between \
	"$(share "^callers-target;$begun;main;with_signal;interrupted;[^;]*;handler;middle;inner" handler)" 90 100
# The C library's own functions have names where its debug symbols are; its table of frames begins a byte too early.
if grep -q __libc_start_call_main folded; then
	ok "what a handler returns to is not named after what is a byte before" \
		between "$(share 'interrupted;sub_[0-9a-f]*;handler' handler)" 0 0
fi

record --call-graph tables -- "$target" sort $ms
ok "through a library, and its calls back" between "$(share "^callers-target;$begun;main;sorted;.*compare;spin" \
	'compare;spin')" 97 100

record --call-graph tables -- "$target" time $ms
ok "the vdso" between "$(share "^callers-target;$begun;main;call_time;ask_time" ask_time)" 90 100
ok "its callers" between "$(share 'ask_time;.*vdso_clock_gettime' vdso)" 97 100

# An emulated process has another vdso, or none, so what it knows of this one it has from the recording.
if ! is_sanitized "$gusprof" && qemu-x86_64 "$gusprof" --version >/dev/null 2>&1; then
	record --call-graph dwarf -- "$target" time $ms
	cp folded here
	timeout 100 qemu-x86_64 "$gusprof" script --max-stack 1100 --folded --weight samples >folded 2>err
	ok "by the recording's vdso, where another one is" between \
		"$(share "^callers-target;$begun;main;call_time;ask_time.*vdso" vdso)" 97 100
	ok "all of them as where it was recorded" cmp here folded
else
	echo "skipped: no qemu-x86_64 that runs this program, to read a recording where its vdso is not"
fi

record --call-graph tables -- "$target" threads $((ms / 4))
ok "threads begin where they begin" between "$(share '^callers-target;[^;]*;[^;]*;thread;outer;middle;inner')" 95 100
ok "and are whole" between "$(whole)" 97 100

record --call-graph tables -- "$target" dlopen $ms
library='loaded;(.*sin|sub_[0-9a-f]+)'
ok "a library that is loaded meanwhile" between \
	"$(share "^callers-target;$begun;main;call_loaded;$library" "$library")" 95 100

record --call-graph tables -- "$target" fork $ms
ok "a child that executes nothing" between \
	"$(share "^callers-target;$begun;main;forked;outer;middle;inner" forked)" 97 100

record --call-graph tables -- "$target" exec $ms
ok "what a process executes later" between "$(share "^(exe|callers-execd);$begun$usual" middle)" 97 100

# Programs as they are shipped.
strip -o stripped "$target" && record --call-graph tables -- ./stripped plain $ms
ok "a stripped program has whole stacks" between "$(whole)" 98 100
compiler="${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls"
if $compiler -D_GNU_SOURCE -static -o static "$source" 2>static.err; then
	record --call-graph tables -- ./static plain $ms
	ok "a static program" between "$(share "^static;$begun$usual" "$own")" 98 100
	program=./static record_living tables signal 60000
	ok "a static program's signals" between "$(share 'main;with_signal;interrupted;[^;]*;handler' handler)" 97 100
fi
if $compiler -D_GNU_SOURCE -m32 -o narrow "$source" 2>narrow.err; then
	record --call-graph tables -- ./narrow plain $ms
	ok "of 32 bits nothing is claimed" says '32-bit'
fi
cat >thrown.cc <<'C'
#include <algorithm>
#include <stdexcept>
#include <vector>
#include <cstdlib>
static volatile unsigned sink;
#define APART __attribute__((noinline))
APART unsigned spin(unsigned n)
{
	for (unsigned i = 0; i < 20000; i++)
		n = n * 1664525 + 1;
	return n;
}
template <typename T> APART T thrower(T n)
{
	if (spin(n) != 77u)
		throw std::runtime_error("x");
	return n;
}
template <typename T> APART T catcher(T n)
{
	try { return thrower<T>(n) + 1; } catch (const std::exception &) { sink += spin(n); return n; }
}
struct base { virtual unsigned run(unsigned n) = 0; virtual ~base() {} };
struct derived : base { APART unsigned run(unsigned n) override { return catcher<unsigned>(n) + 1; } };
int main(int, char **argv)
{
	base *b = new derived;
	std::vector<unsigned> v(1000);
	for (int i = 0; i < atoi(argv[1]); i++) {
		sink += b->run((unsigned)i);
		std::generate(v.begin(), v.end(), rand);
	}
	delete b;
}
C
if ${CXX:-c++} -O2 -fomit-frame-pointer -o thrown thrown.cc 2>cxx.err; then
	record --call-graph tables -- ./thrown 40000 # some 60 samples in the runtime
	ok "C++ that throws: whole" between "$(whole)" 98 100
	ok "its callers" between "$(share '^thrown;.*;main;derived::run;.*catcher.*spin' spin)" 97 100
	ok "the runtime that unwinds for it, too" between "$(share '^thrown;.*;main;derived::run;.*;_Unwind_Raise' \
		_Unwind_RaiseException)" 90 100
fi

# What is gone while it runs.
cp "$target" gone && { ./gone plain 3000 & }
pid=$!
children="$children $pid"
wait_for has_run $pid 5
rm gone
timeout 60 "$gusprof" record --trace off -F 2000 --call-graph tables -p $pid -- sleep 1 >out 2>err </dev/null
fold
ok "attached to a program that has been deleted" between "$(share "^gone;$begun$usual" "$own")" 97 100

"$target" threads 1500 &
pid=$!
children="$children $pid"
wait_for has_run $pid 5
timeout 60 "$gusprof" record --trace off -g -F 2000 -p $pid -- sleep 1 >out 2>err </dev/null
fold
ok "-g of what runs already" says 'callers by unwind tables'
ok "its stacks" between "$(share ';thread;outer;middle;inner')" 97 100

# Frame pointers.
record --call-graph fp -- "$target-fp" plain $ms
ok "frame pointers: the leaf's caller is there, though the leaf has no frame" between \
	"$(share ';main;call_outer;outer;middle;inner;spin$' 'spin$')" 97 100
ok "of a library's leaf, too" says '' <("$gusprof" dump | grep 'call_graph "fp"')
ok "of a program that keeps them nothing is said" is "$(grep -c 'lack callers' err)" 0
record --call-graph fp -- "$target" plain $ms
ok "of one that does not that callers are missing, and where" says \
	'^gusprof: warning: \(9[0-9]\|100\) % of the stacks lack callers, .* in .*/callers-target; .*tables' err

# Who may do little.
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	chmod 755 . && mkdir -m 1777 box && cp "$gusprof" g && cp "$target" t
	(cd box && setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		timeout 60 ../g record -F 1000 --call-graph tables -- ../t plain $ms) >out 2>err </dev/null
	timeout 60 "$gusprof" script --folded --weight samples -i box/gusprof.data >folded 2>folded.err
	ok "a user without rights has whole stacks" between "$(share "^t;$begun$usual" "$own")" 97 100
fi

# contained_runs PID: the program in the container that this unshare made; it is $inner.
contained_runs()
{
	inner=$(cat "/proc/$1/task/$1/children") && inner=${inner%% *} && [ -n "$inner" ] &&
		[ "$(cat "/proc/$inner/comm")" = inside ] && has_run "$inner" 5
}

# A root folder of its own, mount, PID and user namespaces: whole from outside.
if [ "$(id -u)" = 0 ] && unshare --mount --pid --user --map-root-user --fork true 2>/dev/null; then
	mkdir -p root/bin
	cp "$target" root/bin/inside
	ldd "$target" | grep -o '/[^ :)]*' | grep '\.so' | sort -u | while read -r library; do
		mkdir -p "root$(dirname "$library")" && cp -L "$library" "root$library"
	done
	record --call-graph tables -- chroot root /bin/inside plain $ms
	ok "below another root: whole" between "$(share "^inside;$begun$usual" '^inside;.*middle')" 97 100
	cat >contained <<'S'
#!/bin/sh
exec unshare --mount --pid --user --map-root-user --fork --kill-child sh -c '
	mount -t tmpfs none mnt && cp -a root/. mnt/ && exec chroot mnt /bin/inside plain '"$1"
S
	chmod +x contained
	mkdir -p mnt
	record --call-graph tables -- ./contained $ms
	ok "in a container: whole" between "$(share "^inside;$begun$usual" '^inside;.*middle')" 97 100
	./contained 9000 >/dev/null 2>&1 &
	children="$children $!"
	wait_for contained_runs $!
	timeout 60 "$gusprof" record --trace off -F 1000 --call-graph tables -p "$inner" -- sleep 1 \
		>out 2>err </dev/null
	fold
	ok "attached to in a container: whole" between "$(share "^inside;$begun$usual" '^inside;.*middle')" 97 100
	timeout 60 "$gusprof" record -F 1000 --call-graph tables -a -- sleep 1 >out 2>err </dev/null
	ok "with all else that runs: whole" between "$(whole)" 50 100
fi

# Runtimes.
if command -v python3 >/dev/null; then
	record --call-graph tables -- python3 -c 'sum(i * i % 7 for i in range(3000000))'
	ok "python3: whole" between "$(whole)" 95 100
fi
if command -v node >/dev/null; then
	record --call-graph tables -- node --perf-basic-prof-only-functions -e \
		'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } f(32)'
	ok "node, code that it makes: whole" between "$(whole)" 85 100
fi
finish
