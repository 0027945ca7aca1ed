# SPDX-License-Identifier: MIT
# Makes recordings as perf writes them, in every shape that readers have to take: written from perf_event_open(2) and
# perf's own description of its file (tools/perf/Documentation/perf.data-file-format.txt), and not from our reader.
#
#	m = Made(big=True)                     # a file of the other byte order
#	e = m.event("cycles", IP | TID | TIME | PERIOD, ids=[7])
#	m.comm(1, 1, "it", time=5)
#	m.sample(e, ip=0x1000, tid=1, time=6, period=100)
#	open("perf.data", "wb").write(m.file()) # or m.pipe()
#
# What is not said of a sample is made of its number, so that no two fields are alike; m.told has what was put in.
import struct

# perf_event_attr.sample_type
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT, \
    DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, \
    WEIGHT_STRUCT = (1 << i for i in range(25))
FLAT = IP | TID | TIME | CPU | PERIOD

# The fields of a sample, as they follow each other.
ORDER = [("identifier", IDENTIFIER), ("ip", IP), ("tid", TID), ("time", TIME), ("addr", ADDR), ("id", ID),
         ("stream", STREAM_ID), ("cpu", CPU), ("period", PERIOD), ("read", READ), ("chain", CALLCHAIN), ("raw", RAW),
         ("branches", BRANCH_STACK), ("regs", REGS_USER), ("stack", STACK_USER), ("weight", WEIGHT),
         ("weights", WEIGHT_STRUCT), ("data_src", DATA_SRC), ("transaction", TRANSACTION), ("intr", REGS_INTR),
         ("phys", PHYS_ADDR), ("cgroup", CGROUP), ("data_page", DATA_PAGE_SIZE), ("code_page", CODE_PAGE_SIZE),
         ("aux", AUX)]

# perf_event_attr's bit fields: the first bit of each, and how many it has.
FLAGS = {"disabled": (0, 1), "inherit": (1, 1), "exclude_user": (4, 1), "exclude_kernel": (5, 1), "mmap": (8, 1),
         "comm": (9, 1), "freq": (10, 1), "task": (13, 1), "precise_ip": (15, 2), "mmap_data": (17, 1),
         "sample_id_all": (18, 1), "exclude_guest": (20, 1), "mmap2": (23, 1), "comm_exec": (24, 1),
         "use_clockid": (25, 1), "context_switch": (26, 1), "namespaces": (28, 1), "ksymbol": (29, 1),
         "bpf_event": (30, 1), "aux_output": (31, 1), "cgroup": (32, 1), "text_poke": (33, 1), "build_id": (34, 1)}

# PERF_RECORD_*, and from 64 on perf's own.
MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, READ_RECORD, SAMPLE, MMAP2, AUX_RECORD, ITRACE_START, \
    LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP_RECORD, TEXT_POKE, \
    AUX_OUTPUT_HW_ID, DEFERRED = range(1, 23)
ATTR, EVENT_TYPE, TRACING, BUILD_ID, ROUND, ID_INDEX, AUXTRACE_INFO, AUXTRACE, AUXTRACE_ERROR, THREAD_MAP, CPU_MAP, \
    STAT_CONFIG, STAT, STAT_ROUND, EVENT_UPDATE, TIME_CONV, FEATURE, COMPRESSED, FINISHED_INIT, \
    COMPRESSED2 = range(64, 84)
KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER = range(1, 6)
EXACT, EXEC, SWITCH_OUT, PREEMPT, MMAP_BUILD_ID, BUILD_ID_SIZE = 1 << 14, 1 << 13, 1 << 13, 1 << 14, 1 << 14, 1 << 15
FORMAT_ENABLED, FORMAT_RUNNING, FORMAT_ID, FORMAT_GROUP, FORMAT_LOST = (1 << i for i in range(5))
BRANCH_ANY, BRANCH_HW_INDEX, BRANCH_COUNTERS = 1 << 3, 1 << 17, 1 << 19
REGS_X86, REGS_ARM64 = 0xff0fff, (1 << 33) - 1

