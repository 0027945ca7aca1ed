# SPDX-License-Identifier: MIT
# Recordings of perf whose every value is known, since this made them, and what gusprof says of them. import.sh calls
# it; the folder that it stands in is its own.
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
from perfdata import *

program = os.environ["GUSPROF"]
MASK = (1 << 64) - 1
USER_MARK, KERNEL_MARK = MASK - 511, MASK - 127
MODES = {KERNEL: "kernel", USER: "user", HYPERVISOR: "hypervisor", GUEST_KERNEL: "guest-kernel",
         GUEST_USER: "guest-user"}
# How dump calls what a sample brings along; those that perf's own header calls by another name.
FIELDS = {"addr": "address", "phys": "physical", "data_page": "data_page", "code_page": "code_page",
          "data_src": "data_source", "weight": "weight", "transaction": "transaction", "cgroup": "cgroup"}
HEX = {"addr", "phys", "data_src", "transaction"}
failed = 0


def fail(what, *more):
    global failed
    failed += 1
    print("FAILED:", what, *more)


def gusprof(verb, data, *options, status=0):
    with open("known.data", "wb") as f:
        f.write(data)
    done = subprocess.run([program, *verb.split(), *options, "-i", "known.data"], capture_output=True, text=True)
    if done.returncode != status:
        fail("%s ended with %d: %s" % (verb, done.returncode, done.stderr[:200]))
    return done.stdout, done.stderr


def branch(b):
    """As perf script writes one: from, to, prediction, transaction, abort, cycles."""
    flags = b[2]
    guess = "M" if flags.get("mispredicted") else "P" if flags.get("predicted") else "-"
    return "%#x/%#x/%s/%s/%s/%d" % (b[0], b[1], guess, "X" if flags.get("in_tx") else "-",
                                    "A" if flags.get("abort") else "-", flags.get("cycles", 0))


def expected(m, v):
    """A sample's values as dump is to write them, by name."""
    e = next(e for e in m.events if e.name == v["event"])
    out = {"event": str(m.events.index(e)), "ip": "%#x" % v["ip"], "mode": MODES[v["mode"]]}
    if "tid" in v:
        out["pid"], out["tid"] = str(v["pid"]), str(v["tid"])
    if "cpu" in v:
        out["cpu"] = str(v["cpu"])
    out["period"] = str(v["period"] if "period" in v else e.period)
    for name, ours in FIELDS.items():
        if name in v:
            out[ours] = ("%#x" if name in HEX else "%d") % v[name]
    if "weights" in v:
        out["weight"], out["instruction_latency"], out["retire_latency"] = map(str, v["weights"])
    if v["exact"]:
        out["exact"] = ""
    if v.get("chain"):
        out["chain"] = ["%#x" % a for a in v["chain"] if a != v["ip"]]
    if v.get("branches"):
        out["branches"] = [branch(b) for b in v["branches"]]
    if v.get("regs") and not e.sample_type & STACK_USER:
        out["user_regs"] = ["abi", str(v.get("abi", 2))] + ["%#x" % word for word in v["regs"]]
    if v.get("raw"):
        out["raw"] = (v["raw"] + bytes(-(len(v["raw"]) + 4) % 8)).hex()
    return out


def told(line):
    """The same of a line of dump."""
    words = line.split()
    out = {"time": words[0]}
    at = 2
    lists = {"chain", "branches", "branch_counts", "interrupted", "user_regs", "regs", "stack", "counts"}
    while at < len(words):
        word = words[at]
        at += 1
        if word in MODES.values():
            out["mode"] = word
        elif word == "exact":
            out["exact"] = ""
        elif word in lists:
            out[word] = []
            while at < len(words) and (words[at][0].isdigit() or words[at] in ("abi", "of")):
                out[word].append(words[at])
                at += 1
        else:
            out[word] = words[at]
            at += 1
    if "branches" in out:  # behind the cycles stands what else perf 6 does not write
        out["branches"] = ["/".join(b.split("/")[:6]) for b in out["branches"]]
    return out


def judge(what, m, data, samples=None):
    """All that was put into samples is what dump says of them, in their order."""
    want = [expected(m, v) for v in (m.told if samples is None else samples)]
    out, err = gusprof("dump", data, "--type", "samples")
    got = [told(l) for l in out.splitlines() if " sample " in l]
    if len(got) != len(want):
        return fail(what, "has %d samples, not %d" % (len(got), len(want)), err[:200])
    for i, (w, g) in enumerate(zip(want, got)):
        for name, value in w.items():
            if g.get(name) != value:
                fail("%s: sample %d: %s is %r, not %r" % (what, i, name, g.get(name), value))


