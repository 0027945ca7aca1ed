// SPDX-License-Identifier: MIT
// Promises, async functions, generators, closures in closures, and callbacks of built-in functions.
const compose = (n) => n ? ((inner) => (x) => inner(x + n) ^ n)(compose(n - 1)) : (x) => x * 31 % 65537;
const f = compose(14);
function* numbers(n) { for (let i = 0; i < n; i++) yield f(i); }
const nested = (depth, values) => depth ? values.map((v) => nested(depth - 1, [v, v + 1, v + 2]))
	.flat().reduce((a, b) => (a + b) % 1000003, 0) : values.reduce((a, b) => a + f(b), 0);
async function step(i) {
	await null;
	let sum = 0;
	for (const v of numbers(400)) sum ^= v;
	return sum + nested(4, [i]);
}
async function chain(n) { return n ? (await step(n)) + (await chain(n - 1)) : 0; }
async function main() {
	let sum = 0;
	for (let round = 0; round < 150; round++)
		sum += (await Promise.all([chain(30), chain(20), step(1)])).reduce((a, b) => a + b);
	try { JSON.parse('{"a": [1, 2, ', () => 0); } catch (e) { sum += e.message.length; }
	console.log(sum);
}
main();
