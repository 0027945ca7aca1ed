# SPDX-License-Identifier: MIT
# Files of perf's that lie about themselves: for each, gusprof ends with an answer or one sentence, in bounded memory
# and time. import-hostile.sh calls it; the folder that it stands in is its own.
import os
import re
import resource
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
from perfdata import *

program = os.environ["GUSPROF"]
MIB = 1 << 20
HUGE = [1 << 60, 1 << 63, (1 << 64) - 1, (1 << 64) - 8, 1 << 32, 1 << 31]
failed = 0


def plain(n=3, **how):
    """A good file of one event, with a mapping, features and n samples."""
    m = Made(**how)
    e = m.event("cycles", IDENTIFIER | FLAT | CALLCHAIN, ids=[7], sample_id_all=1, freq=1, period=1000)
    m.comm(5, 5, "made", exec=True, time=10)
    m.mmap2(5, 0x400000, 0x10000, 0, "/nowhere/made", time=11)
    for i in range(n):
        m.sample(e, ip=0x401000 + 16 * i, tid=5, time=20 + i, period=100,
                 chain=[0xfffffffffffffe00, 0x401000, 0x402000])
    m.build_id(5, bytes(range(20)), "/nowhere/made")
    m.all_features()
    return m


def run(verb, path, seconds=20, memory=256):
    """What it said, and how it ended: never by a signal, in time, with no more memory than the file and 256 MiB."""
    def limit():
        if not os.environ.get("GUS_UNBOUNDED"):
            resource.setrlimit(resource.RLIMIT_AS, (2048 * MIB, 2048 * MIB))
    with open("hostile.out", "w") as out, open("hostile.err", "w") as err:
        p = subprocess.Popen([program, *verb.split(), "-i", path], stdout=out, stderr=err, preexec_fn=limit)
        _, status, use = os.wait4(p.pid, 0)
    said = open("hostile.out", errors="replace").read(), open("hostile.err", errors="replace").read()
    why = []
    if os.WIFSIGNALED(status):
        why.append("ended by signal %d" % os.WTERMSIG(status))
    elif os.WEXITSTATUS(status) not in ((0, 1, 124, 125) if verb == "dump" else (0, 124, 125)):
        why.append("ended with %d" % os.WEXITSTATUS(status))
    elif os.WEXITSTATUS(status) and len(said[1].splitlines()) > 2:
        why.append("says it in more than one sentence")
    elif os.WEXITSTATUS(status) and not (said[1] + (said[0] if verb == "dump" else "")).strip():
        why.append("says nothing")
    if not os.environ.get("GUS_UNBOUNDED") and use.ru_maxrss / 1024 > memory + os.path.getsize(path) / MIB:
        why.append("took %d MiB" % (use.ru_maxrss / 1024))
    if use.ru_utime + use.ru_stime > seconds:
        why.append("took %.1f s" % (use.ru_utime + use.ru_stime))
    return said, os.WEXITSTATUS(status), why


def judge(name, data, want=None, verbs=("report", "script", "dump"), seconds=20):
    """want: a pattern that the answer of the first verb or its sentence has."""
    global failed
    with open("hostile.data", "wb") as f:
        for part in [data] if isinstance(data, bytes) else data:
            f.write(part)
    for verb in verbs:
        said, status, why = run(verb, "hostile.data", seconds)
        if verb == verbs[0] and want and not re.search(want, said[0] + said[1]):
            why.append("says %r, not %r" % ((said[1] or said[0])[:200], want))
        if why:
            failed += 1
            print("FAILED: %s, %s: %s" % (name, verb, "; ".join(why)))


def headers():
    """Each number of the header as large as can be."""
    good = plain().file()
    for field in "size attr_size attrs_at attrs_size data_at data_size types_at bits0 bits1 bits2 bits3".split():
        for value in HUGE + [0, 1, 63, 104]:
            judge("header's %s %x" % (field, value), plain().file(**{field: value}))
    # Sections that lie over each other: events in the header, records over events, features over records.
    for field, value in ("attrs_at", 0), ("data_at", 0), ("data_at", 104), ("attrs_at", 300):
        judge("%s at %d" % (field, value), plain().file(**{field: value}))
    judge("only zeros", bytes(4096), "neither a recording")
    judge("a mark alone", good[:8], "was cut")
    judge("a pipe without records", good[:8] + struct.pack("<Q", 16), "no events")