def flat(m, e, n=3, start=1000):
    for i in range(n):
        m.sample(e, ip=0x401000 + 64 * i, pid=5, tid=5 + i % 2, cpu=i % 4, time=start + 10 * i, period=100 + i)


def shapes():
    """Both magics and orders, both modes, each size of attributes, packed or not."""
    for big in False, True:
        for magic in 1, 2:
            for size in 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 4080:
                m = Made(big=big, magic=magic)
                e = m.event("cycles", FLAT, size=size, period=7)
                flat(m, e)
                m.all_features()
                what = "%s endian, magic %d, attributes of %d bytes" % ("big" if big else "little", magic, size)
                judge(what, m, m.file())
                judge(what + ", pipe", m, m.pipe())
        for how in COMPRESSED, COMPRESSED2:
            for piece in 9, 40, 1000:
                m = Made(big=big)
                e = m.event("cycles", FLAT)
                flat(m, e, n=50)
                m.zip(how, piece=piece, frames=1 if piece == 40 else 5)
                judge("packed by %d into pieces of %d" % (how, piece), m, m.file())
                judge("packed by %d into pieces of %d, pipe" % (how, piece), m, m.pipe())


def fields():
    """Each field of a sample alone, all of them, and any two that follow each other."""
    full = dict(chain=[KERNEL_MARK, 0xffffffff81000010, USER_MARK, 0x401000, 0x402000], raw=b"some raw",
                branches=[(0x401000, 0x402000, dict(mispredicted=1, cycles=77)),
                          (0x403000, 0x404000, dict(predicted=1, in_tx=1, abort=1, cycles=65535))],
                regs=list(range(100, 120)), stack=[1, 2, 3], intr=list(range(8)), weights=(1000, 200, 30),
                aux=b"12345678", period=1009, weight=555)
    bits = [bit for _, bit in ORDER]
    choices = bits + [a | b for a, b in zip(bits, bits[1:])] + [sum(bits) & ~WEIGHT, sum(bits) & ~WEIGHT_STRUCT]
    for big in False, True:
        for choice in choices:
            if choice & WEIGHT and choice & WEIGHT_STRUCT:
                continue
            m = Made(big=big)
            e = m.event("cycles", IP | TIME | (choice & ~READ), branch_type=BRANCH_ANY | BRANCH_HW_INDEX,
                        regs_user=REGS_X86, regs_intr=0xff, stack_user=64, ids=[7])
            m.sample(e, ip=0x7fff0000, time=50, mode=USER, exact=True, **full)
            m.sample(e, ip=0xffffffff81000010, time=60, mode=KERNEL, **full)
            m.feature("arch", m.string("x86_64"))
            judge("fields %x, %s" % (choice, "big" if big else "little"), m, m.file())


