// SPDX-License-Identifier: MIT
// Writes model/uarch/*.uarch and x86.forms from LLVM's scheduling models.
//
//	uarch-gen FOLDER [ELF-FILE...]
//
// Forms that stand for instructions with different figures get those that the given files use most, then those that
// most encodings have; each is listed in x86.forms with its reason. The same LLVM, decoder and files give the same
// bytes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "code.h"
#include "gracemont.h"
#include "llvm/Config/llvm-config.h"
#include "oracle.h"
#include "x86_forms.h"

namespace {

typedef std::vector<int> Rows; // the row on each CPU, -1 for none

struct Way { // one of the figures that a form stands for
	size_t used = 0, samples = 0;
	std::set<std::string> opcodes;
};

struct Form {
	std::map<Rows, Way> ways;
	std::string class_name;
	Rows taken;             // the way that was taken
	Rows rows;              // the same, with what was moved
	std::string opcode;
};

struct Generator {
	std::unique_ptr<Isa> isa = x86_target();
	std::vector<const CpuEntry *> entries;
	std::vector<std::unique_ptr<Cpu>> cpus; // gracemont is the last
	std::map<std::string, Form> forms;
	std::map<std::string, Rows> classes; // opcode classes
	std::vector<std::vector<int>> sorted; // for each CPU: its rows' numbers in the file by those in cpu.rows

