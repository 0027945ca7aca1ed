// SPDX-License-Identifier: MIT
// Writes model/uarch/arm64.forms and a table a CPU from LLVM's scheduling models; answers as oracle for tests.

struct Cpu {
	const Machine &machine;
	MCSubtargetInfo *info;
	const MCSchedModel *model;
	std::vector<Text> ports;                 // by bit
	std::vector<uint64_t> masks;             // by LLVM's number of a resource
	std::map<uint64_t, Text> names;          // groups and ports, closed under union where they overlap

	Cpu(const Machine &m, const Text &cpu) : machine(m)
	{
		info = m.target->createMCSubtargetInfo(m.triple, cpu, "");
		model = &info->getSchedModel();
		resources();
		close();
	}

	// LLVM's names are those of Arm's guides behind a prefix: "N1UnitV0" is V0.
	static Text short_name(const char *name)
	{
		const char *unit = strstr(name, "Unit");
		return unit ? unit + 4 : name;
	}

	// A resource of several equal units is that many ports: I of two is I0 and I1, L01 of two is L0 and L1.
	void resources()
	{
		unsigned count = model->getNumProcResourceKinds();

		masks.assign(count, 0);
		for (unsigned i = 1; i < count; i++) {
			const MCProcResourceDesc *d = model->getProcResource(i);
			Text name = short_name(d->Name);
			if (d->SubUnitsIdxBegin)
				continue;
			for (unsigned k = 0; k < d->NumUnits; k++) {
				size_t digits = name.find_first_of("0123456789");
				Text port = d->NumUnits == 1 ? name
					    : digits != Text::npos && name.size() - digits == d->NumUnits
						    ? name.substr(0, digits) + name[digits + k]
						    : name + std::to_string(k);
				masks[i] |= uint64_t(1) << ports.size();
				ports.push_back(port);
			}
			names[masks[i]] = name;
		}
		for (unsigned i = 1; i < count; i++) {
			const MCProcResourceDesc *d = model->getProcResource(i);
			if (!d->SubUnitsIdxBegin)
				continue;
			for (unsigned k = 0; k < d->NumUnits; k++)
				masks[i] |= masks[d->SubUnitsIdxBegin[k]];
			names[masks[i]] = short_name(d->Name);
		}
		for (size_t p = 0; p < ports.size(); p++)
			names.emplace(uint64_t(1) << p, ports[p]);
	}

	// The name of a union: letters once, the digits behind them ("V012", "S01M0").
	Text union_name(uint64_t mask) const
	{
		Text out, letters;

		for (size_t p = 0; p < ports.size(); p++) {
			if (!(mask >> p & 1))
				continue;
			size_t digits = ports[p].find_first_of("0123456789");
			Text stem = ports[p].substr(0, digits);
			if (stem != letters)
				out += stem;
			letters = stem;
			if (digits != Text::npos)
				out += ports[p].substr(digits);
		}
		return out;
	}

	void close()
	{
		for (bool news = true; news;) {
			std::vector<uint64_t> all;

			news = false;
			for (auto &n : names)
				all.push_back(n.first);
			for (uint64_t a : all)
				for (uint64_t b : all)
					if ((a & b) && !names.count(a | b))
						names[a | b] = union_name(a | b), news = true;
		}
	}

	// The scheduling class of an instruction, variants resolved; null if the model has none.
	const MCSchedClassDesc *schedule(const MCInst &inst) const
	{
		unsigned number = machine.instructions->get(inst.getOpcode()).getSchedClass();
		const MCSchedClassDesc *desc = model->getSchedClassDesc(number);

		while (number && desc->isVariant()) {
			number = info->resolveVariantSchedClass(number, &inst, machine.instructions,
								model->getProcessorID());
			desc = model->getSchedClassDesc(number);
		}
		return number && desc->isValid() ? desc : nullptr;
	}