def events():
    """Several events: with ids at the same place, with sample_id_all and without, of hybrid PMUs, and id-less ones."""
    for trailers in 0, 1:
        m = Made()
        a = m.event("cpu_core/cycles/", IDENTIFIER | FLAT, ids=[11, 12], config=4 << 32, sample_id_all=trailers, freq=1)
        b = m.event("cpu_atom/cycles/", IDENTIFIER | FLAT | ADDR, ids=[21], config=10 << 32, sample_id_all=trailers)
        c = m.event("dummy:HG", IDENTIFIER | IP | TIME, ids=[31], type=1, config=9, sample_id_all=trailers, period=3)
        m.comm(5, 5, "made", e=a, time=1)
        m.sample(a, ip=1, time=10, period=5)
        m.sample(b, ip=2, time=20, period=6, addr=0x77)
        m.sample(a, ip=3, time=30, period=7, id=12)
        m.sample(c, ip=4, time=40)
        m.all_features()
        judge("three events, trailers %d" % trailers, m, m.file())
        judge("three events in a pipe, trailers %d" % trailers, m, m.pipe())
        header = gusprof("dump", m.file(), "--type", "header")[0]
        doc = json.loads(gusprof("report", m.file(), "--format", "json", "--event", "cpu_atom/cycles/")[0])
        if doc["recording"]["events"] != [{"name": "cpu_core/cycles/", "samples": 2},
                                          {"name": "cpu_atom/cycles/", "samples": 1},
                                          {"name": "dummy:HG", "samples": 1}]:
            fail("all events in JSON:", doc["recording"]["events"])
        for options in [], ["--header"], ["--by", "line"]:
            out = gusprof("report", m.file(), *options)[0]
            if "# not shown: the samples of 2 other events: cpu_atom/cycles/ (1), dummy:HG (1); --event" not in out:
                fail("the events that are not shown:", out[:400])
        err = gusprof("report", m.file(), "--event", "foo", status=129)[1]
        if "no event 'foo'; it has 'cpu_core/cycles/', 'cpu_atom/cycles/', 'dummy:HG'\n" not in err:
            fail("the events that there are:", err)
        for name in "cpu_core/cycles/", "cpu_atom/cycles/":
            if 'name "%s"' % name not in header:
                fail("the event %s is not named" % name)
    m = Made()
    e = m.event("cycles", FLAT)
    flat(m, e)
    judge("an event without ids", m, m.file())
    if "not shown" in gusprof("report", m.file())[0]:
        fail("other events of one")
    m = Made()
    a = m.event("a", ID | FLAT, ids=[1])
    b = m.event("b", ID | IP | TID | TIME | CPU, ids=[2], period=9)
    m.sample(a, ip=1, time=5)
    m.sample(b, ip=2, time=6)
    judge("ids behind the time", m, m.file())
    for name in "cdefghij":
        m.event(name, ID | IP | TID | TIME | CPU, ids=[1000 + ord(name)])
    m.sample(m.events[2], ip=3, time=7)
    m.all_features()
    out = gusprof("report", m.file(), "--event", "1")[0]
    if "# not shown: the samples of 2 other events: a (1), c (1); --event" not in out:
        fail("events without samples are no others:", out[:400])
    err = gusprof("report", m.file(), "--event", "foo", status=129)[1]
    if "it has 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and others\n" not in err:
        fail("many events:", err)
    for name in "def":
        m.sample(next(e for e in m.events if e.name == name), ip=4, time=8)
    out = gusprof("report", m.file(), "--event", "1")[0]
    if "of 5 other events: a (1), c (1), d (1), e (1) and 1 more; --event" not in out:
        fail("many other events:", out[:400])
    m.sample(a, ip=9, time=7, id=99)
    out, err = gusprof("report", m.file())
    if "1 sample" not in out or "id that is no event's" not in out + err:
        fail("a sample of no event is not told:", out[:300])