def attributes():
    for size in 0, 1, 8, 63, 64, 65, 4096, 65535, 1 << 31, (1 << 32) - 1:
        m = plain()
        m.events[0].bytes = m.events[0].bytes[:4] + struct.pack("<I", size) + m.events[0].bytes[8:]
        judge("attribute of %d bytes" % size, m.file())
        judge("attribute of %d bytes in a pipe" % size, m.pipe())
    # A hundred thousand events, whose ids all are the same four million words.
    m = plain()
    words = 1 << 20
    count = 20000
    ids_at = 104 + count * 152
    data = b"".join(m.records)
    head = m.mark() + m.words([104, 152, 104, count * 152, ids_at + words * 8, len(data), 0, 0, 0, 0, 0, 0])
    attr = m.events[0].bytes[:136] + m.words([ids_at, words * 8])
    judge("20000 events that share a million ids", [head, attr * count, m.words(range(words)), data])
    words = 1 << 22
    ids_at = 104 + 152
    head = m.mark() + m.words([104, 152, 104, 152, ids_at + words * 8, len(data), 0, 0, 0, 0, 0, 0])
    attr = m.events[0].bytes[:136] + m.words([ids_at, words * 8])
    judge("an event with 4 million ids", [head, attr, m.words(range(words)), data], verbs=("report",))
    for ids in [7, 7], [7] * 1000:
        m = Made()
        a = m.event("a", IDENTIFIER | FLAT, ids=ids, sample_id_all=1)
        b = m.event("b", IDENTIFIER | FLAT | ADDR, ids=ids, sample_id_all=1)
        m.sample(a, ip=1, time=5)
        m.sample(b, ip=2, time=6)
        judge("ids of two events are the same", m.file(), "samples? of")