	static Text cycles(double c)
	{
		char text[32];
		snprintf(text, sizeof(text), "%.2f", c);
		while (strchr(text, '.') && (text[strlen(text) - 1] == '0' || text[strlen(text) - 1] == '.')) {
			bool dot = text[strlen(text) - 1] == '.';
			text[strlen(text) - 1] = 0;
			if (dot)
				break;
		}
		return text;
	}

	// The figures of a row. LLVM charges each group that contains the ports of a uop: what its subsets explain is
	// taken away again, from the smallest group up, so that each uop stands once.
	Text figures(const MCInst &inst, bool loads) const
	{
		const MCSchedClassDesc *desc = schedule(inst);
		std::vector<std::pair<uint64_t, int>> uses;
		int latency = 0;

		if (!desc)
			return "";
		for (unsigned i = 0; i < desc->NumWriteLatencyEntries; i++)
			latency = std::max(latency, int(info->getWriteLatencyEntry(desc, i)->Cycles));
		for (auto *w = info->getWriteProcResBegin(desc); w != info->getWriteProcResEnd(desc); w++)
			if (w->ReleaseAtCycle > w->AcquireAtCycle)
				uses.push_back({ masks[w->ProcResourceIdx], w->ReleaseAtCycle - w->AcquireAtCycle });
		std::sort(uses.begin(), uses.end(),
			  [](const std::pair<uint64_t, int> &a, const std::pair<uint64_t, int> &b) {
				  int pa = __builtin_popcountll(a.first), pb = __builtin_popcountll(b.first);
				  return pa != pb ? pa < pb : a.first < b.first;
			  });
		Text out = "uops " + std::to_string(desc->NumMicroOps) + " latency " + cycles(latency), list;
		if (loads)
			out += " loadlat " + cycles(latency);
		for (size_t i = 0; i < uses.size(); i++) {
			for (size_t j = 0; j < i; j++)
				if ((uses[j].first & uses[i].first) == uses[j].first && uses[j].second > 0)
					uses[i].second -= uses[j].second;
			if (uses[i].second > 0)
				list += " " + names.at(uses[i].first) + ":" + cycles(uses[i].second);
		}
		return out + (list.empty() ? "" : " uses" + list);
	}
};

// As gus_insn_class_name; `gusprof uarch check` finds out if the two ever differ.
static const char *const class_names[GUS_INSN_CLASSES] = {
	"other",   "bad",	"nop",	   "mov",	  "load",      "store",		  "lea",      "alu",
	"shift",   "mul",	"div",	   "branch_cond", "branch",    "branch_indirect", "call",     "call_indirect",
	"ret",	   "fp_add",	"fp_mul",  "fp_fma",	  "fp_div",    "fp_sqrt",	  "fp_other", "convert",
	"shuffle", "vec_logic", "vec_int", "vec_mul",	  "vec_shift", "vec_mov",	  "mask",     "gather",
	"scatter", "string",	"crypto",  "matrix",	  "atomic",    "fence",		  "system",
};

// A form with its trait words, and what each CPU makes of it.
struct Variant {
	Text text, name, class_name;
	uint8_t kind;
	std::vector<Text> rows; // by CPU; empty if it has none
};

static Text variant_text(const Form &f, uint32_t word)
{
	const char *words[4];
	Text text = f.text;

	gus_a64_words(f.op.shape, word, words);
	for (unsigned i = 0; words[i]; i++)
		text += Text(" +") + words[i];
	return text;
}