def whole():
    """What is not samples: names, mappings, forks, build ids, switches, losses, and what the header says."""
    m = Made()
    e = m.event("cycles:u", IDENTIFIER | FLAT, ids=[7], sample_id_all=1, freq=1, period=4000, precise_ip=2,
                exclude_kernel=1)
    m.comm(5, 5, "first", exec=True, time=10)
    m.mmap2(5, 0x400000, 0x10000, 0x1000, "/nowhere/first", time=11)
    m.mmap2(5, 0x500000, 0x10000, 0, "/nowhere/old", build_id=bytes(range(16)), time=11)
    m.mmap(5, 0x600000, 0x1000, 0x5000, "/nowhere/mmap", time=11)
    m.fork(6, 5, 6, 5, 20)
    m.comm(6, 6, "second", time=30)
    for pid, time in (5, 15), (6, 25), (6, 35):
        m.sample(e, ip=0x401234, pid=pid, tid=pid, time=time, period=100)
    m.sample(e, ip=0x600010, pid=5, tid=5, time=40, period=200)
    m.sample(e, ip=0x700000, pid=5, tid=5, time=41, period=300)
    m.lost(7, 33, time=50)
    m.lost_samples(3, time=51)
    m.switch(True, preempt=True, pid=5, tid=5, cpu=2, time=52)
    m.switch(False, other=(5, 5), pid=6, tid=6, cpu=2, time=53)
    m.record(99, b"12345678")
    m.sample(e, ip=0x400500, pid=5, tid=5, time=60, period=400)
    m.build_id(5, bytes(range(20)), "/nowhere/first")
    m.all_features()
    for what, data in ("file", m.file()), ("pipe", m.pipe()):
        out = gusprof("script", data, "-F", "comm,pid,tid,time,period,event,ip,dso", "--ns")[0]
        lines = [" ".join(l.split()) for l in out.splitlines() if l.strip()]
        want = ["first 5/5 0.000000015: 100 cycles:u: 401234 (/nowhere/first)",
                "first 6/6 0.000000025: 100 cycles:u: 401234 (/nowhere/first)",
                "second 6/6 0.000000035: 100 cycles:u: 401234 (/nowhere/first)",
                "first 5/5 0.000000040: 200 cycles:u: 600010 (/nowhere/mmap)",
                "first 5/5 0.000000041: 300 cycles:u: 700000 ([unknown])",
                "first 5/5 0.000000060: 400 cycles:u: 400500 (/nowhere/first)"]
        if lines != want:
            fail("script of the", what, "\n", "\n".join(lines))
        doc = json.loads(gusprof("report", data, "--format", "json", "--by", "module")[0])
        rows = {r["module"]: (r["samples"], r["weight"]) for r in doc["rows"]}
        if rows != {"/nowhere/first": (4, 700), "/nowhere/mmap": (1, 200), "[unknown]": (1, 300)}:
            fail("report of the", what, rows)
        doc = json.loads(gusprof("report", data, "--format", "json")[0])
        rows = {(r["module"], r["function"]): r["samples"] for r in doc["rows"]}
        if rows != {("/nowhere/first", "first+0x2234"): 3, ("/nowhere/first", "first+0x1500"): 1,
                    ("/nowhere/mmap", "mmap+0x5010"): 1, ("[unknown]", None): 1}:
            fail("functions of the", what, rows)
        text = gusprof("dump", data)[0]
        for pattern in ('hostname "made"', 'cpu_model "A made CPU"', "cpu_family 6", "cpu_model_number 207",
                        "precise 2", "exclude_kernel yes", "frequency 4000", 'command "a command"',
                        'path "/nowhere/first" build_id 000102030405060708090a0b0c0d0e0f10111213',
                        'path "/nowhere/old" build_id 000102030405060708090a0b0c0d0e0f ', "lost { time 50 count 33 }",
                        "lost { time 51 count 3 }", "switch out cpu 2 pid 5 tid 5 preempted",
                        "switch in cpu 2 pid 6 tid 6",
                        "99 \\(1\\)", "fork { pid 6 ppid 5 tid 6 ptid 5 time 20 }"):
            if not re.search(pattern, text):
                fail("dump of the %s has no %s" % (what, pattern))


def beside():
    """AUXTRACE with its payload: SPE becomes samples, what is not decoded is named and counted."""
    record = bytes([0x52, 0x42, 0x00, 0x49, 0x00, 0x98, 0x21, 0x00, 0x99, 0x05, 0x00]) + \
        b"\xb0" + struct.pack("<Q", 0x401040) + b"\xb2" + struct.pack("<Q", 0x2000) + b"\x01"
    m = Made()
    e = m.event("arm_spe_0//", IDENTIFIER | FLAT, ids=[1], sample_id_all=1, type=9, period=1024)
    m.auxtrace_info(4, [9, 0])
    m.auxtrace((record + bytes(-len(record) % 32)) * 3, tid=77, cpu=3)
    out, _ = gusprof("dump", m.file(), "--type", "samples")
    lines = [told(l) for l in out.splitlines() if " sample " in l]
    for got in lines:
        want = {"ip": "0x401040", "address": "0x2000", "tid": "77", "cpu": "3", "weight": "33", "issue_latency": "5",
                "period": "1024"}
        for name, value in want.items():
            if got.get(name) != value:
                fail("SPE: %s is %s, not %s" % (name, got.get(name), value))
    if len(lines) != 3:
        fail("SPE: %d samples, not 3" % len(lines))
    for kind, name in (1, "intel-pt"), (3, "cs-etm"):
        m = Made()
        e = m.event("trace//", IDENTIFIER | TID | TIME, ids=[1], sample_id_all=1, type=8)
        f = m.event("cycles", IDENTIFIER | FLAT, ids=[2], sample_id_all=1)
        m.auxtrace_info(kind, [8] * 17)
        # What looks like a record is none.
        m.auxtrace(m.pack("IHHQ", SAMPLE, 0, 16, 1) * 8)
        m.sample(f, ip=5, time=9, period=4)
        judge("beside %s" % name, m, m.file())
        out, err = gusprof("report", m.file())
        if not re.search(r"128 bytes of AUX data.*1 piece", out + err):
            fail("AUX data of %s are not told: %s" % (name, (out + err)[:300]))


