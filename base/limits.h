/* SPDX-License-Identifier: MIT */
/* How much work and memory a foreign file may cost. A file is small, and what it says of itself is not: a count, a size
 * or a loop in a few bytes may ask for hours and gigabytes. So each parser of foreign bytes has a budget in proportion
 * to the bytes that are really there, with a stated cap; what is beyond is cut, costs nothing but itself, and is
 * counted and told to the reader. The limits of what others write stand here, so that they can be read and judged
 * together; each says its unit, and what the largest honest use is that we know of. */
#ifndef GUS_BASE_LIMITS_H
#define GUS_BASE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In units that the rule it came from says. Zero-initialised it has none to give. */
struct gus_budget {
	uint64_t left;
	bool cut;       /* something was refused; stays */
};

/* How a budget follows from the size of what is read: base + per_byte * size, but never more than cap. */
struct gus_limit {
	uint64_t base, per_byte, cap;
};

static inline struct gus_budget gus_budget_of(struct gus_limit limit, uint64_t size)
{
	uint64_t units;

	if (__builtin_mul_overflow(limit.per_byte, size, &units) || __builtin_add_overflow(units, limit.base, &units) ||
	    units > limit.cap)
		units = limit.cap;
	return (struct gus_budget){ .left = units };
}

/* Takes units out of it. False if they are not all there: then none are taken, and the caller does without. */
static inline bool gus_budget_charge(struct gus_budget *b, uint64_t units)
{
	if (units > b->left) {
		b->cut = true;
		return false;
	}
	b->left -= units;
	return true;
}

/* What a sum of weights or counts is at most: what a file says of how many there were may be anything, and numbers of
 * JSON have 63 bits. Nanoseconds of 256 CPUs reach it in 416 days. */
#define GUS_LIMIT_SUM ((uint64_t)INT64_MAX)

/* The sum of two counts, or as much of it as a sum may be. */
static inline uint64_t gus_saturated(uint64_t a, uint64_t b)
{
	return a > GUS_LIMIT_SUM || b > GUS_LIMIT_SUM - a ? GUS_LIMIT_SUM : a + b;
}

/* ELF files: the module's own, its debug file, what either names. */

/* Bytes of a file. It is mapped as room, and only what is needed of it is read; 64 GiB is ten times the largest program
 * with debug information that we have met. */
#define GUS_LIMIT_ELF_FILE (64ull << 30)
/* Bytes read of one file: the tables of names and the sections of DWARF that are used, and code where it is asked for.
 * A browser with all its debug information is at 2 GiB. Holes are not counted. */
#define GUS_LIMIT_ELF_READ (4ull << 30)
/* Sections; an object file with one for each function has some 100,000. */
#define GUS_LIMIT_ELF_SECTIONS (1u << 18)
/* Segments that are loaded; programs have 2 to 12. */
#define GUS_LIMIT_ELF_SEGMENTS 256
/* Bytes of one name; the longest in the wild that we know of (Boost) has about 20,000. */
#define GUS_LIMIT_NAME 65536
/* Bytes looked at in tables of symbols, relocations, stubs, unwind entries and names, for each byte of the file: honest
 * files need less than 4, those with many aliases of one long name 10. */
#define GUS_LIMIT_ELF_WORK ((struct gus_limit){ 1u << 20, 32, 32ull << 30 })
/* Bytes of memory that are made out of a file, beside those read: what was compressed (4 to 10 for each byte), tables
 * of functions (3 for each byte of a symbol), names of stubs, rows of line tables, ranges (10 for each byte). */
#define GUS_LIMIT_ELF_MADE ((struct gus_limit){ 16u << 20, 16, 4ull << 30 })
/* Bytes of memory of all files of a recording together, read and made. */
#define GUS_LIMIT_NAMES_TOTAL (16ull << 30)

/* Letters that are demangled to choose among the names of one address, by the number of names in the table: honest ones
 * need 100 for each at most. */
#define GUS_LIMIT_RANKED ((struct gus_limit){ 4u << 20, 512, 4ull << 30 })

