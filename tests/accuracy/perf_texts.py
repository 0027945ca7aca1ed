# SPDX-License-Identifier: MIT
"""What perf's texts say of a recording, and what gusprof's say of it, as values that can be compared.

Three kinds of reference: `perf script` (a line a sample), `perf script -D` (all records, raw), and the protobuf text
that quipper's authors put beside their recordings. Every reader gives samples as dictionaries by the same names, and
leaves out what its text does not say.
"""
import re
import subprocess


def unpacked(path):
    if not path.endswith(".zst"):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    done = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode(errors="replace")


def signed(number):
    """perf prints ids of 32 bits with a sign; the file has none."""
    return int(number) & 0xffffffff


# A branch as perf 6.1 to 7.3 write it: 0xFROM(dso)/0xTO (dso)/M or P/X/A/CYCLES and more, which differs by version.
BRANCH = re.compile(r"0x([0-9a-f]+) ?\([^)]*\)/0x([0-9a-f]+) ?\([^)]*\)/([MPN-]{1,2})/([X-])/([A-])/(\d+)")
BARE_BRANCH = re.compile(r"0x([0-9a-f]+)/0x([0-9a-f]+)/([MP-])/([X-])/([A-])/(\d+)")
LINE = re.compile(r"^ *(\S.*?|) +(?:(-?\d+)/)?(-?\d+) +(?:\[(-?\d+)\] +)?(?:(\d+)\.(\d+): +)?(?:(\d+) +)?(\S+): ?(.*)$")
FRAME = re.compile(r"^\s*([0-9a-f]+) (.*) \((.*)\)$")
PLACE = re.compile(r"^ *([0-9a-f]+) (.*?) \(([^()]*|\[[^]]*\][^()]*|[^()]*\(deleted\))\)(?= |$)")
REGISTER = re.compile(r"([A-Za-z]+\d*):0x([0-9a-f]+)")
ACCESS = re.compile(r"^ *([0-9a-f]+) \|OP .*?\|BLK[A-Za-z/ ]*?(?= +(?:[0-9a-f]+|-)(?: |$)| *$)")


def branches_of(text, pattern):
    """Without the empty entries that some kernels fill the stack up with, which say nothing."""
    entries = [(int(a, 16), int(b, 16), mp[0], x, ab, int(c)) for a, b, mp, x, ab, c in pattern.findall(text)]
    while entries and not entries[-1][0] and not entries[-1][1]:
        entries.pop()
    return tuple(entries)


def place_of(sample, rest):
    m = PLACE.match(rest)
    if m:
        sample["ip"] = int(m[1], 16)
        sample["sym"] = m[2]
        sample["dso"] = m[3]
        rest = rest[m.end():]
    return rest


def columns_of(sample, rest, fields):
    """The numbers between an event and a place, in perf's order."""
    if "addr" in fields:
        m = re.match(r" *([0-9a-f]+)", rest)
        sample["addr"] = int(m[1], 16)
        rest = rest[m.end():]
    if "data_src" in fields:
        # Of page faults perf has the address's name before that.
        rest = re.sub(r"^ +\S.* \([^()]*\)(?= +[0-9a-f]+ \|OP )", "", rest)
        m = ACCESS.match(rest)
        sample["data_src"] = int(m[1], 16)
        rest = rest[m.end():]
    for name in ("weight", "ins_lat", "retire_lat"):
        m = re.match(r" *(\d+|-)(?= |$)", rest)
        if name in fields and m:
            sample[name] = None if m[1] == "-" else int(m[1])
            rest = rest[m.end():]
    return rest


SIZES = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of(word):
    m = re.fullmatch(r"(\d+)([BKMG]?)", word)
    return int(m[1]) * SIZES[m[2]] if m else None


def behind(sample, rest, fields):
    """What stands behind a place, or below a chain."""
    sets = [{name: int(value, 16) for name, value in REGISTER.findall(part)} for part in rest.split(" ABI:")[1:]]
    for name in ("iregs", "uregs"):
        if name in fields and sets:
            sample[name] = sets.pop(0)
    if "brstack" in fields:
        sample["brstack"] = branches_of(rest, BRANCH) or branches_of(rest, BARE_BRANCH)
    words = rest.split()
    for name, value in (("code_page_size", size_of), ("data_page_size", size_of), ("phys_addr", lambda w: int(w, 16))):
        if name in fields and words:
            word = words.pop()
            sample[name] = None if word == "-" else value(word)