def words():
    """AMD's registers, which RAW has: a load from memory, a branch, and a fetch, on silicon that the file names."""
    caps, valid, access = 0xbff, 1 << 18, 1 | 1 << 7 | 1 << 17 | 1 << 18 | 1 << 20
    load = struct.pack("<I8Q", caps, valid | 0x1000, 0x401000, 5 | 900 << 16, 3, access | 700 << 32, 0x7f0000001000,
                       0x123456000, 0)
    jump = struct.pack("<I8Q", caps, valid, 0x401010, 7 | 40 << 16 | 0b111 << 35, 0, 0, 0, 0, 0x402000)
    fetch = struct.pack("<I4Q", caps, 0b1011 << 49 | 1 << 55 | 60 << 32, 0x403000, 0x123457000, 21)
    m = Made()
    e = m.event("ibs_op//", IDENTIFIER | FLAT | RAW, ids=[1], sample_id_all=1, type=9)
    f = m.event("ibs_fetch//", IDENTIFIER | FLAT | RAW, ids=[2], sample_id_all=1, type=10)
    m.sample(e, ip=0x401000, exact=True, pid=5, tid=5, time=20, raw=load)
    m.sample(e, ip=0x401010, exact=True, pid=5, tid=5, time=21, raw=jump)
    m.sample(f, ip=0x403000, pid=5, tid=5, time=22, raw=fetch)
    m.all_features()
    m.feature("cpuid", m.string("AuthenticAMD,25,17,1"))
    m.feature("pmu_mappings", m.pack("I", 2) + m.pack("I", 9) + m.string("ibs_op") + m.pack("I", 10) +
              m.string("ibs_fetch"))
    want = [{"address": "0x7f0000001000", "physical": "0x123456000", "weight": "700", "instruction_latency": "900",
             "retire_latency": "5", "retire_from": "completion", "data_page": "4096",
             "events": "0x%x" % (0x8c << 16 | 0x140)},
            {"branches": ["0x401010/0x402000/M/-/-/0"], "instruction_latency": "40", "retire_latency": "7",
             "retire_from": "completion", "events": "0x%x" % (0x1e4 << 16 | 8)},
            {"physical": "0x123457000", "weight": "60", "translation_latency": "21", "code_page": "4096",
             "events": "0x%x" % (1 << 16 | 2)}]
    lines = [told(l) for l in gusprof("dump", m.file(), "--type", "samples")[0].splitlines() if " sample " in l]
    if len(lines) != 3:
        fail("IBS: %d samples, not 3" % len(lines))
    for got, values in zip(lines, want):
        for name, value in values.items():
            if got.get(name) != value:
                fail("IBS: %s is %s, not %s" % (name, got.get(name), value))


def faults():
    """Page faults have an address, and the kernel's word that their source is not available."""
    nobody_knows, at = 0x1e05080021, 0x7f0000001234
    for name, type, config, placed in (("faults", 1, 2, True), ("mem:0x7f0000001234:rw", 5, 0, True),
                                       ("cpu-clock", 1, 0, False), ("cycles", 0, 0, False)):
        m = Made()
        e = m.event(name, FLAT | ADDR | DATA_SRC, type=type, config=config)
        m.mmap2(5, at & ~0xfff, 0x1000, 0, "/nowhere/data", time=1)
        m.sample(e, ip=0x401000, pid=5, tid=5, time=20, addr=at, data_src=nobody_knows)
        m.all_features()
        out, err = gusprof("report", m.file(), "--by", "data-line,data-module", status=0 if placed else 125)
        if placed and not ("7f0000001200" in out and "data" in out.splitlines()[-1]):
            fail("the place of %s: %s" % (name, out))
        if not placed and "no sample of the recording tells of an access to memory" not in err:
            fail("an address of %s is no access: %s" % (name, err))
        err = gusprof("report", m.file(), "--by", "data-source", status=125)[1]
        if ("have addresses of data and tell nothing else" in err) != placed:
            fail("the source of %s: %s" % (name, err))


