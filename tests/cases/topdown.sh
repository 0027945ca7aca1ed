#!/bin/sh
# SPDX-License-Identifier: MIT
# What becomes of issue slots, from the command line to the report, on machines that are played (tests/machine): of 1000
# slots 400 retire, 100 are bad, 200 wait for the front end and 300 for the back end. Counts beside samples show that
# over time; those that samples bring along also by thread and function. Parts add up to all, in integers.
. "$(dirname "$0")/lib.sh"
built=$(dirname "$gusprof")/tests/machine
played=$(dirname "$gusprof")/gusprof-played
target=$built/played-target
[ -x "$played" ] && [ -x "$target" ] || { echo "there is no $played"; exit 77; }
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }

address() { nm "$target" | sed -n "s/^\([0-9a-f]*\) . $1\$/\1/p"; }
GUS_PLAYED=$(address played_load),$(address played_next),$(address played_branch),$(address played_loop)
export GUS_PLAYED
shown='err out sums'

# record MACHINE OPTION...: status, out, err, and gusprof.data.
record()
{
	machine=$1
	shift
	rm -f gusprof.data
	GUS_MACHINE=$machine "$played" record --trace off "$@" -- "$target" 700 >out 2>err </dev/null
	status=$?
}
# show OPTION...: the report as JSON in out, and in sums a line a kind of cores, by topdown.py.
show()
{
	"$gusprof" report --topdown --format json "$@" >out 2>err && python3 "$scripts/topdown.py" out >sums 2>>err
}

# Beside samples: over time.
record pebs --topdown=1 -e cycles
ok "beside samples: it is recorded" is $status 0
ok "beside samples: over time" show --intervals 4 gusprof.data
ok "beside samples: four parts, which are observed and add up" says '^cpu observed parts=4 .*retiring=0.400' sums
"$gusprof" report --topdown --by function gusprof.data >out 2>err
ok "beside samples: they are nobody's" says 'its samples bring no counts of them along'

# With samples.
record pebs --topdown=samples
ok "with samples: it is recorded" is $status 0
ok "with samples: it is said" says 'its samples bring along what 10 events of the top-down method have counted'
ok "with samples: over time" show --intervals 4 gusprof.data
ok "with samples: parts add up" says '^cpu inferred parts=[34] .*retiring=0.400' sums
ok "with samples: by thread" show --by thread gusprof.data
ok "with samples: a thread's counters are its own" says '^cpu observed parts=1 .*retiring=0.400' sums
ok "with samples: by function" show --by function gusprof.data
ok "with samples: of a function it is inferred" says '^cpu inferred parts=1 .*retiring=0.400' sums
cp sums by_function
ok "with samples: and it is this one" says '"function": "work"' out
ok "with samples: CSV" sh -c '"$GUSPROF" report --topdown --format csv --by thread,function >out 2>err'
ok "with samples: a line a node" says ',work,.*,retiring,,1,0.400000,' out

# As perf reads them, each member has samples of its own: the same comes of it.
"$gusprof" export -o perf.data >out 2>err
ok "perf.data: by function" show --by function -i perf.data
ok "perf.data: the same sums" cmp -s sums by_function

# Cores of two kinds, and cores that count slots without metrics.
record hybrid --topdown=samples
ok "two kinds: it is recorded" is $status 0
ok "two kinds: by function" show --by function gusprof.data
ok "two kinds: the big ones" says '^cpu_core inferred parts=1 .*retiring=0.400' sums
ok "two kinds: the small ones" says '^cpu_atom inferred parts=1 ' sums
record ibs --topdown=samples
ok "Zen: its own cycles sample" says 'sampling cycles: .* 6 events of the top-down method .*AMD Zen 4'
ok "Zen: by function" show --by function gusprof.data
ok "Zen: parts add up" says '^cpu inferred ' sums

# A kernel before 6.13 has none of tasks that new ones inherit from; of CPUs it has.
record older --topdown=samples
ok "before 6.13: one error" says 'this kernel gives samples no counts of tasks .*Linux 6.13'
ok "before 6.13: gusprof failed" is $status 125
record older --topdown=samples -a
ok "before 6.13: of CPUs it has" is $status 0

# What does not go.
record bare --topdown=samples
ok "no PMU: one error" says 'cannot count what becomes of issue slots'
record pebs --topdown=samples -e cycles
ok "it chooses its event" is $status 129
record pebs --topdown=some
ok "a level or samples" is $status 129
"$gusprof" report --by time >out 2>err
ok "time is of issue slots alone" is $? 129
"$gusprof" report --topdown --by snoop >out 2>err
ok "data are not" is $? 129
"$gusprof" report --intervals 3 >out 2>err
ok "nothing else has intervals" is $? 129
finish