def script(text, fields):
    """Samples of perf script or of gusprof script with these fields, and lines that are none."""
    samples, left = [], []
    fields = fields.split(",")
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        frame, head = FRAME.match(line) if line[0] == "\t" else None, LINE.match(line)
        if frame:
            samples[-1].setdefault("frames", []).append((int(frame[1], 16), frame[2], frame[3]))
        elif head:
            samples.append(of_line(head, fields))
        elif samples and line[0] == " ":
            behind(samples[-1], line, fields)
        else:
            left.append(line)
    return samples, left


def of_line(head, fields):
    comm, pid, tid, cpu, seconds, part, period, event, rest = head.groups()
    s = {"comm": comm, "tid": signed(tid), "event": event}
    if seconds is not None:
        s["time"] = int(seconds) * 10 ** 9 + int(part.ljust(9, "0"))
    if pid is not None:
        s["pid"] = signed(pid)
    if cpu is not None and int(cpu) >= 0:
        s["cpu"] = int(cpu)
    if period is not None:
        s["period"] = int(period)
    rest = place_of(s, columns_of(s, rest, fields))
    if rest.strip():
        behind(s, rest, fields)
    return s


RECORD = re.compile(r"^(?:(-?\d+) )?(\d+) (?:0x)?([0-9a-f]+) \[0x([0-9a-f]+)\]: PERF_RECORD_([A-Z0-9_]+)(.*)$")
SAMPLE = re.compile(r"^\(IP, 0x([0-9a-f]+)\): (-?\d+)/(-?\d+): (?:0x)?([0-9a-f]+) period: (\d+) "
                    r"addr: (?:0x)?([0-9a-f]+)")
MAPPING = re.compile(r"^ (-?\d+)/(-?\d+): \[(?:0x)?([0-9a-f]+)\((?:0x)?([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)"
                     r"(?: ([0-9a-f]+):([0-9a-f]+) (\d+) (\d+)| <([0-9a-f]+)>)?\]: (\S+) ?(.*)$")
# from -> to 4 cycles  P   0
RAW_BRANCH = re.compile(r"^\.{5} +\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16}) (\d+) cycles ([ MP])([ P])([ X])([ A])")


def raw_branch(line):
    m = RAW_BRANCH.match(line)
    mp = "M" if "M" in m[4] + m[5] else "P" if "P" in m[4] + m[5] else "-"
    return (int(m[1], 16), int(m[2], 16), mp, m[6].strip() or "-", m[7].strip() or "-", int(m[3]))


def dumped_sample(time, cpu, offset, what):
    m = SAMPLE.match(what)
    s = {"time": time, "misc": int(m[1], 16), "pid": signed(m[2]), "tid": signed(m[3]), "ip": int(m[4], 16),
         "period": int(m[5]), "offset": offset}
    if cpu is not None and signed(cpu) != 0xffffffff:
        s["cpu"] = int(cpu)
    if int(m[6], 16):
        s["addr"] = int(m[6], 16)
    return s


def file_of(numbers):
    """Device, inode and generation, if there are any: of memory without a file, or of older kernels, there are not."""
    return tuple(numbers) if any(numbers) else None


def dumped_mapping(time, what):
    m = MAPPING.match(what)
    kept = {"pid": signed(m[1]), "tid": signed(m[2]), "time": time, "start": int(m[3], 16), "length": int(m[4], 16),
            "offset": int(m[5], 16), "path": m[12]}
    if m[6] is not None:
        kept["file"] = file_of((int(m[6], 16), int(m[7], 16), int(m[8]), int(m[9])))
    if m[10] is not None:
        kept["file"] = m[10]
    kept["code"] = "x" in m[11]
    return kept


def dump(text):
    """All records of perf script -D, by kind, in the order of the file where it says offsets."""
    found = {kind: [] for kind in ("sample", "mmap", "comm", "fork", "exit", "lost", "throttle", "switch", "ksymbol")}
    sample = None
    for line in text.splitlines():
        if line.startswith(". ") or not line:
            continue
        m = RECORD.match(line)
        if m:
            cpu, time, offset, _, kind, what = m.groups()
            sample = None
            record(found, kind, int(time), cpu, int(offset, 16), what)
            if kind == "SAMPLE":
                sample = found["sample"][-1]
        elif sample is not None:
            m = LINE_OF_DUMP.match(line)
            if m:
                line_of_dump(found["sample"], m)
            else:
                detail(sample, line)
    for s in found["sample"]:
        settle(s)
        if len(s.get("counts", ())) > 1:
            del s["counts"] # the periods say it
    return found