/* What is kept of answers for the next time, of all programs and of one: 20,000 lines with their inlined calls are 1 to
 * 3 MB, and a file that is read has twenty times its size in memory at most. */
#define GUS_LIMIT_CACHE (256ull << 20)
#define GUS_LIMIT_CACHE_FILE ((size_t)32 << 20)
#define GUS_LIMIT_CACHE_STACKS ((size_t)64 << 20)

/* DWARF. */

/* Steps through entries, an attribute each: a program that is asked about at each of its addresses needs some 10 for
 * each byte. */
#define GUS_LIMIT_DWARF_STEPS ((struct gus_limit){ 1u << 20, 32, 32ull << 30 })
/* Attributes of one abbreviation; compilers write at most 40. */
#define GUS_LIMIT_DWARF_ATTRIBUTES 256
/* How deep entries nest; inlining nests to some forty levels. */
#define GUS_LIMIT_DWARF_DEPTH 400
/* Ranges of one table; the largest unit that we have met (a browser, link time optimised) has 2.4 million. */
#define GUS_LIMIT_DWARF_RANGES (1u << 24)

/* Bytes of one function's code that are looked at; what is longer is a mistake. */
#define GUS_LIMIT_FUNCTION (64u << 20)
/* Instructions of all blocks of a trace, by the bytes of its file, which take some hundred bytes each here: blocks of
 * the same bytes at many addresses have them once in the file. Of large programs' traces a byte has a third of one. */
#define GUS_LIMIT_TRACE_CODE ((struct gus_limit){ 1u << 19, 4, 1u << 26 })
/* Bytes of one table of notes in a file; those with a build id have hundreds. And of all notes of a file that is mapped
 * in a process that is watched, whose build id alone is asked for. */
#define GUS_LIMIT_NOTES ((uint64_t)1 << 20)
#define GUS_LIMIT_NOTES_MAPPED 65536
/* Bytes of a source file; what is longer was not written by a person. */
#define GUS_LIMIT_SOURCE_FILE (64u << 20)

/* Unwinding, symbolizer/unwind. Steps that one stack may cost, an instruction of unwind tables or of an expression
 * each: a stack of 100 frames of which nothing was asked before takes some 3,000, a known one a few. A million take 5
 * to 10 ms. */
#define GUS_LIMIT_UNWIND_WORK (1u << 18)
/* The same for a look at whether a file's functions keep frame pointers, of the first few thousand of them: those of
 * LLVM take a quarter of a million. */
#define GUS_LIMIT_UNWIND_SURVEY (1u << 22)
/* What a recorder spends on a file, and on all of them: so many steps, and so many more for each frame that is looked
 * up. An address costs some 30 when it is new and a linkage table's 11 each time; 10,000 addresses of the longest
 * function that we have met are 40 million. */
#define GUS_LIMIT_UNWIND_FILE_STEPS (1ull << 26)
#define GUS_LIMIT_UNWIND_ALL_STEPS (1ull << 27)
#define GUS_LIMIT_UNWIND_FILE_STEPS_A_FRAME 64
/* The same for who reads a recording with copies of stacks, of all its threads together: each has its part, and makes
 * its rules for itself. What libunwind reads is a step, too: it remembers 128 addresses, and one that it has forgotten
 * takes some 70 steps, of the C++ compiler 50 a frame on the average. */
#define GUS_LIMIT_UNWIND_READ_FILE_STEPS (1ull << 28)
#define GUS_LIMIT_UNWIND_READ_ALL_STEPS (1ull << 29)
#define GUS_LIMIT_UNWIND_READ_STEPS_A_FRAME 128
/* When all of it is spent, a file may still have so many beyond those for its frames, which is next to nothing. */
#define GUS_LIMIT_UNWIND_LATE_STEPS (1ull << 17)
/* Frames of a stack beyond the words that were copied of it: each return address is one, but of signals and of leaves
 * on machines that return by a register. */
