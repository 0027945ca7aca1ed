// SPDX-License-Identifier: MIT
// Holds the join of decoder and tables against LLVM's own decoder and models, on real code.
//
//	uarch-join [--list N] [--evex] ELF-FILE...
//
// For each distinct encoding in the files and each CPU: is the row that gusprof finds by the instruction's form the one
// that LLVM has for the instruction it decodes? Prints, per CPU, the share of encodings (static) and of occurrences (by
// use) where it is, for all code and for that with EVEX; then every mismatch with its reason, most used first, at most
// N of them. The exit status is 0 if no share of all code (with --evex: of EVEX code) is below 99.9 %.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "code.h"
#include "llvm/ADT/StringExtras.h"
#include "oracle.h"
#include "x86_forms.h"

extern "C" {
#define class class_
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#undef class
}

namespace {

struct Encoding {
	Sample sample;
	size_t used;
	uint64_t hash;
};

struct Share {
	size_t encodings = 0, same_encodings = 0, used = 0, same_used = 0;

	void add(size_t uses, bool same)
	{
		encodings++;
		used += uses;
		if (same) {
			same_encodings++;
			same_used += uses;
		}
	}
	double of_encodings() const { return encodings ? 100.0 * same_encodings / encodings : 100; }
	double of_used() const { return used ? 100.0 * same_used / used : 100; }
	bool good() const { return of_encodings() >= 99.9 && of_used() >= 99.9; }
};

struct Mismatch { size_t encodings = 0, used = 0; std::string cpus, example; };

Figures figures_of(const gus_uarch *u, const struct gus_uarch_row *row)
{
	Figures f;

	f.uops = row->uops;
	f.latency = row->latency / GUS_UARCH_CENTI;
	f.loadlat = row->loadlat / GUS_UARCH_CENTI;
	f.guessed = row->guessed;
	for (uint32_t i = row->uses; i < row->uses + row->uses_n; i++)
		f.uses[u->groups[u->uses[i].group].ports] += u->uses[i].cycles / GUS_UARCH_CENTI;
	for (uint32_t i = row->units; i < row->units + row->units_n; i++)
		f.units[u->units[u->uses[i].group]] += u->uses[i].cycles / GUS_UARCH_CENTI;
	return f;
}

// Empty if it is the same, else why not.
std::string reason(const gus_uarch *u, Cpu &cpu, const Encoding &e)
{
	const struct gus_uarch_form *form;
	int wanted = x86_row(cpu, e.sample.inst, e.sample.bytes);

	if (e.sample.form.empty())
		return "our decoder finds no instruction, or one of another length";
	form = gus_uarch_form(u, e.hash);
	if (!form)
		return "the table does not know the form";
	if (form->row == GUS_UARCH_NONE)
		return wanted < 0 ? "" : "only LLVM has a row";
	if (wanted < 0)
		return "only the table has a row";
	return figures_of(u, &u->rows[form->row]) == cpu.rows[wanted] ? "" : "the form stands for several rows";
}

struct Join {
	std::unique_ptr<Isa> isa = x86_target();
	std::vector<Encoding> encodings;
	std::unordered_map<std::string, size_t> known;
	size_t undecoded = 0, instructions = 0;
	std::map<std::string, Mismatch> mismatches;

	bool read(const std::string &file);
	bool compare(const CpuEntry &entry, bool judge_evex);
	void list(size_t most) const;
};

bool Join::read(const std::string &file)
{
	Sample s;

	return for_all_code(file, [&](const uint8_t *bytes, size_t size) {
		for (size_t at = 0; at < size;) {
			size_t length = sample_at(*isa, bytes + at, size - at, s);

			at += std::max<size_t>(length, 1);
			if (!length) {
				undecoded++;
				continue;
			}
			instructions++;
			auto [known_at, fresh] = known.insert({ s.bytes, encodings.size() });
			if (fresh)
				encodings.push_back({ s, 0, gus_insn_form_hash(s.form.data(), s.form.size()) });
			encodings[known_at->second].used++;
		}
	});
}

bool Join::compare(const CpuEntry &entry, bool judge_evex)
{
	gus_error err = {};
	gus_uarch *u = gus_uarch_parse(entry.name, nullptr, 0, &gus_uarch_builtin, GUS_UARCH_PLAIN, &err);
	Cpu cpu(*isa, entry.name, entry.prefix);
	Share all, evex;

	if (!u) {
		printf("%s: %s\n", entry.name, err.text);
		return false;
	}
	for (const Encoding &e : encodings) {
		std::string why = reason(u, cpu, e);

		all.add(e.used, why.empty());
		if (uint8_t(e.sample.bytes[0]) == 0x62)
			evex.add(e.used, why.empty());
		if (why.empty())
			continue;
		Mismatch &m = mismatches[why + ": \"" + e.sample.form + "\", LLVM's " +
					 isa->name(e.sample.inst.getOpcode()).str()];
		if (!llvm::StringRef(m.cpus + " ").contains(std::string(" ") + entry.name + " "))
			m.cpus += std::string(" ") + entry.name;
		if (m.example.empty())
			m.example = llvm::toHex(e.sample.bytes, true);
		m.encodings++;
		m.used += e.used;
	}
	printf("%-16s %8zu encodings %8.3f %% same, by use %8.3f %%; EVEX: %6zu encodings %8.3f %%, by use %8.3f %%\n",
	       entry.name, all.encodings, all.of_encodings(), all.of_used(), evex.encodings, evex.of_encodings(),
	       evex.of_used());
	gus_uarch_free(u);
	return judge_evex ? evex.good() : all.good();
}

void Join::list(size_t most) const
{
	std::vector<std::pair<std::string, Mismatch>> sorted(mismatches.begin(), mismatches.end());

	std::stable_sort(sorted.begin(), sorted.end(),
			 [](const auto &a, const auto &b) { return a.second.used > b.second.used; });
	printf("%zu kinds of mismatch (encodings and uses are summed over the CPUs)\n", sorted.size());
	for (size_t i = 0; i < sorted.size() && i < most; i++)
		printf("  %6zu encodings %7zu uses  %s, as %s; on%s\n", sorted[i].second.encodings,
		       sorted[i].second.used, sorted[i].first.c_str(), sorted[i].second.example.c_str(),
		       sorted[i].second.cpus.c_str());
}

} // namespace

int main(int argc, char **argv)
{
	Join join;
	size_t most = SIZE_MAX;
	bool good = true, judge_evex = false;
	int first = 1;

	for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
		if (strcmp(argv[first], "--evex") == 0)
			judge_evex = true;
		else if (strcmp(argv[first], "--list") == 0 && first + 1 < argc)
			most = strtoull(argv[++first], nullptr, 10);
		else
			first = argc;
	}
	if (first >= argc) {
		fprintf(stderr, "usage: uarch-join [--list N] [--evex] ELF-FILE...\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		if (!join.read(argv[i]))
			return 2;
	printf("%zu instructions in %d files, %zu bytes that are no instruction\n", join.instructions, argc - first,
	       join.undecoded);
	for (size_t c = 0; c < x86_cpus_count; c++)
		good &= join.compare(x86_cpus[c], judge_evex);
	join.list(most);
	return good ? 0 : 1;
}
