// SPDX-License-Identifier: MIT
#include "gracemont.h"

#include <bitset>

const CpuEntry gracemont_entry = { "gracemont", "ADLP", "Intel Gracemont (E core of Alder Lake)", "adl-e grt",
				   "AlderlakePModel" };

// As Intel numbers them: four integer ALUs, store data, load, store address, three vector ports, vector store data, two
// for branches; 17 in all.
const std::vector<std::string> gracemont_ports = {
	"p0", "p1", "p2", "p3", "p8", "p9", "p10", "p11", "p12", "p13", "p20", "p21", "p22", "p28", "p29", "p30", "p31",
};
const std::vector<std::string> gracemont_units = { "divider", "fpdivider" };
const std::vector<Param> gracemont_params = {
	{ "decode_clusters", "2", "entries" }, { "decode_width", "6", "instructions" }, { "issue_width", "5", "uops" },
	{ "retire_width", "8", "uops" },       { "rob", "256", "entries" },           { "vector_width", "16", "bytes" },
};

namespace {

enum : uint64_t {
	ALU = 0xf, SHIFT = 0x3, MUL = 0x2, STORE_DATA = 0x30, LOAD = 0xc0, STORE_ADDRESS = 0x300, VECTOR = 0x1c00,
	FP = 0xc00, VECTOR_STORE_DATA = 0x6000, BRANCH = 0x18000,
};
// The P core's ports, bits 0 to 11.
enum : uint64_t { P_LOAD = 0x40c, P_STORE_ADDRESS = 0x180, P_STORE_DATA = 0x210, P_SHIFT = 0x41, P_MUL = 0x2 };

// What vector classes run on, and how long they take where that is not as on the P core.
const struct { const char *name; uint64_t ports; int latency; bool divides; } vector_classes[] = {
	{ "fp_add", FP, 3, false },       { "fp_mul", FP, 4, false },       { "fp_fma", FP, 6, false },
	{ "fp_div", FP, 0, true },        { "fp_sqrt", FP, 0, true },       { "convert", FP, 0, false },
	{ "shuffle", FP, 1, false },      { "vec_logic", VECTOR, 1, false }, { "vec_int", VECTOR, 1, false },
	{ "vec_mul", FP, 4, false },      { "vec_shift", FP, 1, false },    { "crypto", FP, 0, false },
};

bool inside(uint64_t mask, uint64_t ports) { return !(mask & ~ports); }

bool is_vector(const std::string &form)
{
	for (const char *kind : { "XMM", "YMM", "(MM", " MM", "(ST", " ST" })
		if (form.find(kind) != std::string::npos)
			return true;
	return false;
}

} // namespace

// Loads, stores and branches go to ports of their own; a load and its operation are one uop, a store's address and data
// are one; vectors of 256 bits are two of 128.
Figures gracemont_figures(const Figures &p, const std::string &form, const std::string &class_name)
{
	bool vector = is_vector(form), wide = form.find("YMM") != std::string::npos;
	Figures f;
	unsigned load = 0, store = 0, operations = 0, times = wide ? 2 : 1;
	uint64_t vector_ports = FP;
	int latency = 0;
	bool divides = false;

	for (const auto &c : vector_classes)
		if (vector && class_name == c.name) {
			vector_ports = c.ports;
			latency = c.latency;
			divides = c.divides;
		}
	for (const auto &[mask, cycles] : p.uses) {
		uint64_t ports;

		if (inside(mask, P_LOAD)) {
			load += cycles;
			ports = LOAD;
		} else if (inside(mask, P_STORE_ADDRESS)) {
			store += cycles;
			ports = STORE_ADDRESS;
		} else if (inside(mask, P_STORE_DATA)) {
			ports = vector ? VECTOR_STORE_DATA : STORE_DATA;
		} else {
			operations += cycles;
			ports = vector					  ? vector_ports
				: class_name.compare(0, 6, "branch") == 0 ? BRANCH
				: mask == P_MUL				  ? MUL
				: inside(mask, P_SHIFT)			  ? SHIFT
									  : ALU;
		}
		f.uses[ports] += cycles * times;
	}
	f.uops = std::max({ operations, load, store, p.uops ? 1u : 0u }) * times;
	f.guessed = p.guessed;
	// The results of narrow operations that are one uop there take as long as the table above says.
	f.latency = latency && operations == 1 && p.latency > 0 ? latency : p.latency;
	f.loadlat = p.loadlat ? std::max(p.loadlat + f.latency - p.latency, 0) : 0;
	if (divides)
		f.units["fpdivider"] = unsigned(std::max(f.latency, 1)) * times;
	else if (class_name == "div")
		f.units["divider"] = unsigned(std::max(f.latency, 1));
	return f;
}