#define GUS_LIMIT_UNWIND_FRAMES_BESIDES 32
/* Bytes of one function's unwind program that are shown to libunwind; the longest that we have met has 20,000. */
#define GUS_LIMIT_CFI ((size_t)1 << 18)
/* Bytes of memory of the tables of all files, read and made, and bytes of them that are looked through: a browser has
 * 60 MB of them, libc 0.3. */
#define GUS_LIMIT_UNWIND_TOTAL (1ull << 30)
/* Files whose tables are looked at; a process with a thousand libraries is a large one. */
#define GUS_LIMIT_UNWIND_FILES 16384
/* Addresses of a file whose rules are kept, and bytes of rules that differ; a program of 100 MB that was sampled for an
 * hour needs some 50,000, and 3,000 rules of 50 bytes. */
#define GUS_LIMIT_UNWIND_KEPT (1u << 17)
#define GUS_LIMIT_UNWIND_RULES (4u << 20)

/* Bytes of batches of samples that overlap in time, unpacked, while they are put in order. A recorder writes each CPU's
 * samples when they are half a second old at most: of 256 CPUs at 10 kHz with chains of 20 that is some 300 MB, and the
 * file grows by 40 MB a second; perf's rounds overlap by what its rings hold, half a megabyte a CPU. A file whose times
 * go backward would have all of it wait. */
#define GUS_LIMIT_ORDER ((struct gus_limit){ 160ull << 20, 1, 1ull << 30 })
/* Places in memory that a profile tells apart: lines or pages that were asked for, each of which takes some 400 bytes
 * until it is a row. */
#define GUS_LIMIT_TOUCHES (1u << 18)
/* Calling paths that a profile tells apart, which take some 150 bytes each until a tree is printed. A program's stacks
 * begin alike: a million samples come to some 100,000 paths; 100,000 stacks of 60 frames that have nothing in common
 * are 6,000,000, in a file of 107 MB. But thousands of callers that move on by one with each sample pack to a few bytes
 * a sample. */
#define GUS_LIMIT_PATHS ((struct gus_limit){ 1500000, 1, 1u << 25 })
/* Who uses lines that are shared: each a thread, an instruction and a byte of a line; some 120 bytes of memory. */
#define GUS_LIMIT_SHARING (1u << 19)
/* Instructions of which it is counted what their samples say of accesses and branches, some 250 bytes each: programs
 * that were sampled for hours have 100,000. */
#define GUS_LIMIT_OBSERVED (1u << 19)
/* Bytes of memory that names, lines and code take which a recording brings along. A recorder writes 64 MiB of them at
 * most, and code of runtimes besides; but 4 MiB of zeros are some 200 bytes of a recording. */
#define GUS_LIMIT_EMBEDDED (1ull << 30)
/* What runtimes tell of the code that they make, symbolizer/jit. Bytes that are read of a perf map and of a jitdump,
 * which has all code in it: a large Java program writes some 20 MB of the former, node some 2 MB of the latter a
 * second while it warms up. */
#define GUS_LIMIT_PERF_MAP (64u << 20)
#define GUS_LIMIT_JITDUMP (256u << 20)
/* Bytes of all such files that names are looked for in when a recording is read, and pieces of code of which these are
 * kept, which take some 500 bytes each. Ten large Java programs are 200 MB and a million pieces. */
#define GUS_LIMIT_JIT_READ ((size_t)1 << 30)
#define GUS_LIMIT_JIT_NAMED 1000000
/* Pieces of code and lines that are kept of such a file. */
#define GUS_LIMIT_JIT_PIECES (1u << 20)
#define GUS_LIMIT_JIT_LINES (1u << 22)
/* Pieces of a process that are written to a recording, and bytes of code of one and of all; only what was sampled is,
 * so these are far off. */
#define GUS_LIMIT_JIT_WRITTEN 100000
#define GUS_LIMIT_JIT_CODE (1u << 20)
#define GUS_LIMIT_JIT_CODE_ALL (32u << 20)

/* Recordings, traces and snapshots have limits of their own, which are part of their formats: proto/container.h,
 * proto/sample.h, proto/trace.h, proto/snapshot.h and FORMAT.md. */

