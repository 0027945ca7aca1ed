// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct shape { virtual ~shape() {} virtual double area(int n) const = 0; };
struct square : shape { double side; explicit square(double s) : side(s) {}
	double area(int n) const override { return n ? area(n - 1) + side : side * side; } };
struct circle : shape { double r; explicit circle(double s) : r(s) {}
	double area(int n) const override { volatile char room[300]; room[n] = 1;
		return n ? area(n - 1) * 1.001 : r * room[n]; } };
template <typename F> __attribute__((noinline)) static double apply(int n, F f)
{ double sum = 0; for (int i = 0; i < n; i++) sum += f(i); return sum; }
__attribute__((noinline)) static int thrower(int n) { if (n % 7 == 0) throw std::runtime_error("seven"); return n; }
static int compare(const void *a, const void *b) { return *(const int *)a < *(const int *)b ? -1 : 1; }
int main()
{
	std::vector<shape *> shapes;
	std::map<std::string, int> words;
	double sum = 0;
	for (int i = 0; i < 100; i++)
	{ shapes.push_back(i % 2 ? (shape *)new square(i) : new circle(i)); }
	for (int round = 0; round < 600; round++) {
		sum += apply(2000, [&](int i) { return shapes[i % 100]->area(i % 20); });
		for (int i = 0; i < 2000; i++) words[std::to_string(i * 7919 % 5000)]++;
		for (int i = 0; i < 300; i++)
		{ try { sum += thrower(i); } catch (const std::exception &e) { sum -= e.what()[0]; } }
		std::vector<int> v(20000);
		for (size_t i = 0; i < v.size(); i++) v[i] = (int)(i * 2654435761u >> 3);
		if (round % 2) std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
		else qsort(v.data(), v.size(), sizeof(v[0]), compare);
		sum += v[17];
	}
	printf("%f %zu\n", sum, words.size());
}