def record(found, kind, time, cpu, offset, what):
    if kind == "SAMPLE":
        found["sample"].append(dumped_sample(time, cpu, offset, what))
    elif kind in ("MMAP", "MMAP2"):
        found["mmap"].append(dumped_mapping(time, what))
    elif kind == "COMM":
        m = re.match(r"( exec)?: (.*):(-?\d+)/(-?\d+)$", what)
        found["comm"].append((time, signed(m[3]), signed(m[4]), m[2], bool(m[1])))
    elif kind in ("FORK", "EXIT"):
        found[kind.lower()].append((time, *map(signed, re.findall(r"-?\d+", what))))
    elif kind in ("LOST", "LOST_SAMPLES"):
        found["lost"].append((time, int(re.search(r"lost(?: samples)? ?:(\d+)", what)[1])))
    elif kind in ("THROTTLE", "UNTHROTTLE"):
        found["throttle"].append((time, kind == "THROTTLE"))
    elif kind in ("SWITCH", "SWITCH_CPU_WIDE"):
        found["switch"].append((time, "OUT" in what, "preempt" in what))
    elif kind == "KSYMBOL":
        m = re.match(r" addr ([0-9a-f]+) len (\d+) type (\d+) flags 0x([0-9a-f]+) name (.*)$", what)
        found["ksymbol"].append((int(m[1], 16), int(m[2]), int(m[3]), int(m[4], 16) & 1, m[5]))


def detail(sample, line):
    """What stands in lines of its own below a sample."""
    if line.startswith("....."):
        if "->" in line:
            sample.setdefault("brstack", []).append(raw_branch(line))
        elif ", value " in line:
            sample["counts"] = sample.get("counts", ()) + (int(re.search(r"value ([0-9a-f]+)", line)[1], 16),)
        else:
            sample.setdefault("chain", []).append(int(line.split(":")[1], 16))
    elif re.match(r"\.{4} \w+ +0x", line):
        sample[sample["registers"]][line.split()[1]] = int(line.split()[2], 16)
    elif re.match(r"\.{3} (user|intr) regs: ", line):
        sample["registers"] = "uregs" if " user " in line else "iregs"
        sample[sample["registers"]] = {}
    elif re.match(r" ?\.\. (data|code) page size: ", line):
        sample[line.split()[1] + "_page_size"] = size_of(line.split(": ")[1])
    elif line.startswith("... FP chain: nr:"):
        sample["chain"] = []
    elif line.startswith("... branch stack: nr:"):
        sample["brstack"] = []
    elif line.startswith("... ustack: size "):
        sample["ustack"] = int(re.search(r"size (\d+)", line)[1])
    elif line.startswith("... weight: "):
        words = [int(w, 0) for w in line.split(": ")[1].split(",")]
        sample.update(zip(("weight", "ins_lat", "retire_lat"), words))
    elif line.startswith(" .. phys_addr: "):
        sample["phys_addr"] = int(line.split(": ")[1], 16)
    elif line.startswith(" . data_src: "):
        sample["data_src"] = int(line.split(": ")[1], 16)


# comm tid [cpu] time: period event: in which a dump leaves out the process
LINE_OF_DUMP = re.compile(r"^ *(\S.*?) +-?\d+ +(?:\[-?\d+\] +)?\d+\.\d+: +(?:(\d+) +)?(\S+): ")


def line_of_dump(samples, m):
    """The line that perf script prints of a record; of a group's one for each counter that has moved, a sample each."""
    sample = samples[-1]
    if "event" in sample:
        sample = dict(sample)
        samples.append(sample)
    sample["comm"], sample["event"] = m[1], m[3]
    if len(sample.get("counts", ())) > 1 and m[2]:
        sample["period"] = int(m[2])


def settle(s):
    if "brstack" in s:
        entries = s["brstack"]
        while entries and not entries[-1][0] and not entries[-1][1]:
            entries.pop()
        s["brstack"] = tuple(entries)
    s["code"] = s["misc"] & 7, bool(s["misc"] & 0x4000)


