// SPDX-License-Identifier: MIT
// What tests/data/screen/opt/shape/libshape.so was made of: functions whose names are as long as C++ has them, by
//   g++ -g -O1 -shared -fPIC -fno-asynchronous-unwind-tables -ffile-prefix-map=$PWD=/src -Wl,--build-id=none \
//     -nostdlib -Wl,-z,max-page-size=4096,-z,noseparate-code -o libshape.so shape.cc
namespace engine {
template <class Key, class Value> struct pair { Key first; Value second; };
template <class T> struct allocator { T *p; };
template <class T, class A> struct vector {
	T *begin, *end;
	__attribute__((noinline)) long realloc_insert(long n)
	{
		long sum = 0;
		for (T *at = begin; at != end; at++)
			sum += at->first * n + at->second;
		return sum;
	}
};
namespace {
__attribute__((noinline)) long mix(const long *table, long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		for (long k = 0; k < i; k++)
			sum ^= table[k] + i;
	return sum;
}
}
}
typedef engine::pair<long, unsigned char> entry;
template struct engine::vector<entry, engine::allocator<entry> >;
extern "C" long run(engine::vector<entry, engine::allocator<entry> > *v, const long *table, long n)
{
	return v->realloc_insert(n) + engine::mix(table, n);
}
