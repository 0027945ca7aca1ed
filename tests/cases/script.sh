#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof script: lines that what reads perf script's can read, in the order of time, each sample once, and stacks whose
# sums are the report's. The reader is a small one of our own, by the rules that the usual ones go by: a line that does
# not begin with a blank or a tab begins a sample and tells who and when; lines with an address below it are frames, the
# innermost first; an empty line ends it.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip 'python3 is not there, which reads the lines'

"$gusprof" record --trace off -q -g -F 1999 -o chains -- "$GUS_DEMO" 0.5 >out 2>err
skip_if_refused $?
cp "$GUS_DEMO" other || exit 99
"$gusprof" record --trace off -q -e cpu-clock,task-clock -F 999 -o flat -- sh -c '"$GUS_DEMO" 0.3 & ./other 0.3; wait' \
	>out 2>err || skip "nothing was recorded here: $(cat err)"

cat >read.py <<'END'
import collections, json, re, sys
start = re.compile(r"^\s*(\S.*?)\s+(?:(\d+)/)?(\d+)\s+(?:\[(\d+)\]\s+)?(\d+\.\d+):\s+(?:(\d+)\s+)?(\S+?):\s*(.*)$")
frame = re.compile(r"^\s*([0-9a-f]+)\s+(.+) \((\S*)\)$")
def samples(lines):
    sample = None
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if sample:
                yield sample
            sample = None
            continue
        if sample is None or not line[0].isspace():
            if sample:
                yield sample
            m = start.match(line)
            assert m, f"no beginning of a sample: {line!r}"
            sample = {"comm": m[1], "tid": int(m[3]), "cpu": m[4], "time": m[5], "period": int(m[6]),
                      "event": m[7], "frames": []}
            line = m[8]
            if not line:
                continue
            m = frame.match(" " + line)
            assert m, f"no place: {line!r}"
            sample["frames"].append(m.groups())
            yield sample
            sample = None
            continue
        m = frame.match(line)
        assert m, f"no frame: {line!r}"
        sample["frames"].append(m.groups())
    if sample:
        yield sample
def name(frame):
    symbol = re.sub(r"\+0x[0-9a-f]+$", "", frame[1])
    module = frame[2]
    if symbol == "[unknown]":
        base = module.rsplit("/", 1)[-1]
        return base if base.startswith("[") else f"[{base}]"
    return symbol + {"inlined": "_[i]", "[kernel.kallsyms]": "_[k]"}.get(module, "")
if __name__ == "__main__":
    what, file = sys.argv[1:]
    all = list(samples(open(file)))
    if what == "count":
        print(len(all))
    elif what == "order":
        times = [s["time"] for s in all]
        assert times == sorted(times, key=lambda t: tuple(map(int, t.split(".")))), "not by time"
        print(len({s["cpu"] for s in all}))
    elif what == "names":
        # In chains an address is the file's own, and what it is behind its symbol leads to where nm has that.
        nm, checked = {}, 0
        for line in open("nm"):
            address, _, symbol = line.split(maxsplit=2)
            nm.setdefault(symbol.strip(), set()).add(int(address, 16))
        for s in all:
            for ip, symbol, module in s["frames"]:
                m = re.match(r"(.*)\+0x([0-9a-f]+)$", symbol)
                if module.endswith("/demo") and m and m[1] in nm:
                    assert int(ip, 16) - int(m[2], 16) in nm[m[1]], (ip, symbol)
                    checked += 1
        assert checked > 100, checked
    elif what == "addresses":
        # And, by their places in a page, these are the recorded addresses: the sample's and all of its chain.
        raw = collections.Counter()
        for line in open("dump"):
            m = re.match(r" +[-+][0-9.]+ sample .* ip 0x([0-9a-f]+) .*?(?: chain (.*?))?"
                         r"(?: (?:branches|regs|stack|callers) .*)?$", line)
            if m:
                chain = [int(a, 16) for a in (m[2] or "").split()]
                raw.update(a & 4095 for a in [int(m[1], 16), *chain] if a < 2**64 - 4095)
        assert collections.Counter(int(f[0], 16) & 4095 for s in all for f in s["frames"]) == raw
    elif what == "fold":
        stacks = collections.Counter()
        for s in all:
            stacks[";".join([s["comm"], *(name(f) for f in reversed(s["frames"]))])] += s["period"]
        for stack in sorted(stacks, key=str.encode):
            print(stack, stacks[stack])
    elif what == "functions":
        functions = collections.Counter()
        for s in all:
            functions[re.sub(r"_\[k\]$", "", name(s["frames"][0]))] += s["period"]
        print(json.dumps(functions))