// A word of the form whose traits are drawn, so that rare ones (equal registers, a zero) come as often as others.
static uint32_t drawn(const Form &f, std::mt19937_64 &random)
{
	uint32_t word = f.value | (uint32_t(random()) & ~f.mask);
	auto set = [&](uint32_t field, uint32_t value) { word = (word & ~field) | (value & field); };

	if ((f.op.shape & GUS_A64_SAME) && (random() & 1))
		set(0x001f0000, gus_a64_bits(word, 5, 5) << 16);
	if ((f.op.shape & GUS_A64_FROM_ZERO) && (random() & 1))
		set(0x000003e0, 0x3e0);
	if ((f.op.shape & GUS_A64_WIDE_ZERO) && (random() & 1))
		set(0x007fffe0, 0);
	if ((f.op.shape & GUS_A64_MOVI_ZERO) && (random() & 1))
		set(0x000703e0, 0);
	if ((f.op.shape & GUS_A64_GOVERNOR4) && (random() & 1))
		set(0x0000000f, gus_a64_bits(word, 10, 4));
	if ((f.op.shape & GUS_A64_GOVERNOR3) && (random() & 1))
		set(0x0000000f, gus_a64_bits(word, 10, 3));
	if ((f.op.shape & GUS_A64_GOVERNOR_FFR) && (random() & 1))
		set(0x0000000f, gus_a64_bits(word, 5, 4));
	if ((f.op.shape & GUS_A64_ALL) && (random() & 1))
		set(0x000c03e0, 0x3e0);
	if ((f.op.shape & GUS_A64_NO_ADDEND) && (random() & 1))
		set(0x00007c00, 0x7c00);
	if ((f.op.shape & GUS_A64_IMM_ZERO) && (random() & 1))
		set(0x003ffc00, 0);
	if ((f.op.shape & GUS_A64_SHIFT) && (random() & 1))
		set(0x0000fc00, uint32_t(random() % 6) << 10);
	if ((f.op.shape & GUS_A64_EXTEND) && (random() & 1))
		set(0x00001c00, 0);
	return (word & ~f.mask) | f.value;
}

static std::vector<Variant> variants_of(Machine &machine, const std::vector<Form> &forms, std::vector<Cpu> &models)
{
	std::vector<Variant> out;
	std::mt19937_64 random(3);
	std::set<Text> ambiguous;

	for (const Form &f : forms) {
		std::map<Text, Variant> mine;
		int draws = f.op.shape ? 600 : 60;

		for (int k = 0; k < draws + int(f.samples.size()); k++) {
			uint32_t word = k < int(f.samples.size()) ? f.samples[size_t(k)] : drawn(f, random);
			if (machine.decode(word) != int(f.opcode) || !gus_a64_allocated(f.op.shape, word))
				continue;
			MCInst inst = machine.inst;
			Variant v;
			v.text = variant_text(f, word), v.name = f.name, v.kind = f.op.kind;
			for (Cpu &cpu : models)
				v.rows.push_back(cpu.figures(inst, (f.op.memory_use & GUS_ACCESS_READ) != 0));
			auto known = mine.emplace(v.text, v);
			if (!known.second && known.first->second.rows != v.rows)
				ambiguous.insert(v.name + " " + v.text);
		}
		for (auto &each : mine)
			out.push_back(each.second);
	}
	std::sort(out.begin(), out.end(), [](const Variant &a, const Variant &b) { return a.text < b.text; });
	for (const Text &a : ambiguous)
		errs() << "ambiguous: " << a << "\n";
	return out;
}

// Forms that have the same row on every CPU are one opcode class, named after the first of them.
static void classes_of(std::vector<Variant> &variants)
{
	std::map<std::vector<Text>, Text> classes;
	std::map<Text, unsigned> taken;

	for (Variant &v : variants) {
		auto known = classes.find(v.rows);
		if (known == classes.end()) {
			unsigned n = taken[v.name]++;
			known = classes.emplace(v.rows, v.name + (n ? "." + std::to_string(n + 1) : "")).first;
		}
		v.class_name = known->second;
	}
}

static void wrapped(FILE *file, const Text &head, const std::vector<Text> &words, const Text &tail)
{
	Text line = head;

	for (const Text &w : words) {
		if (line.size() + w.size() + tail.size() > 200 && line != head) {
			fprintf(file, "%s%s\n", line.c_str(), tail.c_str());
			line = head;
		}
		line += " " + w;
	}
	if (line != head)
		fprintf(file, "%s%s\n", line.c_str(), tail.c_str());
}

