// SPDX-License-Identifier: MIT
// Threads, thunks of virtual bases, exceptions through frames that clean up, functions as values, frames whose size is
// known at run time only.
#include <alloca.h>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct task { virtual ~task() {} virtual double run(int depth) = 0; };
struct named : virtual task { std::string name; explicit named(std::string n) : name(std::move(n)) {} };
struct summing : named {
	std::vector<double> values;
	explicit summing(int n) : named("sum"), values(n, 0.5) {}
	double run(int depth) override;
};
struct thrown : std::runtime_error { int depth; explicit thrown(int d) : std::runtime_error("thrown"), depth(d) {} };

__attribute__((noinline)) static double fill(int n)
{
	volatile char *room = (volatile char *)alloca(64 + n % 700);

	for (int i = 0; i < 64 + n % 700; i++)
		room[i] = (char)i;
	return room[n % 64];
}

double summing::run(int depth)
{
	std::unique_ptr<std::vector<double>> copy(new std::vector<double>(values));

	if (depth)
		return run(depth - 1) + std::accumulate(copy->begin(), copy->end(), fill(depth));
	if (copy->size() % 3 == 0)
		throw thrown(depth);
	return fill((int)copy->size());
}

static double guarded(task &t, int depth)
{
	try {
		return t.run(depth);
	} catch (const thrown &e) {
		return e.what()[e.depth];
	}
}

static double all_of(const std::vector<std::function<double(int)>> &functions)
{
	double sum = 0;

	for (int i = 0; i < 3000; i++)
		sum += functions[i % functions.size()](i % 17);
	return sum;
}

static void work(double *out)
{
	std::vector<std::unique_ptr<task>> tasks;
	std::vector<std::function<double(int)>> functions;

	for (int i = 0; i < 12; i++) {
		tasks.emplace_back(new summing(50 + i));
		functions.emplace_back([&tasks, i](int depth) { return guarded(*tasks[i], depth); });
	}
	for (int round = 0; round < 40; round++)
		*out += all_of(functions);
}

int main()
{
	double sums[2] = { 0, 0 };
	std::thread other(work, &sums[1]);

	work(&sums[0]);
	other.join();
	printf("%f\n", sums[0] + sums[1]);
}