def counts():
    """What perf stat has recorded has no samples; of others nobody knows why there are none. A length is no date."""
    for samples, stat, timed in (0, 1, 0), (0, 1, 1), (1, 1, 0), (0, 0, 0):
        m = Made()
        e = m.event("task-clock", FLAT if timed else IP | TID, type=1, config=1)
        for i in range(samples):
            m.sample(e, ip=1, pid=5, tid=5)
        if stat:
            m.record(76, m.words([0, 0, 7, 8, 9]))
        for data in m.file(), m.pipe():
            out = gusprof("report", data, "--header")[0]
            if ("holds counts of perf stat, and no samples" in out) != (stat and not samples):
                fail("counts of perf stat (%d samples): %s" % (samples, out))
            if ("samples do not say when" in out) != (not timed and not (stat and not samples)):
                fail("their times (%d samples): %s" % (samples, out))
            if ("# the recording has no samples\n" in out) != (not samples) or "too short" in out:
                fail("why there are none (%d samples): %s" % (samples, out))
            if "# length:   " not in out or "# date:" in out:
                fail("a length is no date:", out)


def kept():
    """What import writes is what the file has."""
    m = Made()
    e = m.event("cycles", IDENTIFIER | FLAT | CALLCHAIN | ADDR | DATA_SRC | WEIGHT_STRUCT, ids=[7], sample_id_all=1)
    m.comm(5, 5, "made", exec=True, time=10)
    m.mmap2(5, 0x400000, 0x10000, 0, "/nowhere/made", build_id=bytes(range(20)), time=11)
    for i in range(2000):
        m.sample(e, ip=0x400000 + i, pid=5, tid=5, time=20 + i, period=1 + i % 7, weights=(i, 2, 3),
                 chain=[USER_MARK, 0x400000 + i, 0x400100, 0x400200])
    m.switch(True, pid=5, tid=5, time=5000)
    before = gusprof("dump", m.file())[0]
    subprocess.run([program, "import", "-q", "-i", "known.data", "-o", "kept.gus"], check=True)
    after = subprocess.run([program, "dump", "-i", "kept.gus"], capture_output=True, text=True, check=True).stdout
    for kind in " sample ", " switch ", " mmap ", " comm ":
        theirs, ours = [[l for l in text.splitlines() if kind in l] for text in (before, after)]
        if theirs != ours or not ours:
            fail("import: %d lines of%s, not %d" % (len(ours), kind, len(theirs)))
    with open("known.data", "rb") as f:
        piped = subprocess.run([program, "report", "-i", "-"], stdin=f, capture_output=True, text=True).stdout
    named = gusprof("report", m.file())[0]
    if piped != named or "2000 samples" not in named:
        fail("report -i - says", piped[:200])


def own_program():
    """Of gusprof itself: its build id, and where in the file main is; None if nobody can say."""
    tools = [subprocess.run(["sh", "-c", t + ' "$1"', "sh", program], capture_output=True, text=True).stdout
             for t in ("readelf -nW", "readelf -lW", "nm")]
    build_id = re.search(r"Build ID: (\w+)", tools[0])
    main_at = re.search(r"^(\w+) T main$", tools[2], re.M)
    if not build_id or not main_at:
        return None
    for m in re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", tools[1]):
        offset, start, size = (int(x, 16) for x in m)
        if start <= int(main_at.group(1), 16) < start + size:
            return bytes.fromhex(build_id.group(1)), int(main_at.group(1), 16) - start + offset
    return None


def place(folder, build_id, what):
    """Where perf keeps what has that build id."""
    path = "%s/.build-id/%s/%s/%s" % (folder, build_id.hex()[:2], build_id.hex()[2:], what)
    os.makedirs(os.path.dirname(path))
    return path


def functions(data, *options):
    doc = json.loads(gusprof("report", data, "--format", "json", "--no-cache", *options)[0])
    return sorted(str(r["function"]) for r in doc["rows"])