def blocks(lines):
    """The text form of protobuf: a list of (name, value), where a value is text or such a list."""
    block = []
    for line in lines:
        word = line.strip()
        if word == "}":
            return block
        if word.endswith(" {"):
            block.append((word[:-2], blocks(lines)))
        elif ": " in word:
            block.append(tuple(word.split(": ", 1)))
    return block


PROTO = {"ip": "ip", "pid": "pid", "tid": "tid", "sample_time_ns": "time", "period": "period", "cpu": "cpu",
         "addr": "addr", "weight": "weight", "data_src": "data_src"}


def proto_branch(entry):
    b = dict(entry)
    return (int(b["from_ip"]), int(b["to_ip"]), "M" if b["mispredicted"] == "true" else "P" if
            b["predicted"] == "true" else "-", "X" if b["in_transaction"] == "true" else "-",
            "A" if b["abort"] == "true" else "-", int(b["cycles"]))


def proto_sample(entries, misc):
    s = {PROTO[name]: int(value) for name, value in entries if name in PROTO}
    s["misc"] = misc
    branches = [proto_branch(value) for name, value in entries if name == "branch_stack"]
    if branches:
        s["brstack"] = branches
    chain = [int(value) for name, value in entries if name == "callchain"]
    if chain:
        s["chain"] = chain
    raw = [int(value) for name, value in entries if name == "raw_size"]
    if raw:
        s["raw"] = raw[0]
    settle(s)
    return s


def proto(text):
    found = {kind: [] for kind in ("sample", "mmap", "comm", "fork", "exit", "lost", "throttle", "switch")}
    for name, event in blocks(iter(text.splitlines())):
        if name != "events":
            continue
        event = {key: value for key, value in event}
        misc = int(dict(event["header"])["misc"])
        if "sample_event" in event:
            found["sample"].append(proto_sample(event["sample_event"], misc))
        elif "mmap_event" in event:
            m = dict(event["mmap_event"])
            kept = {"pid": int(m["pid"]), "tid": int(m["tid"]), "start": int(m["start"]), "length": int(m["len"]),
                    "offset": int(m["pgoff"]), "path": m["filename"].strip('"'), "code": not misc & 0x2000}
            if "ino" in m:
                kept["file"] = file_of([int(m[key]) for key in ("maj", "min", "ino", "ino_generation")])
            found["mmap"].append(kept)
        elif "comm_event" in event:
            m = dict(event["comm_event"])
            found["comm"].append((int(m["pid"]), int(m["tid"]), m["comm"].strip('"')))
        elif "fork_event" in event or "exit_event" in event:
            kind = "fork" if "fork_event" in event else "exit"
            m = dict(event[kind + "_event"])
            found[kind].append((int(m["fork_time_ns"]), *(int(m[key]) for key in ("pid", "tid", "ppid", "ptid"))))
        elif "throttle_event" in event:
            m = dict(event["throttle_event"])
            found["throttle"].append((int(m["time_ns"]), dict(event["header"])["type"] == "5"))
        elif "context_switch_event" in event:
            m = dict(event["context_switch_event"])
            found["switch"].append((int(event["timestamp"]), m["is_out"] == "true"))
        elif "lost_samples_event" in event:
            found["lost"].append(int(dict(event["lost_samples_event"])["num_lost"]))
    return found


WORD = re.compile(r'(\w+) (?:"((?:[^"\\]|\\.)*)"|([^\s{}]+))')


def fields_of(line):
    """name value pairs of a message, as gusprof dump prints them."""
    pairs = {}
    for name, text, value in WORD.findall(line):
        pairs[name] = text if not value else value
    return pairs


def number(pairs, name):
    return int(pairs.get(name, "0"), 0)


MODES = {"unknown": 0, "kernel": 1, "user": 2, "hypervisor": 3, "guest-kernel": 4, "guest-user": 5}
OWN_SAMPLE = re.compile(r"^ +([+-])(\d+)\.(\d+) sample (?:cpu (\d+) )?pid (-?\d+) tid (-?\d+) event (\d+) period (\d+) "
                        r"ip 0x([0-9a-f]+) (\S+)( exact)?(.*)$")
OWN_SWITCH = re.compile(r"^ +([+-])(\d+)\.(\d+) switch (in|out) .*?( preempted)?$")
OWN_LISTS = {"chain", "regs", "stack", "branches"}
OWN_NAMES = {"address": "addr", "data_source": "data_src", "weight": "weight", "instruction_latency": "ins_lat",
             "retire_latency": "retire_lat", "physical": "phys_addr", "data_page": "data_page_size",
             "code_page": "code_page_size"}