	Generator();
	Rows rows_of(const Sample &s);
	void add_samples();
	void weigh(const std::vector<std::string> &files);
	void settle();
	void move_gracemont();
	void name_classes();
	void sort_rows();
};

Generator::Generator()
{
	for (size_t i = 0; i < x86_cpus_count; i++)
		entries.push_back(&x86_cpus[i]);
	entries.push_back(&gracemont_entry);
	for (const CpuEntry *entry : entries)
		cpus.push_back(std::make_unique<Cpu>(*isa, entry->name, entry->prefix));
}

Rows Generator::rows_of(const Sample &s)
{
	Rows rows;

	for (auto &cpu : cpus)
		rows.push_back(x86_row(*cpu, s.inst, s.bytes));
	return rows;
}

void Generator::add_samples()
{
	Counts counts = for_all_samples(*isa, [this](const Sample &s) {
		Form &form = forms[s.form];
		Way &way = form.ways[rows_of(s)];

		form.class_name = s.class_name;
		way.samples++;
		way.opcodes.insert(isa->name(s.inst.getOpcode()).str());
	});
	fprintf(stderr,
		"uarch-gen: %zu opcodes, %zu encodings: %zu of another opcode, %zu without a form, %zu samples of %zu "
		"forms\n",
		counts.opcodes, counts.encoded, counts.other_opcode, counts.no_form, counts.samples, forms.size());
}

void Generator::weigh(const std::vector<std::string> &files)
{
	std::unordered_map<std::string, size_t *> seen;
	std::map<std::string, size_t> unknown;
	Sample s;

	for (const std::string &file : files)
		for_all_code(file, [&](const uint8_t *bytes, size_t size) {
			for (size_t at = 0; at < size;) {
				size_t length = sample_at(*isa, bytes + at, size - at, s);

				if (length && !s.form.empty()) {
					size_t *&used = seen[s.bytes];
					if (!used) {
						auto form = forms.find(s.form);
						if (form == forms.end()) {
							used = &unknown[s.form];
						} else {
							Way &way = form->second.ways[rows_of(s)];
							way.opcodes.insert(isa->name(s.inst.getOpcode()).str());
							used = &way.used;
						}
					}
					++*used;
				}
				at += std::max<size_t>(length, 1);
			}
		});
	for (const auto &[form, used] : unknown)
		fprintf(stderr, "uarch-gen: \"%s\" is used %zu times and was not made\n", form.c_str(), used);
}

void Generator::settle()
{
	for (auto &[text, form] : forms) {
		auto better = [](const auto &a, const auto &b) {
			return std::make_pair(a.second.used, a.second.samples) <
			       std::make_pair(b.second.used, b.second.samples);
		};
		auto best = std::max_element(form.ways.begin(), form.ways.end(), better);

		form.taken = form.rows = best->first;
		form.opcode = *best->second.opcodes.begin();
	}
}

void Generator::move_gracemont()
{
	Cpu &cpu = *cpus.back();
	std::vector<Figures> p_core = cpu.rows;

	cpu.replace(gracemont_ports, gracemont_units, gracemont_params);
	for (auto &[text, form] : forms)
		if (form.rows.back() >= 0)
			form.rows.back() = cpu.add(gracemont_figures(p_core[form.rows.back()], text, form.class_name));
}

// Forms that have the same row on every CPU are a class; it is named after an opcode.
void Generator::name_classes()
{
	std::map<Rows, std::string> names;
	std::map<std::string, unsigned> taken;

	for (auto &[text, form] : forms) {
		auto [at, fresh] = names.insert({ form.rows, form.opcode });
		if (!fresh)
			at->second = std::min(at->second, form.opcode);
	}
	std::vector<std::pair<std::string, Rows>> list;
	for (auto &[rows, name] : names)
		list.push_back({ name, rows });
	std::sort(list.begin(), list.end());
	for (auto &[name, rows] : list) {
		unsigned n = ++taken[name];
		std::string full = n > 1 ? name + "." + std::to_string(n) : name;

		classes[full] = rows;
		names[rows] = full;
	}
	for (auto &[text, form] : forms)
		form.opcode = names[form.rows];
}

void Generator::sort_rows()
{
	for (size_t c = 0; c < cpus.size(); c++) {
		std::map<Figures, int> used;
		std::vector<int> number(cpus[c]->rows.size(), -1);
		int n = 0;

		for (auto &[name, rows] : classes)
			if (rows[c] >= 0)
				used[cpus[c]->rows[rows[c]]] = rows[c];
		for (auto &[figures, row] : used)
			number[row] = ++n;
		sorted.push_back(number);
	}
}

// Output.

FILE *create(const std::string &folder, const std::string &name)
{
	std::string path = folder + "/" + name;
	FILE *f = fopen(path.c_str(), "w");

	if (!f) {
		perror(path.c_str());
		exit(1);
	}
	fprintf(f, "# Made by contrib/uarch-gen, which read it out of LLVM " LLVM_VERSION_STRING
		   "; do not edit. LLVM's figures are under\n"
		   "# Apache-2.0 with LLVM exception: see NOTICE. The grammar stands in model/tables/uarch.h.\n");
	return f;
}

void finish(FILE *f)
{
	if (fclose(f) != 0) {
		perror("cannot write");
		exit(1);
	}
}

void write_ambiguous(FILE *f, const Generator &g, const std::string &text, const Form &form)
{
	std::string where;
	size_t cpus = 0;

	for (size_t c = 0; c < g.cpus.size(); c++) {
		std::set<int> here;
		for (auto &[rows, way] : form.ways)
			here.insert(rows[c]);
		if (here.size() > 1) {
			where += " " + g.cpus[c]->name;
			cpus++;
		}
	}
	fprintf(f, "# ambiguous on%s:", cpus == g.cpus.size() ? " all" : where.c_str());
	for (auto &[rows, way] : form.ways)
		fprintf(f, " %s%s%s used %zu, made %zu;", way.opcodes.begin()->c_str(),
			way.opcodes.size() > 1 ? "..." : "", rows == form.taken ? " (taken)" : "", way.used,
			way.samples);
	fprintf(f, " of \"%s\"\n", text.c_str());
}

void write_forms(const std::string &folder, const Generator &g)
{
	FILE *f = create(folder, "x86.forms");
	size_t ambiguous = 0;

	for (const auto &[text, form] : g.forms) {
		if (form.ways.size() > 1) {
			ambiguous++;
			write_ambiguous(f, g, text, form);
		}
		fprintf(f, "form \"%s\" %s\n", text.c_str(), form.opcode.c_str());
	}
	finish(f);
	fprintf(stderr, "uarch-gen: %zu forms, %zu of them ambiguous, %zu opcode classes\n", g.forms.size(), ambiguous,
		g.classes.size());
}

const char *source_of(const Cpu &cpu)
{
	return cpu.name == gracemont_entry.name ? "rule" : "llvm";
}

void write_figures(FILE *f, const Cpu &cpu, const Figures &figures)
{
	fprintf(f, "uops %u latency %d", figures.uops, figures.latency);
	if (figures.loadlat)
		fprintf(f, " loadlat %d", figures.loadlat);
	if (!figures.uses.empty())
		fprintf(f, " uses");
	for (auto &[mask, cycles] : figures.uses)
		fprintf(f, " %s:%u", cpu.group_name(mask).c_str(), cycles);
	if (!figures.units.empty())
		fprintf(f, " exclusive");
	for (auto &[unit, cycles] : figures.units)
		fprintf(f, " %s:%u", unit.c_str(), cycles);
	fprintf(f, "%s source %s\n", figures.guessed ? " guessed" : "", source_of(cpu));
}

void write_words(FILE *f, const std::string &begin, const std::vector<std::string> &words)
{
	size_t column = 0;

	for (const std::string &word : words) {
		if (column + word.size() > 110) {
			fprintf(f, "\n");
			column = 0;
		}
		if (!column)
			column = fprintf(f, "%s", begin.c_str());
		column += fprintf(f, " %s", word.c_str());
	}
	if (column)
		fprintf(f, "\n");
}

void write_groups(FILE *f, const Cpu &cpu, const std::vector<uint64_t> &used)
{
	for (uint64_t mask : cpu.closed_groups(used)) {
		fprintf(f, "group %s =", cpu.group_name(mask).c_str());
		char between = ' ';
		for (size_t i = 0; i < cpu.ports.size(); i++)
			if (mask >> i & 1) {
				fprintf(f, "%c%s", between, cpu.ports[i].c_str());
				between = '+';
			}
		fprintf(f, "\n");
	}
}

// Bounds of a class of instructions: over all forms of it that have a row which its source believes; its uses are those
// of the most common row.
void write_class_bounds(FILE *f, const Generator &g, size_t c)
{
	struct Bounds {
		unsigned uops_lo = ~0u, uops_hi = 0;
		int latency_lo = 1 << 30, latency_hi = 0;
		std::map<int, size_t> rows;
	};
	std::map<std::string, Bounds> all;

	for (auto &[text, form] : g.forms) {
		int row = form.rows[c];
		if (row < 0 || g.cpus[c]->rows[row].guessed)
			continue;
		const Figures &figures = g.cpus[c]->rows[row];
		Bounds &b = all[form.class_name];

		b.uops_lo = std::min(b.uops_lo, figures.uops);
		b.uops_hi = std::max(b.uops_hi, figures.uops);
		b.latency_lo = std::min(b.latency_lo, figures.latency);
		b.latency_hi = std::max({ b.latency_hi, figures.latency, figures.loadlat });
		b.rows[g.sorted[c][row]]++;
	}
	for (auto &[name, b] : all) {
		auto most = std::max_element(b.rows.begin(), b.rows.end(),
					     [](auto &x, auto &y) { return x.second < y.second; });
		auto at = std::find(g.sorted[c].begin(), g.sorted[c].end(), most->first) - g.sorted[c].begin();
		const Figures &typical = g.cpus[c]->rows[at];

		fprintf(f, "class %s uops %u-%u latency %d-%d", name.c_str(), b.uops_lo, b.uops_hi, b.latency_lo,
			b.latency_hi);
		if (!typical.uses.empty())
			fprintf(f, " uses");
		for (auto &[mask, cycles] : typical.uses)
			fprintf(f, " %s:%u", g.cpus[c]->group_name(mask).c_str(), cycles);
		fprintf(f, " source %s\n", source_of(*g.cpus[c]));
	}
}

void write_cpu(const std::string &folder, const Generator &g, size_t c)
{
	const Cpu &cpu = *g.cpus[c];
	FILE *f = create(folder, cpu.name + ".uarch");
	std::map<int, const Figures *> rows;
	std::map<int, std::vector<std::string>> opcodes;
	std::set<uint64_t> used;

	for (auto &[name, all] : g.classes) {
		int number = all[c] < 0 ? 0 : g.sorted[c][all[c]];

		opcodes[number].push_back(name);
		if (!number)
			continue;
		rows[number] = &cpu.rows[all[c]];
		for (auto &[mask, cycles] : rows[number]->uses)
			used.insert(mask);
	}
	const char *source = source_of(cpu), *own = !strcmp(source, "rule") ? "intel" : source;
	fprintf(f, "uarch %s isa x86-64 \"%s\"\nalias %s\n", cpu.name.c_str(), g.entries[c]->title,
		g.entries[c]->aliases);
	if (own == source)
		fprintf(f, "source llvm \"LLVM " LLVM_VERSION_STRING " %s\"\n", g.entries[c]->model);
	else
		fprintf(f,
			"source intel \"what Intel published about the core in 2021\"\n"
			"source rule \"LLVM " LLVM_VERSION_STRING
			" %s, moved to this core's ports by contrib/uarch-gen/gracemont.cpp; "
			"not measured\"\n",
			g.entries[c]->model);
	for (const Param &p : cpu.params)
		fprintf(f, "param %s %s %s %s\n", p.name.c_str(), p.value.c_str(), p.unit.c_str(), own);
	for (const std::string &port : cpu.ports)
		fprintf(f, "port %s %s\n", port.c_str(), own);
	for (const std::string &unit : cpu.units)
		fprintf(f, "unit %s %s\n", unit.c_str(), own);
	write_groups(f, cpu, { used.begin(), used.end() });
	for (auto &[number, figures] : rows) {
		fprintf(f, "row r%d ", number);
		write_figures(f, cpu, *figures);
	}
	for (auto &[number, names] : opcodes)
		write_words(f, number ? "opcode r" + std::to_string(number) : "opcode -", names);
	write_class_bounds(f, g, c);
	fprintf(f, "include x86.forms\n");
	finish(f);
}

void write_derived(const std::string &folder, const DerivedEntry &d)
{
	FILE *f = create(folder, std::string(d.name) + ".uarch");

	fprintf(f, "# %s.\nuarch %s isa x86-64 \"%s\"\nalias %s\nlike %s\n", d.why, d.name, d.title, d.aliases, d.like);
	finish(f);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: uarch-gen FOLDER [ELF-FILE...]\n");
		return 2;
	}
	Generator g;
	g.add_samples();
	g.weigh({ argv + 2, argv + argc });
	g.settle();
	g.move_gracemont();
	g.name_classes();
	g.sort_rows();
	write_forms(argv[1], g);
	for (size_t c = 0; c < g.cpus.size(); c++)
		write_cpu(argv[1], g, c);
	for (size_t i = 0; i < x86_derived_count; i++)
		write_derived(argv[1], x86_derived[i]);
	return 0;
}