def names():
    """From perf's folder of build ids, for a program that is gone, for a kernel of another boot; from --kallsyms;
    from a perf map."""
    kernel_id = bytes(range(40, 60))
    m = Made()
    e = m.event("cycles", FLAT)
    m.mmap((1 << 32) - 1, 0xffffffff9e000000, 0x1000000, 0xffffffff9e000000, "[kernel.kallsyms]_text", misc=KERNEL)
    m.sample(e, ip=0xffffffff9e000044, mode=KERNEL, time=20)
    m.build_id(-1, kernel_id, "[kernel.kallsyms]", misc=KERNEL)
    with open(place("cache", kernel_id, "kallsyms"), "w") as f:
        f.write("ffffffff81000000 T _text\nffffffff81000040 T do_it\n")
    if functions(m.file(), "--buildid-dir", "cache") != ["do_it"]:
        fail("the kernel's names:", functions(m.file(), "--buildid-dir", "cache"))
    os.rename("cache/.build-id/%s/%s/kallsyms" % (kernel_id.hex()[:2], kernel_id.hex()[2:]), "saved")
    if functions(m.file(), "--kallsyms", "saved", "--buildid-dir", "cache") != ["do_it"]:
        fail("names from --kallsyms:", functions(m.file(), "--kallsyms", "saved", "--buildid-dir", "cache"))
    if "do_it+0x4" not in gusprof("script", m.file(), "--kallsyms", "saved", "-F", "ip,sym,symoff")[0]:
        fail("script --kallsyms:", gusprof("script", m.file(), "--kallsyms", "saved", "-F", "ip,sym,symoff")[0])
    for verb in "report", "script":
        err = gusprof(verb, m.file(), "--kallsyms", "missing", status=125)[1]
        if "cannot read kernel symbols from missing: No such file or directory" not in err:
            fail(verb, "--kallsyms of a file that is not there:", err)
    # A module of the kernel's is called as perf calls it, in rows, lines and stacks, and --dso takes that name.
    m = Made()
    e = m.event("cycles", FLAT)
    m.mmap((1 << 32) - 1, 0xffffffff81000000, 0x7effffff, 0xffffffff81000000, "[kernel.kallsyms]_text", misc=KERNEL)
    m.mmap((1 << 32) - 1, 0xffffffffc0400000, 0x1000, 0, "/lib/modules/6/kernel/sound/snd-pcm.ko.xz", misc=KERNEL)
    for ip in 0xffffffffc03fffff, 0xffffffffc0400000, 0xffffffffc0400fff, 0xffffffffc0401000:
        m.sample(e, ip=ip, mode=KERNEL, time=20)
    rows = json.loads(gusprof("report", m.file(), "--format", "json", "--by", "module")[0])["rows"]
    if sorted((r["module"], r["samples"]) for r in rows) != [("[kernel]", 2), ("[snd_pcm]", 2)]:
        fail("the kernel's modules:", rows)
    lines = re.findall(r"([0-9a-f]{16}) .*\((.*)\)", gusprof("script", m.file())[0])
    if [(ip[-8:], of) for ip, of in lines] != [("c03fffff", "[kernel.kallsyms]"), ("c0400000", "[snd_pcm]"),
                                               ("c0400fff", "[snd_pcm]"), ("c0401000", "[kernel.kallsyms]")]:
        fail("the kernel's modules in lines:", lines)
    for name, want in ("[snd_pcm]", 2), ("[kernel]", 2), ("[kernel.kallsyms]", 2), ("[snd_pcm],[kernel]", 4):
        doc = json.loads(gusprof("report", m.file(), "--format", "json", "--dso", name)[0])
        if doc["total"]["samples"] != want:
            fail("--dso %s:" % name, doc["total"])
    own = own_program()
    if own:
        m = Made()
        e = m.event("cycles", FLAT)
        m.mmap2(5, 0x10000000, 0x8000000, 0, "/nowhere/gone", build_id=own[0], time=1)
        m.sample(e, ip=0x10000000 + own[1] + 1, pid=5, tid=5, time=20)
        unknown = ["gone+%#x" % (own[1] + 1)]
        for folder, options in ("cache", ["--buildid-dir", "cache"]), ("home/.debug", []):
            os.environ["HOME"] = os.path.abspath("home")
            if functions(m.file(), *options) != unknown:
                fail("a file that is gone:", functions(m.file(), *options))
            os.symlink(program, place(folder, own[0], "elf"))
            if functions(m.file(), *options) != ["main"]:
                fail("names from %s: %s" % (folder, functions(m.file(), *options)))
        os.makedirs("fs/nowhere")
        os.symlink(program, "fs/nowhere/gone")
        if functions(m.file(), "--symfs", "fs", "--buildid-dir", "none") != ["main"]:
            fail("names from --symfs:", functions(m.file(), "--symfs", "fs", "--buildid-dir", "none"))
    pid = 4100000 + os.getpid() % 90000
    m = Made()
    e = m.event("cycles", FLAT)
    m.mmap2(pid, 0x7000, 0x1000, 0, "//anon", time=1)
    m.sample(e, ip=0x7010, pid=pid, tid=pid, time=20)
    path = "/tmp/perf-%d.map" % pid
    with open(path, "x") as f:
        f.write("7000 100 made_while_running\n")
    try:
        for host, want in (os.uname().nodename, "made_while_running"), ("another." + os.uname().nodename, "None"):
            m.feature("hostname", m.string(host))
            if functions(m.file()) != [want]:
                fail("the perf map, recorded on %s: %s" % (host, functions(m.file())))
    finally:
        os.unlink(path)