END

script() { timeout 100 "$gusprof" script "$@" >out 2>err; }
samples_in() { "$gusprof" report -q --event "${2:-0}" --format json "$1" 2>/dev/null |
	python3 -c 'import json,sys; print(json.load(sys.stdin)["total"]["samples"])'; }

# Lines without chains: of both events, from both CPUs, in order.
script flat
ok 'script ends well' is $? 0
cp out lines
cp out first
ok 'all samples of both events' is "$(python3 read.py count lines)" $(($(samples_in flat) + $(samples_in flat 1)))
ok 'and their times ascend' python3 read.py order lines >cpus
script --event task-clock flat
ok 'one event alone' is "$(python3 read.py count out)" "$(samples_in flat 1)"
ok 'names no other' not says ' cpu-clock:' out
script --folded --event 0 flat
cp out expected
script --folded flat
ok 'stacks are of one event, the first' cmp out expected
ok 'which is said' says 'samples of other events .* left out' err
script --event 1 flat
python3 read.py fold out >expected
script --folded --no-inline --event 1 flat
ok 'and --event takes another' cmp out expected
script --ns flat
ok '--ns: nine digits' is "$(grep -cvE '[0-9]\.[0-9]{9}: ' out)" 0
script --reltime flat
ok '--reltime: since the start' is "$(grep -cvE '\] +[0-9]\.[0-9]{6}: ' out)" 0

# Chains. By both readings the same stacks: those that the lines tell, and --folded.
script chains
cp out lines
ok 'chains: all samples' is "$(python3 read.py count lines)" "$(samples_in chains)"
python3 read.py fold lines >expected
script --folded chains
ok 'chains: folding the lines is --folded' cmp out expected
"$gusprof" report -q -g folded chains >theirs 2>err
ok "report -g folded says the same, with inlined functions" cmp out theirs
ok 'inlined functions are marked' says ';[a-z_]*_\[i\][; ]' out
ok 'a stack is from the outside in' says ';main;.*pointer_chase [0-9]*$' out
script --no-inline chains
python3 read.py fold out >expected
script --no-inline --folded chains
ok 'the same without inlined functions' cmp out expected
"$gusprof" report -q -g folded --no-inline chains >theirs 2>err
ok "report -g folded says the same" cmp out theirs
ok 'which there are none of then' not says 'memory_init' out
script --no-inline chains
"$gusprof" dump --type samples chains >dump
ok 'the addresses are the recorded ones' python3 read.py addresses out
if command -v nm >/dev/null; then
	nm "$GUS_DEMO" | grep ' [tT] ' >nm
	ok 'offsets lead to the beginnings of their functions' python3 read.py names out
fi
script --folded --weight samples chains
ok '--weight samples adds up to all samples' \
	is "$(awk '{ n += $NF } END { print n }' out)" "$(samples_in chains)"
script --no-inline -G chains
python3 read.py functions out >functions
"$gusprof" report -q --no-inline --format json chains 2>/dev/null >report
cat >same.py <<'END'
import json
mine = json.load(open("functions"))
for row in json.load(open("report"))["rows"]:
    if row["function"]:
        got = mine.pop(row["function"], 0)
        assert got == row["weight"], (row["function"], got, row["weight"])
assert all(f.startswith("[") for f in mine), mine
END
ok "weights of functions are the report's" python3 same.py
script --max-stack 2 chains
deepest=$(grep -v '(inlined)' out | awk '/^\t/ { n++; if (n > most) most = n; next } { n = 0 } END { print most }')
ok '--max-stack 2: two frames, inlined ones apart' is "$deepest" 2
ok '--max-stack says what is cut' says 'samples have more than 2 frames' err

