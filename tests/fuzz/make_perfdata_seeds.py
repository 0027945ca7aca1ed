# SPDX-License-Identifier: MIT
# Seeds for fuzz_perfdata: small files of perf's in every shape, for the folder that is given.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "../cases"))
from perfdata import *

folder = sys.argv[1]
SPE = bytes([0x52, 0x16, 0x00, 0x49, 0x00, 0x98, 0x21, 0x00, 0x99, 0x05, 0x00, 0x9a, 0x02, 0x00, 0xb0, 0x40, 0x10, 0x40,
             0, 0, 0, 0, 0x80, 0xb2, 0x00, 0x20, 0, 0, 0, 0, 0, 0, 0x43, 0x0e, 0x64, 5, 0, 0, 0, 0x71, 9, 0, 0, 0, 0, 0,
             0, 0])


def kernels(m, e):
    """One of each record of the kernel's that is no sample."""
    m.comm(5, 5, "made", exec=True, time=10)
    m.fork(6, 5, 6, 5, 10)
    m.mmap(5, 0x1000, 0x1000, 0, "/nowhere/one", time=10)
    m.mmap2(5, 0x400000, 0x10000, 0, "/nowhere/made", time=11)
    m.mmap2(5, 0x500000, 0x10000, 0, "/nowhere/other", build_id=bytes(range(16)), time=11)
    m.mmap((1 << 32) - 1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", misc=KERNEL)
    m.ksymbol(0xffffffffc0000000, 64, "bpf_prog_made", time=12)
    m.bpf(7, time=12)
    m.cgroup(9, "/a/group", time=12)
    m.namespaces(5, 5, [(4, 4026531836)] * 7, time=12)
    m.text_poke(0xffffffff81000010, b"\x90" * 5, b"\xe9" * 5, time=12)
    m.switch(True, preempt=True, pid=5, tid=5, time=13)
    m.switch(False, other=(5, 6), pid=5, tid=5, time=14)
    m.lost(e.ids[0] if e.ids else 0, 3, time=15)
    m.lost_samples(4, time=15)
    m.throttle(7, 16)
    m.throttle(7, 17, stop=False)
    m.aux(0, 64, 1, time=18)
    m.itrace_start(5, 5, time=18)
    m.aux_output(3, time=18)
    m.record(99, b"of the future")
    m.fork(6, 5, 6, 5, 19, end=True)


def rich(**how):
    m = Made(**how)
    e = m.event("cycles", IDENTIFIER | FLAT | ADDR | CALLCHAIN | RAW | BRANCH_STACK | REGS_USER | STACK_USER |
                DATA_SRC | WEIGHT_STRUCT | TRANSACTION | REGS_INTR | PHYS_ADDR | CGROUP | DATA_PAGE_SIZE |
                CODE_PAGE_SIZE | READ | AUX,
                ids=[7, 8], sample_id_all=1, freq=1, precise_ip=2, regs_user=REGS_X86, regs_intr=0xff,
                stack_user=64, branch_type=BRANCH_ANY | BRANCH_HW_INDEX | BRANCH_COUNTERS,
                read_format=FORMAT_GROUP | FORMAT_ID)
    f = m.event("cpu_atom/instructions/", IDENTIFIER | FLAT | WEIGHT, ids=[9], sample_id_all=1, config=10 << 32 | 1)
    kernels(m, e)
    m.sample(e, ip=0x401000, tid=5, time=20, chain=[(1 << 64) - 512, 0x401000, 0x401020], raw=b"raw",
             read=[2, 1, 7, 2, 9],
             branches=[(1, 2, dict(mispredicted=1, cycles=9, type=3)), (3, 4, dict(predicted=1))], counts=[1, 2],
             regs=list(range(20)), stack=[1, 2, 3], intr=list(range(8)), weights=(1, 2, 3), aux=b"12345678")
    m.sample(f, ip=0x402000, tid=6, time=21, mode=KERNEL, exact=True)
    m.sample(f, ip=0x402000, tid=6, time=22, mode=GUEST_USER)
    m.sample(f, ip=0x402000, tid=6, time=23, id=1000)
    m.round()
    m.build_id(5, bytes(range(20)), "/nowhere/made")
    m.build_id(5, bytes(range(16)), "/nowhere/old", sized=False)
    m.build_id(-1, bytes(range(20)), "[kernel.kallsyms]", misc=KERNEL)
    return m


def seeds():
    for big in False, True:
        m = rich(big=big)
        m.all_features()
        yield "file-%d" % big, m.file()
        yield "pipe-%d" % big, m.pipe(aligned=big)
        for how in COMPRESSED, COMPRESSED2:
            m = rich(big=big)
            m.zip(how, piece=700, frames=1 + big)
            yield "packed-%d-%d" % (how, big), m.file()
    for size in 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 160:
        m = Made(magic=1 if size < 80 else 2)
        e = m.event("cycles", FLAT, size=size)
        m.comm(5, 5, "made")
        m.sample(e, ip=0x401000, tid=5, time=20)
        yield "attr-%d" % size, m.file()
    m = Made()
    a = m.event("a", ID | FLAT, ids=[1], sample_id_all=1)
    b = m.event("b", ID | IP | TIME | ADDR, ids=[2])
    m.comm(5, 5, "made", e=a, time=3)
    m.comm(5, 5, "made", e=b, time=3)
    m.sample(a, ip=1, time=4)
    m.sample(b, ip=2, time=5)
    yield "ids", m.file()
    m = Made()
    e = m.event("arm_spe_0//", IDENTIFIER | FLAT, ids=[1], sample_id_all=1, type=9)
    m.auxtrace_info(4, [9, 0])
    m.auxtrace(SPE * 3)
    m.time_conv(10, 1 << 10, 0)
    yield "spe", m.file()
    yield "spe-pipe", m.pipe()
    m = Made()
    e = m.event("intel_pt//", IDENTIFIER | TID | TIME, ids=[1], sample_id_all=1, type=8)
    m.auxtrace_info(1, [8] * 17)
    m.auxtrace(bytes(range(256)))
    yield "pt", m.file()
    m = Made()
    e = m.event("cpu-cycles", FLAT | ID, ids=[1])
    m.simpleperf(32769, bytes(100))
    m.simpleperf(32770, bytes(2000))
    m.sample(e, ip=1, time=2)
    m.feature("simpleperf_meta", b"a\0b\0")
    yield "simpleperf", m.file()
    m = Made()
    e = m.event("cycles", IP | TID)
    m.comm(5, 5, "made")
    m.sample(e, ip=1)
    yield "timeless", m.file()
    yield "unfinished", m.file(data_size=0)
    m = Made()
    e = m.event("r1", FLAT | IDENTIFIER, ids=[3])
    m.record(EVENT_UPDATE, m.words([2, 3]) + b"named\0\0\0")
    m.id_index([(3, 0, 0, 5)])
    m.record(THREAD_MAP, m.words([1, 5]) + bytes(16))
    m.record(CPU_MAP, m.words([0, 0]))
    m.sample(e, ip=1, time=2)
    yield "update", m.pipe()


for name, data in seeds():
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)