FEATURES = {name: i + 1 for i, name in enumerate(
    "tracing_data build_id hostname osrelease version arch nrcpus cpudesc cpuid total_mem cmdline event_desc "
    "cpu_topology numa_topology branch_stack pmu_mappings group_desc auxtrace stat cache sample_time mem_topology "
    "clockid dir_format bpf_prog_info bpf_btf compressed cpu_pmu_caps clock_data hybrid_topology pmu_caps".split())}
FEATURES.update(simpleperf_file=128, simpleperf_meta=129)


class Event:
    """One perf_event_attr, of any size that kernels have had or will have."""
    def __init__(self, order, name, sample_type, type=0, config=0, size=136, ids=(), period=1, branch_type=0,
                 read_format=0, regs_user=0, regs_intr=0, stack_user=0, clockid=0, config1=0, config2=0, config3=0,
                 **flags):
        self.__dict__.update(name=name, sample_type=sample_type, size=size, ids=list(ids), flags=flags,
                             read_format=read_format, branch_type=branch_type, regs_user=regs_user,
                             regs_intr=regs_intr, stack_user=stack_user, type=type, config=config, period=period)
        self.trailer = flags.get("sample_id_all", 0)
        word = 0
        for flag, value in flags.items():
            bit, width = FLAGS[flag]
            # Where the highest byte comes first, so does the highest bit: fields begin there.
            word |= value << (64 - bit - width if order == ">" else bit)
        fields = struct.pack(order + "II5QII4QIiQIHHIIQQQ", type, size, config, period, sample_type, read_format,
                             word, 1, 0, config1, config2, branch_type, regs_user, stack_user, clockid, regs_intr,
                             0, 0, 0, 0, 0, 0, config3, 0)
        assert len(fields) == 144
        self.bytes = (fields + bytes(max(0, size - 144)))[:size]