def own_time(start, sign, seconds, part):
    since = int(seconds) * 10 ** 9 + int(part)
    return start + since if sign == "+" else start - since


def values_of(words, read_format):
    """Of PERF_SAMPLE_READ's words those that were counted: each has perhaps an id and losses behind it, and before the
    first of a group, or behind a single one, stand two times."""
    each, times = 1 + (read_format >> 2 & 1) + (read_format >> 4 & 1), (read_format & 1) + (read_format >> 1 & 1)
    return tuple(words[times::each]) if read_format & 8 else tuple(words[:1])


def own_sample(m, start, events, formats):
    event = int(m[7])
    s = {"time": own_time(start, m[1], m[2], m[3]), "cpu": int(m[4]) if m[4] else None, "pid": signed(m[5]),
         "tid": signed(m[6]), "event": events[event] if event < len(events) else None, "period": int(m[8]),
         "ip": int(m[9], 16), "code": (MODES[m[10]], bool(m[11]))}
    words, rest = {}, None
    for word in m[12].split():
        if not word[0].isdigit() and not (rest == "raw" and re.fullmatch("[0-9a-f]+", word)):
            rest = word
            words[rest] = []
        else:
            words[rest].append(word)
    for theirs, ours in OWN_NAMES.items():
        if theirs in words:
            s[ours] = int(words[theirs][0], 0)
    if "branches" in words:
        s["brstack"] = branches_of(" ".join(words["branches"]), BARE_BRANCH)
    s["chain"] = [int(a, 16) for a in words.get("chain", [])]
    s["uregs"] = tuple(int(a, 16) for a in words.get("regs", []))
    s["ustack"] = 8 * len(words.get("stack", []))
    if "counts" in words:
        s["counts"] = values_of([int(w, 16) for w in words["counts"]], formats[event])
    if "interrupted" in words:
        s["iregs"] = tuple(int(a, 16) for a in words["abi"][1:])
    if "raw" in words:
        s["raw"] = len("".join(words["raw"])) // 2
    return s


def own_record(found, kind, line):
    p = fields_of(line)
    task = (number(p, "time"), number(p, "pid"), number(p, "tid"))
    if kind == "mmap":
        found["mmap"].append({
            "pid": task[1], "tid": task[2], "time": task[0], "start": number(p, "start"), "length": number(p, "length"),
            "offset": number(p, "offset"), "path": p.get("path", ""), "code": bool(number(p, "protection") & 4),
            "build_id": p.get("build_id"),
            "file": file_of([number(p, name) for name in ("major", "minor", "inode", "generation")])})
    elif kind == "comm":
        found["comm"].append(task + (p.get("name", ""), p.get("exec") == "yes"))
    elif kind in ("fork", "exit"):
        found[kind].append(task + (number(p, "ppid"), number(p, "ptid")))
    elif kind == "lost":
        found["lost"].append((task[0], number(p, "count")))
    elif kind == "throttle":
        found["throttle"].append((task[0], p.get("stop") == "yes"))
    elif kind == "ksymbol":
        found["ksymbol"].append((number(p, "address"), number(p, "length"), number(p, "type"),
                                 int(p.get("unregister") == "yes"), p.get("name", "")))


def own(text):
    """What gusprof dump says, in the form of dump()."""
    found = {kind: [] for kind in ("sample", "mmap", "comm", "fork", "exit", "lost", "throttle", "switch", "ksymbol")}
    start, events, formats = 0, [], []
    for line in text.splitlines():
        m = OWN_SAMPLE.match(line)
        if m:
            found["sample"].append(own_sample(m, start, events, formats))
            continue
        if line.startswith("    records { "):
            own_record(found, line.split(None, 3)[2], line.split("{", 2)[2])
            continue
        m = OWN_SWITCH.match(line)
        if m:
            found["switch"].append((own_time(start, m[1], m[2], m[3]), m[4] == "out", bool(m[5])))
        elif line.startswith("    clock {"):
            start = number(fields_of(line), "start_ns")
        elif line.startswith("    events {"):
            events.append(fields_of(line)["name"])
            formats.append(number(fields_of(line), "read_format"))
    return found
