#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings that are cut, corrupt, foreign or newer: report and dump say so and never crash. A quick selection; every
# cut of 64 KiB and 2,000 flips are tests/bench/truncate-flip.
: "${GUS_DEMO:?}"
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
if ! "$GUSPROF" record --trace off -q -F 1000 -- "$GUS_DEMO" 1 >out 2>err; then
	skip "cannot record here: $(head -1 err)"
fi

cat >damage.py <<'P'
import os, random, subprocess, sys
prog = os.environ["GUSPROF"]
whole = open("gusprof.data", "rb").read()
size = len(whole)
random.seed(1)

def run(name, data):
    open("damaged.data", "wb").write(data)
    results = [subprocess.run([prog, verb, "damaged.data"], capture_output=True, text=True, errors="replace")
               for verb in ("report", "dump")]
    for r in results:
        assert 0 <= r.returncode < 126, (name, r.returncode, r.stderr[-500:])
        assert "was cut" in r.stdout + r.stderr or "is corrupt" in r.stdout + r.stderr or \
               "not a gusprof recording" in r.stderr or "is empty" in r.stderr, (name, r.stdout[:300], r.stderr[:300])
    return results

for n in sorted({0, 1, 7, 8, 23, 24, 25, 63, 64, size - 1, size - 24, size - 25} |
                {random.randrange(size) for _ in range(40)}):
    run("cut at %d of %d" % (n, size), whole[:n])
print("ok: cuts are told")
for n in [8, 12, 16, 24, 28, 64, size - 1, size - 24] + [random.randrange(size) for _ in range(40)]:
    run("flip at %d" % n, whole[:n] + bytes([whole[n] ^ 1 << random.randrange(8)]) + whole[n + 1:])
print("ok: flips are told")
P
python3 damage.py || problem "damaged recordings"

printf '\x89GUS\r\n\x1a\n\x02\x00\x00\x00\x00\x00\x00\x00' >newer.data
cat >seal.py <<'P'
# XXH64, from the algorithm's specification, to seal what a recorder would not write.
M = (1 << 64) - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
rot = lambda x, r: ((x << r) | (x >> (64 - r))) & M
word = lambda data, at, size=8: int.from_bytes(data[at:at + size], "little")
stir = lambda acc, k: rot(acc + k * P2 & M, 31) * P1 & M

def xxh64(data):
    at, acc = 0, [P1 + P2, P2, 0, -P1]
    for at in range(0, len(data) - 31, 32):
        acc = [stir(acc[i], word(data, at + 8 * i)) for i in range(4)]
    h = P5
    if len(data) >= 32:
        at += 32
        h = sum(rot(a, r) for a, r in zip(acc, (1, 7, 12, 18)))
        for a in acc:
            h = ((h ^ stir(0, a)) * P1 + P4) & M
    h += len(data)
    for at in range(at, len(data) - 7, 8):
        h = (rot(h ^ stir(0, word(data, at)), 27) * P1 + P4) & M
    at = len(data) & ~7
    if len(data) - at >= 4:
        h = (rot((h ^ word(data, at, 4) * P1) & M, 23) * P2 + P3) & M
        at += 4
    for byte in data[at:]:
        h = rot((h ^ byte * P5) & M, 11) * P1 & M
    for shift, mul in ((33, P2), (29, P3), (32, 1)):
        h = (h ^ h >> shift) * mul & M
    return h.to_bytes(8, "little")
P
python3 - <<'P' || exit 1
from seal import xxh64
data = open("newer.data", "rb").read()
open("newer.data", "ab").write(xxh64(data))
P
"$GUSPROF" report newer.data >out 2>err
if [ $? = 125 ] && grep -q "format version 2.0" err; then
	echo "ok: a newer version is refused as such"
else
	problem "newer version"; cat err
fi
echo "GUSPROFILE and so on" >foreign.data
"$GUSPROF" report foreign.data >out 2>err
if [ $? = 125 ] && grep -q "neither a recording of gusprof nor of perf" err; then
	echo "ok: a foreign file is refused as such"
else
	problem "foreign"; cat err
fi
# Each of 400 frames has 65,536 samples, whose columns break off; what one of them takes is freed before the next.
python3 - <<'P' || problem "batches that do not decode"
import os, resource, subprocess
from struct import pack
from seal import xxh64
data = b"\x89GUS\r\n\x1a\n" + pack("<II", 1, 0)
data += xxh64(data)
rows = b"\x80\x80\x04\x01\x09\x00"
for n in range(400):
    head = pack("<4sHHIIQ", b"GFRM", 3, 0, len(rows), len(rows), n) + xxh64(rows)
    data += head + xxh64(head) + rows
open("broken.data", "wb").write(data)
r = subprocess.run([os.environ["GUSPROF"], "dump", "broken.data"], capture_output=True, text=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss # KiB; a sanitizer keeps some hundred MiB
assert r.returncode == 1 and r.stdout.count("do not decode") == 400, (r.returncode, r.stdout[-300:], r.stderr[-500:])
assert most < 1 << 20, "%d KiB" % most
print("ok: batches that do not decode do not add up in memory")
P
exit $failed