static void emit_shared(const Text &path, const std::vector<Variant> &variants)
{
	FILE *file = fopen(path.c_str(), "w");
	std::map<Text, std::vector<Text>> by_class;

	if (!file) {
		perror(path.c_str());
		exit(1);
	}
	fprintf(file,
		"# Instruction forms of arm64 by the opcode class that the tables know them by. Generated by\n"
		"# contrib/arm64-gen from LLVM %s; classes have the name that LLVM gives to the first of their "
		"forms.\n",
		LLVM_VERSION_STRING);
	for (const Variant &v : variants)
		by_class[v.class_name].push_back("\"" + v.text + "\"");
	for (auto &each : by_class)
		wrapped(file, "form", each.second, " " + each.first);
	fclose(file);
}

static void emit_cpu(const Text &path, const char *const names[3], const Cpu &cpu, const std::vector<Variant> &variants,
		     size_t index)
{
	FILE *file = fopen(path.c_str(), "w");
	std::map<Text, std::set<Text>> rows; // figures to opcode classes
	std::map<Text, bool> guessed;
	std::vector<Text> none;
	std::set<Text> seen;

	if (!file) {
		perror(path.c_str());
		exit(1);
	}
	fprintf(file, "# Generated by contrib/arm64-gen from LLVM %s; corrections are in the overlay.\n",
		LLVM_VERSION_STRING);
	fprintf(file, "uarch %s isa arm64 \"%s\"\nalias %s\n", names[0], names[1], names[2]);
	fprintf(file, "source llvm \"LLVM %s, scheduling model of %s\"\n", LLVM_VERSION_STRING, names[0]);
	fprintf(file, "source bounds \"least and most of the rows of that class in the same model\"\n");
	fprintf(file, "param issue_width %u uops llvm\nparam rob %d entries llvm\nparam l1d_latency %u cycles llvm\n"
		"param mispredict_penalty %u cycles llvm\n", cpu.model->IssueWidth, cpu.model->MicroOpBufferSize,
		cpu.model->LoadLatency, cpu.model->MispredictPenalty);
	for (const Text &p : cpu.ports)
		fprintf(file, "port %s llvm\n", p.c_str());
	for (auto &n : cpu.names) {
		if (__builtin_popcountll(n.first) < 2)
			continue;
		Text list;
		for (size_t p = 0; p < cpu.ports.size(); p++)
			if (n.first >> p & 1)
				list += (list.empty() ? "" : "+") + cpu.ports[p];
		fprintf(file, "group %s = %s\n", n.second.c_str(), list.c_str());
	}
	for (const Variant &v : variants) {
		if (v.rows[index].empty()) {
			if (seen.insert(v.class_name).second)
				none.push_back(v.class_name);
			continue;
		}
		rows[v.rows[index]].insert(v.class_name);
		auto g = guessed.emplace(v.rows[index], true).first;
		g->second &= v.kind == GUS_INSN_SYSTEM || v.kind == GUS_INSN_FENCE;
	}
	unsigned number = 0;
	for (auto &r : rows) {
		fprintf(file, "row r%u %s%s source llvm\n", number, r.first.c_str(),
			guessed[r.first] ? " guessed" : "");
		wrapped(file, "opcode r" + std::to_string(number), std::vector<Text>(r.second.begin(), r.second.end()),
			"");
		number++;
	}
	wrapped(file, "opcode -", none, "");

	struct Bounds { unsigned uops[2], latency[2]; bool any; } bounds[GUS_INSN_CLASSES] = {};
	for (const Variant &v : variants) {
		unsigned uops, latency;
		if (sscanf(v.rows[index].c_str(), "uops %u latency %u", &uops, &latency) != 2)
			continue;
		Bounds &b = bounds[v.kind];
		if (!b.any)
			b = { { uops, uops }, { latency, latency }, true };
		b.uops[0] = std::min(b.uops[0], uops), b.uops[1] = std::max(b.uops[1], uops);
		b.latency[0] = std::min(b.latency[0], latency), b.latency[1] = std::max(b.latency[1], latency);
	}
	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++)
		if (bounds[c].any)
			fprintf(file, "class %s uops %u-%u latency %u-%u source bounds\n", class_names[c],
				bounds[c].uops[0], bounds[c].uops[1], bounds[c].latency[0], bounds[c].latency[1]);
	fprintf(file, "include arm64.forms\n");
	fclose(file);
	errs() << names[0] << ": " << number << " rows, " << cpu.ports.size() << " ports, " << cpu.names.size()
	       << " groups with ports\n";
}

