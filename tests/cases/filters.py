# SPDX-License-Identifier: MIT
# Samples whose process, thread, name, CPU and module are written down here, and which of them each option leaves.
# filters.sh calls it; the folder that it stands in is its own.
import itertools
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
from perfdata import *

program = os.environ["GUSPROF"]
NAMES = {10: "shape", 11: "worker", 20: "other", 30: "shape"}
MODULES = {0x1000: "/opt/app", 0x5000: "/opt/lib.so"}
# pid, tid, cpu, module: each is alone in something.
SAMPLES = [(10, 10, 0, 0x1000), (10, 10, 1, 0x1000), (10, 11, 1, 0x5000), (10, 11, 2, 0x1000), (20, 20, 2, 0x5000),
           (20, 20, 9, 0x1000), (30, 30, 10, 0x1000), (30, 30, 0, 0x5000)]
# Options, and what they leave of a sample.
FILTERS = [
    [("--pid", "10", lambda p, t, c, m: p == 10), ("--pid", "20,30", lambda p, t, c, m: p in (20, 30)),
     ("--pid", "11", lambda p, t, c, m: False)],
    [("--tid", "11", lambda p, t, c, m: t == 11), ("--tid", "10,30", lambda p, t, c, m: t in (10, 30))],
    [("-c", "shape", lambda p, t, c, m: NAMES[t] == "shape"),
     ("--comm", "other,worker", lambda p, t, c, m: NAMES[t] != "shape")],
    [("-C", "0", lambda p, t, c, m: c == 0), ("-C", "1-2", lambda p, t, c, m: c in (1, 2)),
     ("--cpu", "3-9,0", lambda p, t, c, m: c in (0, 9)), ("-C", "10-10", lambda p, t, c, m: c == 10),
     ("-C", "11-4294967294,3", lambda p, t, c, m: False)],
    [("--dso", "app", lambda p, t, c, m: m == 0x1000), ("--dso", "/opt/lib.so", lambda p, t, c, m: m == 0x5000)],
]
failed = 0


def fail(*what):
    global failed
    failed += 1
    print("FAILED:", *what)


def gusprof(*words, status=0):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode != status:
        fail(words, "ended with %d: %s" % (done.returncode, done.stderr[:300]))
    return done.stdout, done.stderr


def made(sample_type, cpus=True):
    m = Made()
    e = m.event("cycles", sample_type)
    for pid in 10, 20, 30:
        for start, path in MODULES.items():
            m.mmap2(pid, start, 0x1000, 0, path, time=1)
    for tid, name in NAMES.items():
        m.comm(10 if tid == 11 else tid, tid, name, time=2)
    for i, (pid, tid, cpu, module) in enumerate(SAMPLES):
        # A CPU that the recording leaves out for some samples only is one that nobody has.
        m.sample(e, ip=module + 16 * i, pid=pid, tid=tid, cpu=cpu if cpus or i % 2 else 0xffffffff, time=1000 + i,
                 period=100)
    return m.file()


with open("made.data", "wb") as f:
    f.write(made(FLAT))
choices = [[None] + group for group in FILTERS]
for chosen in itertools.product(*choices):
    chosen = [c for c in chosen if c]
    if len(chosen) > 2:
        continue
    options = [word for c in chosen for word in c[:2]]
    want = sorted(s[3] + 16 * i for i, s in enumerate(SAMPLES) if all(c[2](*s) for c in chosen))
    out, err = gusprof("script", "-q", "-F", "ip", "-i", "made.data", *options)
    if sorted(int(line, 16) for line in out.split()) != want:
        fail("script", options, "shows", out, "and not", [hex(ip) for ip in want])
    doc = json.loads(gusprof("report", "-q", "--by", "instruction", "--format", "json", *options, "made.data")[0])
    rows = [r["offset"] + next(s for s, p in MODULES.items() if p == r["module"]) for r in doc["rows"]]
    if sorted(rows) != want or doc["total"]["samples"] != len(want):
        fail("report", options, "shows", doc["total"], rows)
    if doc["recording"]["filtered"] != len(SAMPLES) - len(want):
        fail("report", options, "has left out", doc["recording"]["filtered"])
    left = "# %d more samples were left out by the options\n" % (len(SAMPLES) - len(want))
    if (left in gusprof("report", "-q", *options, "made.data")[0]) != (len(want) != len(SAMPLES)):
        fail("report", options, "does not say:", left)

# A function is annotated from what is left alone.
out, err = gusprof("annotate", "-i", "made.data", "-C", "77", status=125)
if "no samples that the options leave" not in err:
    fail("annotate -C:", err)

for words, says in (("-C x", "'x'"), ("-C 0,", "'0,'"), ("-C ,0", "',0'"), ("-C 2-1", "'2-1'"), ("-C 1-", "'1-'"),
                    ("-C -1", "'-1'"), ("-C 4294967295", "'4294967295'"), ("--cpu 1--2", "list of CPUs such as 0-2,4"),
                    ("-C 99999999999999999999", "list of CPUs"), ("--pid x", "takes process numbers, not 'x'"),
                    ("--pid -1", "'-1'"), ("--tid 1,+2", "takes thread numbers, not '+2'"),
                    ("--pid 4294967296", "'4294967296'"), ("-C 0 --off-cpu", "who does not run is on no CPU"),
                    ("--wall -C 0", "exclude each other"), ("--comms x", "--comm NAME"), ("--symbols x", "--symbol")):
    out, err = gusprof("report", *words.split(), "made.data", status=129)
    if says not in err:
        fail(words, "says:", err)

# Samples that do not say where they were taken are on none of the CPUs; where none says it, there is no choosing.
with open("some.data", "wb") as f:
    f.write(made(FLAT, cpus=False))
out, err = gusprof("report", "-C", "0-10", "some.data")
if "# 4 more samples were left out" not in out or "4 samples do not say on which CPU they were taken" not in err:
    fail("some without a CPU:", out, err)
with open("none.data", "wb") as f:
    f.write(made(FLAT & ~CPU))
for verb in "report", "script", "annotate":
    out, err = gusprof(verb, "-i", "none.data", "-C", "0", status=125)
    if "does not say on which CPUs its samples were taken" not in err or "--sample-cpu" not in err:
        fail(verb, "without a CPU:", err)
gusprof("report", "none.data")
sys.exit(failed > 0)