def stats():
    """Records by kind, as perf counts them, with what perf knows and nothing here is made of; samples by event."""
    m = Made()
    events = [m.event("cycles", FLAT | IDENTIFIER, ids=[7], sample_id_all=1),
              m.event("instructions", FLAT | IDENTIFIER, config=1, ids=[8, 9], sample_id_all=1),
              m.event("branches", FLAT | IDENTIFIER, config=4, ids=[10], sample_id_all=1)]
    m.mmap(1, 0x1000, 0x1000, 0, "/a", time=1)
    m.mmap2(1, 0x3000, 0x1000, 0, "/b", time=2)
    for i in range(3):
        m.comm(1, 1, "name", time=3 + i)
    m.fork(2, 1, 2, 1, 6)
    m.fork(2, 1, 2, 1, 30, end=True)
    for id, n in (7, 5), (8, 2), (9, 4):
        for i in range(n):
            m.sample(events[0 if id == 7 else 1], id=id, time=10 + i)
    for i in range(2):
        m.throttle(7, 12 + i, stop=i == 0)
        m.lost(7, 100 + i, time=14)
        m.switch(i == 0, pid=1, tid=1, time=15)
    m.cgroup(3, "/group", time=16)
    m.ksymbol(0xffffffffc0000000, 64, "bpf_prog_1", time=17)
    m.namespaces(1, 1, [(1, 2)], time=18)
    want = {"SAMPLE": 11, "COMM": 3, "LOST": 2, "MMAP": 2, "SWITCH": 2, "CGROUP": 1, "EXIT": 1, "FORK": 1, "KSYMBOL": 1,
            "NAMESPACES": 1, "THROTTLE": 1, "UNTHROTTLE": 1}
    doc = json.loads(gusprof("report --stats --format json", m.file())[0])
    if [(r["kind"], r["records"]) for r in doc["records"]] != list(want.items()):
        fail("records by kind:", doc["records"])
    if doc["total"] != sum(want.values()) or doc["lost"] != 201 or doc["whole"] is not True:
        fail("all records:", doc["total"], doc["lost"], doc["whole"])
    samples = [("cycles:HG", 5), ("instructions:HG", 6), ("branches:HG", 0)]
    if [(e["event"], e["samples"]) for e in doc["events"]] != samples:
        fail("samples by event:", doc["events"])
    lines = gusprof("report --stats --format csv", m.file())[0].splitlines()
    if lines != ["kind,event,records", *("%s,,%d" % of for of in want.items()), *("SAMPLE,%s,%d" % s for s in samples)]:
        fail("CSV of records:", lines)
    text = [" ".join(line.split()) for line in gusprof("report --stats", m.file())[0].splitlines()]
    if text != ["27 records in all", *("%d %.1f%% %s" % (n, 100 * n / 27, kind) for kind, n in want.items()),
                "201 records that the kernel dropped", *("%d samples of %s" % (n, e) for e, n in samples)]:
        fail("text of records:", text)
    # The same of the recording that it becomes; of one that is cut, what is there, and that it is.
    subprocess.run([program, "import", "-q", "-i", "known.data", "-o", "own.data"], check=True)
    with open("own.data", "rb") as f:
        own = f.read()
    if json.loads(gusprof("report --stats --format json", own)[0]) != doc:
        fail("records of the imported recording:", gusprof("report --stats", own)[0])
    out, err = gusprof("report --stats --format json", own[:-40])
    if json.loads(out) != dict(doc, whole=False) or "the recording was cut" not in err:
        fail("records of a cut recording:", out, err)
    m = Made()
    m.event("cycles", FLAT)
    if gusprof("report --stats", m.file())[0].splitlines()[0].split() != ["0", "records", "in", "all"]:
        fail("no records:", gusprof("report --stats", m.file())[0])
    err = gusprof("report --stats --pid 1", m.file(), status=129)[1]
    if "--stats and --pid exclude each other" not in err:
        fail("records of a process:", err)


def main():
    for part in shapes, fields, events, whole, beside, words, faults, counts, kept, names, stats:
        before = failed
        part()
        print("%s: %s" % ("ok" if failed == before else "FAILED", part.__name__))
    sys.exit(failed > 0)


main()