static int emit_tables(Machine &machine, const std::vector<Form> &forms, const Text &folder)
{
	std::vector<Cpu> models;

	for (auto &cpu : cpus)
		models.emplace_back(machine, cpu[0]);
	std::vector<Variant> variants = variants_of(machine, forms, models);
	classes_of(variants);
	emit_shared(folder + "/arm64.forms", variants);
	for (size_t i = 0; i < models.size(); i++)
		emit_cpu(folder + "/" + cpus[i][0] + ".uarch", cpus[i], models[i], variants, i);
	errs() << variants.size() << " forms with their traits\n";
	return 0;
}

// The registers in a register's name, by their numbers in enum gus_a64_reg; the zero register is none.
static void whole_registers(const Text &name, std::set<unsigned> &out)
{
	size_t from = 0;

	for (;;) {
		size_t to = name.find('_', from);
		Register r = single(name.substr(from, to == Text::npos ? to : to - from));
		if (r.file == GUS_A64_FILE_FIXED)
			out.insert(r.number);
		else if (r.file == GUS_A64_FILE_V)
			out.insert(GUS_A64_V0 + r.number);
		else if (r.file == GUS_A64_FILE_P)
			out.insert(GUS_A64_P0 + r.number);
		else if (r.file >= 0 && !r.zero)
			out.insert(GUS_A64_X0 + r.number);
		if (to == Text::npos)
			return;
		from = to + 1;
	}
}

// "1,2;34": the numbers of the registers read, and of those written.
static Text registers_of(const Machine &machine, const MCInst &inst)
{
	const MCInstrDesc &desc = machine.instructions->get(inst.getOpcode());
	std::set<unsigned> used[2];
	Text out;

	for (unsigned i = 0; i < inst.getNumOperands(); i++)
		if (inst.getOperand(i).isReg() && inst.getOperand(i).getReg())
			whole_registers(machine.registers->getName(inst.getOperand(i).getReg()),
					used[i < desc.getNumDefs()]);
	for (MCPhysReg reg : desc.implicit_uses())
		if (!desc.isCall())
			whole_registers(machine.registers->getName(reg), used[0]);
	for (MCPhysReg reg : desc.implicit_defs())
		whole_registers(machine.registers->getName(reg), used[1]);
	for (unsigned w = 0; w < 2; w++) {
		for (unsigned number : used[w])
			out += (out.empty() || out.back() == ';' ? "" : ",") + std::to_string(number);
		if (!w)
			out += ";";
	}
	return out;
}

// Words from stdin, LLVM's opinion of each to stdout.
static int oracle(Machine &machine, const Text &name)
{
	Cpu cpu(machine, name);
	uint8_t bytes[4];

	while (fread(bytes, 1, 4, stdin) == 4) {
		uint32_t word = uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 |
				uint32_t(bytes[3]) << 24;
		int opcode = machine.decode(word);
		if (opcode < 0) {
			printf("-|-|;\n");
			continue;
		}
		MCInst inst = machine.inst;
		Text figures = cpu.figures(inst, false);
		printf("%s|%s|%s\n", machine.name(unsigned(opcode)).c_str(), figures.empty() ? "-" : figures.c_str(),
		       registers_of(machine, inst).c_str());
	}
	return 0;
}
