// SPDX-License-Identifier: MIT
// A program whose time is in instantiated templates, with names as long as they get: a matrix over several number
// types, a sort with comparators as template arguments, an ordered map of vectors, and a visitor over variants.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace shapes {

struct Square { double side; };
struct Circle { double radius; };
struct Text { std::string words; };
using Shape = std::variant<Square, Circle, Text>;

template <typename... Kinds> struct Overloaded : Kinds... { using Kinds::operator()...; };
template <typename... Kinds> Overloaded(Kinds...) -> Overloaded<Kinds...>;

template <typename Container> [[gnu::noinline]] double area(const Container &shapes)
{
	double sum = 0;

	for (const auto &shape : shapes)
		sum += std::visit(Overloaded{
			[](const Square &s) { return s.side * s.side; },
			[](const Circle &c) { return 3.14159 * c.radius * c.radius; },
			[](const Text &t) { return static_cast<double>(std::count(t.words.begin(), t.words.end(), 'e'));
				},
		}, shape);
	return sum;
}

} // namespace shapes

namespace numbers {

struct Random {
	std::uint64_t state = 88172645463325252u;
	std::uint64_t operator()()
	{
		state ^= state << 13;
		state ^= state >> 7;
		return state ^= state << 17;
	}
};

template <typename Number, std::size_t N> struct Matrix {
	std::vector<Number> cells = std::vector<Number>(N * N);

	[[gnu::noinline]] Matrix operator*(const Matrix &other) const
	{
		Matrix product;

		for (std::size_t i = 0; i < N; i++)
			for (std::size_t k = 0; k < N; k++)
				for (std::size_t j = 0; j < N; j++)
					product.cells[i * N + j] += cells[i * N + k] * other.cells[k * N + j];
		return product;
	}
};

template <typename Number, std::size_t N> [[gnu::noinline]] Number power(unsigned times)
{
	Matrix<Number, N> m, result;

	for (std::size_t i = 0; i < N * N; i++)
		m.cells[i] = static_cast<Number>(i % 7) / static_cast<Number>(3);
	result = m;
	while (--times)
		result = result * m;
	return result.cells[N + 1];
}

template <typename Key> struct Backwards {
	bool operator()(const Key &a, const Key &b) const { return b < a; }
};

// Not std::sort: a template of our own, recursive, with the comparator as an argument.
template <typename Iterator, typename Less> [[gnu::noinline]] void quicksort(Iterator first, Iterator last, Less less)
{
	while (last - first > 16) {
		auto pivot = first[(last - first) / 2];
		auto low = first, high = last - 1;

		while (low <= high) {
			while (less(*low, pivot))
				++low;
			while (less(pivot, *high))
				--high;
			if (low <= high)
				std::swap(*low++, *high--);
		}
		quicksort(low, last, less);
		last = high + 1;
	}
	for (auto i = first; i < last; ++i)
		for (auto j = i; j > first && less(*j, *(j - 1)); --j)
			std::swap(*j, *(j - 1));
}

template <typename Key, typename Less> [[gnu::noinline]] std::uint64_t sort_all(Random &random, std::size_t n)
{
	std::vector<Key> keys;

	for (std::size_t i = 0; i < n; i++)
		keys.push_back(static_cast<Key>(random() >> 11));
	quicksort(keys.begin(), keys.end(), Less());
	return static_cast<std::uint64_t>(keys[n / 2]);
}

template <typename Key, typename Value>
[[gnu::noinline]] std::size_t index_all(Random &random, std::map<Key, std::vector<Value>> &index, std::size_t n)
{
	std::size_t longest = 0;

	for (std::size_t i = 0; i < n; i++) {
		auto &values = index[static_cast<Key>(random() % 50000)];

		values.push_back(static_cast<Value>(i));
		longest = std::max(longest, values.size());
	}
	return longest;
}

} // namespace numbers

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 6;
	numbers::Random random;
	std::vector<shapes::Shape> all;
	double sum = 0;

	for (unsigned i = 0; i < 300000; i++) {
		switch (random() % 3) {
		case 0: all.emplace_back(shapes::Square{static_cast<double>(i)}); break;
		case 1: all.emplace_back(shapes::Circle{static_cast<double>(i)}); break;
		default: all.emplace_back(shapes::Text{"the quick brown fox and the lazy dog"}); break;
		}
	}
	for (unsigned i = 0; i < rounds; i++) {
		std::map<std::uint32_t, std::vector<std::uint16_t>> index;

		sum += numbers::power<double, 128>(30) + static_cast<double>(numbers::power<std::uint32_t, 128>(30));
		sum += static_cast<double>(numbers::sort_all<double, std::less<double>>(random, 700000));
		sum += static_cast<double>(numbers::sort_all<std::int64_t,
					   numbers::Backwards<std::int64_t>>(random, 700000));
		sum += static_cast<double>(numbers::index_all(random, index, 400000));
		for (unsigned j = 0; j < 20; j++)
			sum += shapes::area(all);
	}
	std::printf("%g\n", sum);
	return 0;
}