# What ends a frame does not stand in a name.
if objcopy --redefine-sym 'pointer_chase=pointer;chase' "$GUS_DEMO" odd 2>err &&
   "$gusprof" record --trace off -q -F 1999 -o odds -- ./odd 0.3 >out 2>err; then
	script -G odds
	ok 'a name with a semicolon' says 'pointer;chase+0x' out
	script --folded odds
	ok 'which is a colon in a stack' says '^odd;pointer:chase [0-9]*$' out
fi

# Fields.
script -F ip,sym chains -G
ok '-F ip,sym: nothing else' is "$(grep -cvE '^ +[0-9a-f]{1,16} [^(]*$' out)" 0
script -F misc,addr,weight,data_page_size -G chains
ok '-F addr,weight: what nobody told is no number' is "$(grep -cvE '^[KU]      +- +- +-$' out)" 0
script -F sym -G chains
ok '-F sym: without an offset' is "$(grep -c '+0x' out)" 0
script -F comm,tid,pid flat
ok '-F comm,tid,pid' is "$(grep -cvE '^ +(demo|other|sh|gusprof) +[0-9]+/[0-9]+ +$' out)" 0
script -F -cpu,-period flat
ok '-F -cpu,-period: the rest' \
	is "$(grep -cvE '^ +[a-z]+ +[0-9]+ [0-9. ]+: +[a-z]+-clock:  *[0-9a-f]{1,16} .*\)$' out)" 0
script -F +srcline -G chains
ok '-F +srcline: a line below' says '^  demo\.c:[0-9][0-9]*$' out
script -F comm chains
ok '-F comm: no places, no chains' is "$(tr -d ' ' <out | sort -u)" demo
script -F comm flat
cp out names
for name in demo other; do
	script -F comm --comm $name flat
	ok "each sample has its own name: $name" is "$(grep -cx " *$name " names)" "$(wc -l <out)"
	ok "and there are some" [ -s out ]
done
script --comm nobody chains
ok '--comm nobody: nothing' [ ! -s out ]
ok 'which is said' says "none of the recording's samples is what was asked for" err
script --tid 1 chains
ok '--tid 1: nothing' [ ! -s out ]
script --dso demo -F dso -G chains
ok '--dso' is "$(grep -cv '/demo)$' out)" 0
script --time 50%-100% flat
ok '--time: a part' between "$(wc -l <out)" 1 $(($(wc -l <first) - 1))
while IFS='|' read -r want text words; do
	# shellcheck disable=SC2086 # words
	script $words
	ok "script $words: status $want" is $? "$want"
	ok "script $words: says $text" says "$text" err
done <<LIST
0|no sample shown has brstack: gusprof record takes branches with -b|-F brstack chains
0|no sample shown has addr$|-F ip,addr chains
129|records no such thing|-F brstackinsn chains
129|without a type before them|-F sw:ip chains
129|fields, or changes|-F ip,+sym chains
129|leaves no field|-F -comm,-tid,-cpu,-time,-period,-event,-ip,-sym,-dso chains
129|exclude each other|--folded -F ip chains
129|needs --folded|--weight samples chains
129|has no event|--event nosuch chains
LIST

# The same bytes each time; damage is told.
script flat
ok 'the same bytes again' cmp out first
head -c $(($(wc -c <flat) / 2)) flat >cut
script cut
ok 'a cut recording is told' says 'was cut' err
ok 'and what there is is shown' [ -s out ]

# perf's reader of lines, if perf is there, on the same program: the same functions are found in the same way.
if perf record -q -e cpu-clock -F 1999 -g -o perf.data "$GUS_DEMO" 0.5 >out 2>err &&
   perf script -i perf.data >theirs 2>err; then
	python3 read.py fold theirs >folded.theirs
	ok "perf's own lines are read by the same reader" says ';main;.*pointer_chase' folded.theirs
	ok 'and begin alike' is "$(sed -n 's/[0-9]\{1,\}/N/gp' theirs | grep -m1 '^demo' | tr -s ' ')" \
		"$(sed 's/\[[0-9]*\] //' lines | sed -n 's/[0-9]\{1,\}/N/gp' | grep -m1 '^demo' | tr -s ' ')"
fi
finish