/* What a process that is watched shows. */

/* Bytes of a file of /proc. The most mappings that distributions allow to a process are 2^20 (vm.max_map_count), at
 * about 100 bytes each; with paths as long as can be they would be 4 GiB. */
#define GUS_LIMIT_PROC_FILE (256u << 20)
/* Bytes of memory for the mappings of a process, and of all. A process can have 65,530 mappings of code, and more where
 * vm.max_map_count says so, of files with names of 4 kB; a user can have thousands of processes. Programs have a few
 * dozen, of some 300 bytes here: 16 MiB are 50,000. */
#define GUS_LIMIT_PROCESS_MAPPINGS (16u << 20)
#define GUS_LIMIT_ALL_MAPPINGS (256u << 20)
/* What is kept of address spaces while callers are found in them: pieces of maps, of 48 bytes each, a new
 * mapping takes some 20 until the maps before it are forgotten, then one; files, and bytes of their names. Two million
 * mappings that live at a time are 40,000 processes' that share none. */
#define GUS_LIMIT_CURRENT_NODES (1u << 21)
#define GUS_LIMIT_CURRENT_MODULES 65536
#define GUS_LIMIT_CURRENT_TEXT (64u << 20)
/* Pages that a snapshot looks at one by one, 128 GiB of addresses: half a second. Reserves of shadow memory and of
 * heaps are terabytes, and would stop their process for minutes. */
#define GUS_LIMIT_PAGEMAP_ENTRIES (32u << 20)

/* What the model is given; lines and instructions of a batch: model/analysis/batch.h. */

/* Bytes of a table of a CPU: far more than any, less than would hurt. */
#define GUS_LIMIT_TABLE_FILE (64u << 20)
/* Bytes of a calibration that a user keeps: ten thousand forms are 4 MB, and a full one has some hundred. */
#define GUS_LIMIT_CALIBRATION_FILE ((size_t)16 << 20)
/* Bytes of measured data to import; the file of all CPUs is a tenth of that. */
#define GUS_LIMIT_IMPORT_FILE ((size_t)2 << 30)
/* Bytes of a batch or of a table of uops. */
#define GUS_LIMIT_MODEL_INPUT (1u << 30)
/* Instructions whose costs are asked for: a run for each, so what they take grows with the square. And uops of a
 * timeline, of which each is a line or an object of JSON, some 7 kB. */
#define GUS_LIMIT_MODEL_COSTS 2000
#define GUS_LIMIT_MODEL_TIMELINE 100000

/* Recordings of perf. */

/* Events of one, and ids of all: one for each CPU, or thread and CPU. Largest seen: 200, and 25,000. */
#define GUS_LIMIT_PERFDATA_EVENTS 65536
#define GUS_LIMIT_PERFDATA_IDS (1u << 22)
/* Bytes of all features; of a machine with 2,000 build ids it has 200 KB. And as many of memory for build ids, and for
 * names of events, that stand in records. */
#define GUS_LIMIT_PERFDATA_FEATURE (64ull << 20)
/* Samples that are made of the counts of groups' members, with the callers and branches that each has once more; and
 * counters of groups, by thread, whose last values are kept. */
#define GUS_LIMIT_PERFDATA_MEMBERS ((struct gus_limit){ 16u << 20, 16, UINT64_MAX })
#define GUS_LIMIT_PERFDATA_COUNTERS (1u << 20)
/* Bytes that packed records may come to, for the file's own, and how many records these may be. Bytes are cheap, and
 * honest ones may pack well: copies of stacks, of 64 KB each, that are empty but for a kilobyte come to 1,800 times
 * what they take in the file. Records are dear, and each has at least a time of its own: perf's take five bytes and
 * more. */
#define GUS_LIMIT_PERFDATA_UNPACKED ((struct gus_limit){ 256ull << 20, 4096, UINT64_MAX })
#define GUS_LIMIT_PERFDATA_RECORDS ((struct gus_limit){ 1u << 20, 4, UINT64_MAX })

#endif