class Made:
    def __init__(self, big=False, magic=2):
        self.order = ">" if big else "<"
        self.magic = magic
        self.events, self.records, self.told = [], [], []
        self.features = {}          # by number, bytes
        self.build_ids = []
        self.n = 0

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def event(self, name, sample_type, **how):
        e = Event(self.order, name, sample_type, **how)
        self.events.append(e)
        return e

    # Records.

    def record(self, type, body=b"", misc=0, size=None):
        """One record, filled up to whole words; a size that is said stands in its head, whatever is behind it."""
        body += bytes(-len(body) % 8)
        size = len(body) + 8 if size is None else size
        made = self.pack("IHH", type, misc, size) + body
        self.records.append(made)
        return made

    def trailer(self, e, pid, tid, time, cpu):
        """What sample_id_all adds to every record that is no sample."""
        if not e.trailer:
            return b""
        t, one = e.sample_type, e.ids[0] if e.ids else 0
        return b"".join([self.pack("II", pid, tid) if t & TID else b"", self.pack("Q", time) if t & TIME else b"",
                         self.pack("Q", one) if t & ID else b"", self.pack("Q", one) if t & STREAM_ID else b"",
                         self.pack("II", cpu, 0) if t & CPU else b"", self.pack("Q", one) if t & IDENTIFIER else b""])

    def other(self, type, body, misc=0, e=None, pid=0, tid=0, time=0, cpu=0):
        """A record of the kernel's that is no sample."""
        body += bytes(-len(body) % 8)
        return self.record(type, body + self.trailer(e or self.events[0], pid, tid, time, cpu), misc)

    def name(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return text + bytes(8 - len(text) % 8)

    def mmap(self, pid, start, length, offset, path, misc=USER, **at):
        return self.other(MMAP, self.pack("IIQQQ", pid, pid, start, length, offset) + self.name(path), misc, pid=pid,
                          tid=pid, **at)

    def mmap2(self, pid, start, length, offset, path, build_id=None, misc=USER, device=(8, 1, 77, 3), protection=5,
              flags=2, **at):
        if build_id is None:
            which = self.pack("IIQQ", *device)
        else:
            which, misc = bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b"\0"), misc | MMAP_BUILD_ID
        return self.other(MMAP2, self.pack("IIQQQ", pid, pid, start, length, offset) + which +
                          self.pack("II", protection, flags) + self.name(path), misc, pid=pid, tid=pid, **at)

    def comm(self, pid, tid, name, exec=False, **at):
        return self.other(COMM, self.pack("II", pid, tid) + self.name(name), EXEC if exec else 0, pid=pid, tid=tid,
                          **at)

    def fork(self, pid, ppid, tid, ptid, time, end=False, **at):
        return self.other(EXIT if end else FORK, self.pack("IIIIQ", pid, ppid, tid, ptid, time), pid=pid, tid=tid,
                          time=time, **at)

    def lost(self, id, count, **at):
        return self.other(LOST, self.pack("QQ", id, count), **at)

    def lost_samples(self, count, **at):
        return self.other(LOST_SAMPLES, self.pack("Q", count), **at)

    def throttle(self, id, time, stop=True, **at):
        return self.other(THROTTLE if stop else UNTHROTTLE, self.pack("QQQ", time, id, id), time=time, **at)

    def switch(self, out, preempt=False, other=None, **at):
        misc = (SWITCH_OUT if out else 0) | (PREEMPT if preempt else 0)
        return self.other(SWITCH_CPU_WIDE if other else SWITCH, self.pack("II", *other) if other else b"", misc, **at)

    def ksymbol(self, address, length, name, type=1, gone=False, **at):
        return self.other(KSYMBOL, self.pack("QIHH", address, length, type, int(gone)) + self.name(name), **at)

    def bpf(self, id, tag=bytes(range(8)), what=1, **at):
        return self.other(BPF_EVENT, self.pack("HHI", what, 0, id) + tag, **at)

    def cgroup(self, id, path, **at):
        return self.other(CGROUP_RECORD, self.pack("Q", id) + self.name(path), **at)

    def namespaces(self, pid, tid, links, **at):
        body = self.pack("IIQ", pid, tid, len(links)) + b"".join(self.pack("QQ", *l) for l in links)
        return self.other(NAMESPACES, body, pid=pid, tid=tid, **at)

    def text_poke(self, address, old, new, **at):
        return self.other(TEXT_POKE, self.pack("QHH", address, len(old), len(new)) + old + new, **at)

    def aux(self, offset, size, flags=0, **at):
        return self.other(AUX_RECORD, self.pack("QQQ", offset, size, flags), **at)

    def itrace_start(self, pid, tid, **at):
        return self.other(ITRACE_START, self.pack("II", pid, tid), pid=pid, tid=tid, **at)

    def aux_output(self, hw_id, **at):
        return self.other(AUX_OUTPUT_HW_ID, self.pack("Q", hw_id), **at)

    # Samples.

    def sample(self, e, mode=USER, exact=False, **values):
        """A sample. read: words; chain, regs, stack, intr: words; raw, aux: bytes; branches: (from, to, flags as a
        dict) each; weights: three numbers."""
        self.n += 1
        v = {name: values.get(name, self.n * 1000 + i) for i, (name, bit) in enumerate(ORDER)}
        v["id"] = v["identifier"] = values.get("id", e.ids[0] if e.ids else 0)
        v["stream"] = values.get("stream", v["id"])
        v["tid"] = values.get("tid", 1)
        v["pid"] = values.get("pid", v["tid"])
        v["cpu"] = values.get("cpu", 0)
        for name in "read", "chain", "regs", "stack", "intr", "branches", "weights":
            v[name] = list(values.get(name, ()))
        for name in "raw", "aux":
            v[name] = values.get(name, b"")
        v.update(mode=mode, exact=exact, event=e.name, branch_index=values.get("branch_index", 5))
        v.update({name: value for name, value in values.items() if name in ("abi", "counts")})
        self.told.append({name: v[name] for name in v if e.sample_type & dict(ORDER).get(name, ~0)})
        body = b"".join(getattr(self, "field_" + name, self.word)(e, v, name) for name, bit in ORDER
                        if e.sample_type & bit)
        return self.record(SAMPLE, body, mode | (EXACT if exact else 0))

    def word(self, e, v, name): return self.pack("Q", v[name])
    def words(self, words): return self.pack("%dQ" % len(words), *words)
    def field_tid(self, e, v, name): return self.pack("II", v["pid"], v["tid"])
    def field_cpu(self, e, v, name): return self.pack("II", v["cpu"], 0)
    def field_read(self, e, v, name): return self.words(v["read"])
    def field_chain(self, e, v, name): return self.words([len(v["chain"])] + v["chain"])

    def field_raw(self, e, v, name):
        raw = v["raw"] + bytes(-(len(v["raw"]) + 4) % 8)
        return self.pack("I", len(raw)) + raw

    def branch_flags(self, mispredicted=0, predicted=0, in_tx=0, abort=0, cycles=0, type=0, spec=0, new_type=0,
                     priv=0):
        """Bit fields again, from the end of the word at which its first byte is."""
        word, at = 0, 0
        for value, width in zip((mispredicted, predicted, in_tx, abort, cycles, type, spec, new_type, priv),
                                (1, 1, 1, 1, 16, 4, 2, 4, 3)):
            word |= value << (64 - at - width if self.order == ">" else at)
            at += width
        return word

    def field_branches(self, e, v, name):
        made = self.pack("Q", len(v["branches"]))
        if e.branch_type & BRANCH_HW_INDEX:
            made += self.pack("q", v["branch_index"])
        made += b"".join(self.pack("QQQ", one[0], one[1], self.branch_flags(**one[2])) for one in v["branches"])
        return made + (self.words(v.get("counts", [0] * len(v["branches"])))
                       if e.branch_type & BRANCH_COUNTERS else b"")

    def field_regs(self, e, v, name):
        return self.words([v.get("abi", 2)] + v["regs"]) if v["regs"] else self.words([0])

    def field_stack(self, e, v, name):
        """As many bytes as were asked for, and how many of them are any."""
        if not e.stack_user:
            return self.words([0])
        stack = self.words(v["stack"])
        return self.words([e.stack_user]) + stack.ljust(e.stack_user, b"\0") + self.words([len(stack)])

    def field_weights(self, e, v, name):
        one, two, three = v["weights"] or (1, 2, 3)
        return self.pack("Q", one | two << 32 | three << 48)

    def field_intr(self, e, v, name): return self.words([2] + v["intr"]) if v["intr"] else self.words([0])
    def field_aux(self, e, v, name): return self.pack("Q", len(v["aux"])) + v["aux"]

    # What perf adds.

    def round(self): return self.record(ROUND)

    def auxtrace_info(self, kind, words):
        return self.record(AUXTRACE_INFO, self.pack("II", kind, 0) + self.words(words))

    def auxtrace(self, payload, offset=0, reference=0, idx=0, tid=-1 & 0xffffffff, cpu=0, size=None):
        """With what stands behind it and counts to it."""
        payload += bytes(-len(payload) % 8)
        size = len(payload) if size is None else size
        self.record(AUXTRACE, self.pack("QQQIIII", size, offset, reference, idx, tid, cpu, 0))
        self.records[-1] += payload
        return self.records[-1]

    def id_index(self, entries):
        return self.record(ID_INDEX, self.pack("Q", len(entries)) + b"".join(self.pack("QQQQ", *e) for e in entries))

    def time_conv(self, shift, mult, zero): return self.record(TIME_CONV, self.words([shift, mult, zero]))

    def simpleperf(self, type, body):
        """Its own records have 32 bits of size: the upper half where others have misc."""
        body += bytes(-len(body) % 8)
        size = len(body) + 8
        return self.record(type, body, misc=size >> 16, size=size & 0xffff)

    def zip(self, how=COMPRESSED2, at=0, piece=5000, frames=1):
        """Packs all records from `at` on, cut into pieces regardless of where records end, as one zstd frame or a few;
        of blocks that are not compressed, which every version of zstd reads (RFC 8878, 3.1.1.2)."""
        plain, self.records = b"".join(self.records[at:]), self.records[:at]
        pieces = [plain[i:i + piece] for i in range(0, len(plain), piece)]
        for i, part in enumerate(pieces):
            first = i % max(1, len(pieces) // frames) == 0
            last = (i + 1) % max(1, len(pieces) // frames) == 0 and frames > 1
            self.zipped(how, (ZSTD_HEAD if first else b"") + zstd_block(part, last=last))

    def zipped(self, how, packed):
        if how == COMPRESSED2:
            return self.record(how, self.pack("Q", len(packed)) + packed)
        # Before it had a length it went to the end of the record, which is therefore no whole number of words.
        self.records.append(self.pack("IHH", how, 0, 8 + len(packed)) + packed)
        return self.records[-1]

    # Features.

    def string(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return self.pack("I", len(text) // 64 * 64 + 64) + text.ljust(len(text) // 64 * 64 + 64, b"\0")

    def feature(self, name, body):
        self.features[FEATURES.get(name, name)] = body

    def build_id(self, pid, build_id, path, misc=USER, sized=True):
        """A file and its build id; before perf 5.11 nothing said how long that is, so it was filled up to 20 bytes."""
        which = build_id.ljust(20, b"\0") + (bytes([len(build_id), 0, 0, 0]) if sized else bytes(4))
        body = self.pack("i", pid) + which + self.name(path)
        self.build_ids.append((misc | (BUILD_ID_SIZE if sized else 0), body))

    def build_ids_as(self, type):
        return b"".join(self.pack("IHH", type, misc, 8 + len(body)) + body for misc, body in self.build_ids)

    def all_features(self):
        """Each that there is of a file by itself, with something that could be."""
        s, words = self.string, self.words
        listed = lambda texts: self.pack("I", len(texts)) + b"".join(map(s, texts))
        for name, text in (("hostname", "made"), ("osrelease", "6.1.0-made"), ("version", "6.1.made"),
                           ("arch", "x86_64"), ("cpudesc", "A made CPU"), ("cpuid", "GenuineIntel,6,207,2")):
            self.feature(name, s(text))
        self.feature("nrcpus", self.pack("II", 4, 4))
        self.feature("total_mem", words([1 << 24]))
        self.feature("cmdline", listed(["perf", "record", "-a", "a command"]))
        self.feature("event_desc", self.event_desc())
        self.feature("cpu_topology", listed(["0-3"]) + listed(["0", "1"]) + self.pack("II", 0, 0) * 4)
        self.feature("numa_topology", self.pack("I", 1) + self.pack("IQQ", 0, 1 << 24, 1 << 20) + s("0-3"))
        self.feature("branch_stack", b"")
        self.feature("pmu_mappings", self.pack("I", 2) + self.pack("I", 4) + s("cpu_core") + self.pack("I", 10) +
                     s("cpu_atom"))
        self.feature("group_desc", self.pack("I", 1) + s("a group") + self.pack("II", 0, 2))
        self.feature("stat", b"")
        self.feature("cache", self.pack("II", 1, 1) + self.pack("IIII", 1, 64, 8, 64) + s("Data") + s("32K") + s("0-3"))
        self.feature("sample_time", words([1, 1 << 40]))
        self.feature("mem_topology", words([1, 1 << 27, 1, 0, 2, 2, 3]))
        self.feature("clockid", words([1]))
        self.feature("bpf_prog_info", self.pack("I", 0))
        self.feature("bpf_btf", self.pack("I", 0))
        self.feature("compressed", self.pack("IIIII", 1, 1, 1, 3, 528384))
        self.feature("cpu_pmu_caps", self.pack("I", 1) + s("branches") + s("32"))
        self.feature("clock_data", self.pack("II", 1, 1) + words([1_700_000_000_000_000_000, 5_000_000_000]))
        self.feature("hybrid_topology", self.pack("I", 2) + s("cpu_core") + s("0-3") + s("cpu_atom") + s("4-7"))
        self.feature("pmu_caps", self.pack("II", 1, 1) + s("branches") + s("32") + s("cpu_core"))

    def event_desc(self):
        return self.pack("II", len(self.events), self.events[0].size) + \
            b"".join(e.bytes.ljust(self.events[0].size, b"\0")[:self.events[0].size] + self.pack("I", len(e.ids)) +
                     self.string(e.name) + self.words(e.ids) for e in self.events)

    # The whole.

    def mark(self):
        text = {1: b"PERFFILE", 2: b"PERFILE2"}[self.magic]
        return text if self.order == "<" else text[::-1]

    def file(self, **other):
        """As a file. other: attr_size, data_size, features, ... in the header's place, to be wrong."""
        size = max(e.size for e in self.events) if self.events else 128
        ids_at = 104
        attrs_at = ids_at + sum(len(e.ids) * 8 for e in self.events)
        data_at = attrs_at + len(self.events) * (size + 16)
        ids, attrs, at = bytearray(), bytearray(), ids_at
        for e in self.events:
            ids += self.words(e.ids)
            attrs += e.bytes.ljust(size, b"\0") + self.words([at, len(e.ids) * 8])
            at += len(e.ids) * 8
        data = b"".join(self.records)
        if self.build_ids:
            self.feature("build_id", self.build_ids_as(0))
        table_at = data_at + len(data)
        at, table, rest = table_at + 16 * len(self.features), b"", b""
        for number in sorted(self.features):
            table += self.words([at + len(rest), len(self.features[number])])
            rest += self.features[number]
        bits = [sum(1 << number % 64 for number in self.features if number // 64 == i) for i in range(4)]
        head = dict(size=104, attr_size=size + 16, attrs_at=attrs_at, attrs_size=len(attrs), data_at=data_at,
                    data_size=len(data), types_at=0, types_size=0, bits0=bits[0], bits1=bits[1], bits2=bits[2],
                    bits3=bits[3])
        assert not set(other) - set(head), other
        head.update(other)
        return self.mark() + self.words(list(head.values())) + ids + attrs + data + table + rest

    def pipe(self, ids_in_attr=True, aligned=False):
        """As perf record -o - writes it: attributes and features are records, too; the latter are as long as they are
        (aligned: of perf 6.12 and later)."""
        records, self.records = self.records, []
        for e in self.events:
            self.record(ATTR, e.bytes + (self.words(e.ids) if ids_in_attr else b""))
        for number in sorted(set(self.features) - {FEATURES["build_id"]}):
            body = self.words([number]) + self.features[number]
            body += bytes(-len(body) % 8 if aligned else 0)
            self.records.append(self.pack("IHH", FEATURE, 0, 8 + len(body)) + body)
        self.records.append(self.build_ids_as(BUILD_ID))
        self.records, records = records, self.records + records
        return self.mark() + self.words([16]) + b"".join(records)


# A zstd frame whose size is not said, with a window of 2^17 bytes, and blocks of it (RFC 8878, 3.1.1).
ZSTD_HEAD = b"\x28\xb5\x2f\xfd" + bytes([0, 7 << 3])


def zstd_block(plain, last=False):
    return struct.pack("<I", int(last) | len(plain) << 3)[:3] + plain


def zstd_repeated(byte, times, last=False):
    """A byte so many times, at most 2^17, in four bytes."""
    return struct.pack("<I", int(last) | 1 << 1 | times << 3)[:3] + bytes([byte])