def features():
    # All features are the same 60 MB, which is all of the file.
    m = plain()
    big = bytes(60 * MIB)
    for bits in (1 << 64) - 2, 1 << 2 | 1 << 12:
        good = m.file()
        data_at = struct.unpack_from("<Q", good, 40)[0]
        data = b"".join(m.records)
        n = bin(bits).count("1") * 4
        table = m.words([data_at + len(data) + n * 16, len(big)]) * n
        judge("%d features that are the same 60 MiB" % n,
              [m.file(bits0=bits, bits1=bits, bits2=bits, bits3=bits)[:data_at], data, table, big])
        # The table is a feature of its own.
        table = m.words([data_at + len(data), 16 * n]) * n
        judge("%d features that are their own table" % n,
              [m.file(bits0=bits, bits1=bits, bits2=bits, bits3=bits)[:data_at], data, table])
    # Lists in which each entry is to be looked for among all the others, or counts for all.
    pack = lambda layout, *values: struct.pack("<" + layout, *values)
    m = plain()
    m.events[0].ids[1:] = range(1000, 1000 + 3 * MIB // 8)
    m.feature("event_desc", pack("II", MIB // 4, 0) + pack("IIQ", 1, 0, 1) * (MIB // 4))
    judge("names of ids that are no event's", m.file(), "samples? of", verbs=("report",))
    for name, entries, n in ("pmu_mappings", m.words(range(1000, 1000 + MIB)), MIB), \
            ("group_desc", pack("III", 0, 0, 0xffffffff) * MIB, MIB), \
            ("simpleperf_meta", b"\n" * (8 * MIB), 8 * MIB):
        m = plain()
        m.events += m.events * 30000
        m.feature(name, (b"event_type_info\0" if name == "simpleperf_meta" else pack("I", n)) + entries + b"\0")
        judge("%d entries of %s" % (n, name), m.file(), "samples? of", verbs=("report",))
    for name in "build_id event_desc cmdline hostname nrcpus pmu_mappings cpuid sample_time clock_data".split():
        for body in b"", b"\xff" * 4, b"\xff" * 64, struct.pack("<I", 1 << 30) * 40, struct.pack("<II", 5, 0) * 30:
            m = plain()
            m.build_ids = []
            m.feature(name, body)
            judge("feature %s of %r" % (name, body[:8]), m.file(), "samples? of", verbs=("report",))
            judge("feature %s of %r in a pipe" % (name, body[:8]), m.pipe(), "samples? of", verbs=("report",))


def records():
    good = plain()
    for size in 0, 1, 4, 7, 8, 9, 15, 65535:
        for type in SAMPLE, MMAP2, COMPRESSED2, ROUND, AUXTRACE, FEATURE, ATTR, 300, 32769:
            m = plain()
            m.record(type, bytes(64), size=size)
            m.records += good.records
            judge("record %d of %d bytes" % (type, size), m.file(), verbs=("report",))
            judge("record %d of %d bytes in a pipe" % (type, size), m.pipe(), verbs=("report",))
    for value in HUGE:
        for build in (lambda m: m.auxtrace(b"\0" * 64, size=value),
                      lambda m: m.id_index([]) and m.records.append(m.pack("IHHQ", ID_INDEX, 0, 16, value)),
                      lambda m: m.record(NAMESPACES, m.pack("IIQ", 1, 1, value)),
                      lambda m: m.record(TRACING, m.pack("I", value & 0xffffffff)),
                      lambda m: m.record(COMPRESSED2, m.pack("Q", value) + ZSTD_HEAD),
                      lambda m: m.mmap2(5, value, value, value, "/nowhere/huge", time=12),
                      lambda m: m.ksymbol(value, value & 0xffffffff, "huge", time=12),
                      lambda m: m.lost(value, value, time=12)):
            m = plain()
            build(m)
            m.records += good.records
            judge("a number of %x" % value, m.file(), verbs=("report", "dump"))
    # What a sample says that it has.
    for field in CALLCHAIN, BRANCH_STACK, RAW, STACK_USER, REGS_USER, READ, AUX:
        for value in HUGE + [2, 1000]:
            m = Made()
            e = m.event("cycles", IP | TIME | field, read_format=FORMAT_GROUP, regs_user=(1 << 64) - 1, stack_user=64)
            m.record(SAMPLE, m.words([1, 2, value]) + bytes(64), USER)
            m.sample(Made().event("c", IP | TIME), ip=5, time=9)
            judge("field %x of %x" % (field, value), m.file(), verbs=("report",))
    # Sums that go beyond what is counted in: they stay there, and that is said.
    for period in (1 << 63) - 2, 1 << 63, (1 << 64) - 1:
        m = Made()
        e = m.event("cycles", IP | TIME | PERIOD)
        for i in range(3):
            m.sample(e, ip=0x401000, time=i + 1, period=period)
        judge("three samples of a period of %x" % period, m.file(), r"add up to more than 2\^63: [23] of the samples")
        judge("three stacks of a period of %x" % period, m.file(), r" 9223372036854775807\n",
              verbs=("script --folded",))
        judge("100 percent of a period of %x" % period, m.file(), r" 100\.00% ", verbs=("report",))
    m = plain()
    for i in range(3):
        m.lost(7, (1 << 63) - 1, time=12 + i)
    judge("more lost than is counted", m.file(), "dropped at least 9223372036854775807 records")
    judge("how much was lost at least", m.file(), "9223372036854775807  records that the kernel dropped, or more",
          verbs=("report --stats",))
    # Names without an end, and of everything that a terminal obeys.
    m = plain()
    m.mmap2(5, 0x500000, 0x1000, 0, b"/\x1b]0;x\x07" * 4000, time=12)
    m.records.append(m.pack("IHHII", COMM, 0, 24, 5, 5) + b"\xff" * 8)
    judge("names", m.file(), "samples? of")
    # A million processes, each with its own name for everything.
    m = plain(1)
    made = b"".join(m.pack("IHHIIQQQIIQQII", MMAP2, USER, 120, pid, pid, 0x1000 * pid, 0x1000, 0, 8, 1, pid, 0, 5, 2) +
                    (b"/p%06x" % pid).ljust(16, b"\0") + m.words([pid, pid, 0, 7]) for pid in range(1, 150000))
    m.records.insert(0, made)
    judge("150000 processes", m.file(), "samples? of", verbs=("report",))


def bombs():
    """Zeros, of which four bytes are 128 KiB; records that unpack to packed records."""
    # What may be unpacked grows with the file, and so does the time that it may take: 3 s a MiB, but of sanitizers.
    seconds = 20 if os.environ.get("GUS_UNBOUNDED") else 5
    for how in COMPRESSED, COMPRESSED2:
        for head in b"\0" * 8, struct.pack("<IHH", ROUND, 0, 8), struct.pack("<IHH", 300, 0, 65528):
            m = plain()
            for i in range(100):
                m.zipped(how, (ZSTD_HEAD if i == 0 else b"") + zstd_repeated(0, 1 << 17) * 4000)
            judge("a bomb of %d" % how, m.file(), "unpacks to more records, or more bytes", ("report",), seconds)
    # Names that are kept, each of 64 KB in a few bytes.
    for name, body in ("build ids", struct.pack("<IHHi", BUILD_ID, 0, 65528, 5) + bytes(24)), \
            ("names of events", struct.pack("<IHHQQ", EVENT_UPDATE, 0, 65528, 2, 7)):
        m = plain()
        packed = ZSTD_HEAD + (zstd_block(body) + zstd_repeated(ord("a"), 65528 - len(body))) * 8000
        for i in range(0, len(packed), 60000):
            m.zipped(COMPRESSED2, packed[i:i + 60000])
        judge(name, m.file(), "are left out: the others take 64 MiB", verbs=("report",))
    m = plain()
    packed = ZSTD_HEAD + b"".join(zstd_block(struct.pack("<IHH", 300, 0, 65528)) + zstd_repeated(0, 65520)
                                  for _ in range(5000))
    for i in range(0, len(packed), 60000):
        m.zipped(COMPRESSED2, packed[i:i + 60000])
    judge("records that are nothing", m.file(), "samples? of", verbs=("report",))
    # Times that go backward: all would have to wait until the last one is there.
    m = Made()
    e = m.event("cycles", IP | TIME | CALLCHAIN)
    packed = ZSTD_HEAD + b"".join(
        zstd_block(struct.pack("<IHHQQQ", SAMPLE, USER, 32 + 32000, 0x401000, 1000000 - i, 4000)) +
        zstd_repeated(0x41, 32000) for i in range(20000))
    for i in range(0, len(packed), 60000):
        m.zipped(COMPRESSED2, packed[i:i + 60000])
    judge("times that go backward", m.file(), "20000 samples of", verbs=("report", "export --to perfdata -o e.data"))
    # Empty records, of which a thousand take a byte each.
    m = plain()
    for i in range(100):
        m.zipped(COMPRESSED2, (ZSTD_HEAD if i == 0 else b"") + b"".join(
            zstd_block(struct.pack("<IHH", ROUND, 0, 8)) for _ in range(5000)))
    judge("many records", m.file(), "samples? of", verbs=("report",))
    # A sample in a few bytes, which come again and again: each has to be looked at.
    m = plain()
    sample = m.records[-1]
    for window in 27, 31, 40:
        m = plain()
        m.zipped(COMPRESSED2, b"\x28\xb5\x2f\xfd" + bytes([0, (window - 10) << 3]) + zstd_block(sample))
        judge("a window of 2^%d" % window, m.file(), "samples? of", verbs=("report",))
    m = plain(0)
    inner = plain()
    inner.zip(COMPRESSED2)
    m.zipped(COMPRESSED2, ZSTD_HEAD + zstd_block(b"".join(inner.records)))
    judge("packed within packed", m.file(), verbs=("report",))
    m = plain()
    m.zipped(COMPRESSED2, b"\x28\xb5\x2f\xfd" + b"\xff" * 100)
    m.records += plain().records
    judge("a packed record that cannot be unpacked", m.file(), "corrupt|damaged|cannot be")


def main():
    for part in sys.argv[1:] or ["headers", "attributes", "features", "records", "bombs"]:
        before = failed
        globals()[part]()
        print("%s: %s" % ("ok" if failed == before else "FAILED", part))
    sys.exit(failed > 0)


main()
