/* SPDX-License-Identifier: MIT */
/* `node flame_tree.js TREE.JS SMALL.HTML MANY.HTML`: the functions of a flame graph's page that need no browser. */
'use strict';
const fs = require('fs');
const assert = require('assert').strict;

const names = ['Calls', 'Callers', 'pathOf', 'nodeAt', 'layOut', 'boxAt', 'patternOf', 'exactly', 'search', 'functions',
	'hashOf', 'decode', 'colourOf', 'percent', 'timeOf', 'grouped', 'counted', 'amount', 'shortened', 'fitted',
	'readLink', 'writeLink', 'KINDS', 'NONE', 'NARROWEST'];
const tree = new Function(`${fs.readFileSync(process.argv[2], 'utf8')}\nreturn { ${names.join(', ')} };`)();
let failed = 0;

function test(what, body) {
	try {
		body();
		console.log(`ok - ${what}`);
	} catch (error) {
		console.log(`not ok - ${what}: ${String(error.message).slice(0, 2000)}`);
		failed = 1;
	}
}

function page(path) {
	const text = fs.readFileSync(path, 'utf8');

	return tree.decode(JSON.parse(text.match(/<script type="application\/json" id="data">([^<]*)<\/script>/u)[1]));
}

/* main(10) [ a(5) [ b 3, a 2 ], b(4) [ c 4 ], 1 of its own ] and other(2). Samples are as many as weights. */
const data = tree.decode({
	strings: ['', 'a', 'b', 'c', 'main', 'other', '/m'],
	frames: [1, 6, 0, 2, 6, 1, 3, 6, 2, 4, 6, 0, 5, 6, 4],
	nodes: [3, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 1, 1, 3, 3, 1, 2, 0, 0, 2, 0, 4, 4, 4, 3, 2, 2],
});
const calls = new tree.Calls(data);
const nodesOf = (t, node = 0, found = []) => {
	for (const child of t.children(node)) {
		const path = tree.pathOf(t, child).map((f) => data.frames[f].name).join('>');

		found.push([path, t.total(child), t.samples(child), t.self(child)]);
		nodesOf(t, child, found);
	}
	return found;
};

test('kinds are in the order that the program has them in', () => {
	assert.deepEqual(data.frames.map((f) => f.kind), ['program', 'library', 'kernel', 'program', 'inlined']);
	assert.deepEqual(Object.keys(tree.KINDS),
		['program', 'library', 'kernel', 'jit', 'inlined', 'unknown', 'task']);
});

test('nodes have callers, and weights with all that they call', () => {
	assert.deepEqual(nodesOf(calls), [['main', 10, 10, 1], ['main>a', 5, 5, 0], ['main>a>a', 2, 2, 2],
		['main>a>b', 3, 3, 3], ['main>b', 4, 4, 0], ['main>b>c', 4, 4, 4], ['other', 2, 2, 2]]);
	assert.deepEqual([calls.total(0), calls.samples(0), calls.self(0), calls.parent(0)], [12, 12, 0, tree.NONE]);
});

test('the same from the leaves', () => {
	const callers = new tree.Callers(calls);

	assert.deepEqual(nodesOf(callers), [['c', 4, 4, 4], ['c>b', 4, 4, 0], ['c>b>main', 4, 4, 0],
		['b', 3, 3, 3], ['b>a', 3, 3, 0], ['b>a>main', 3, 3, 0],
		['a', 2, 2, 2], ['a>a', 2, 2, 0], ['a>a>main', 2, 2, 0], ['other', 2, 2, 2], ['main', 1, 1, 1]]);
	assert.deepEqual([callers.total(0), callers.samples(0), callers.depth(callers.children(0)[0])], [12, 12, 1]);
});

test('a path leads to its node, or to where it leaves the tree', () => {
	assert.equal(tree.nodeAt(calls, []), 0);
	for (let i = 1; i < calls.size; i++)
		assert.equal(tree.nodeAt(calls, tree.pathOf(calls, i)), i);
	assert.equal(tree.nodeAt(calls, [3, 0, 4]), tree.nodeAt(calls, [3, 0]));
	assert.equal(tree.nodeAt(calls, [99]), 0);
});

test('boxes lie above their callers, and are as wide as their share', () => {
	const rows = tree.layOut(calls, 0, 120).map((row) => row.map((b) => [b.node, b.x, b.width]));

	assert.deepEqual(rows, [[[0, 0, 120]], [[1, 0, 100], [7, 100, 20]], [[2, 0, 50], [5, 50, 40]],
		[[3, 0, 20], [4, 20, 30], [6, 50, 40]]]);
});

test('a node that is zoomed to has the whole width, and so have its callers', () => {
	const rows = tree.layOut(calls, 2, 100).map((row) => row.map((b) => [b.node, b.x, b.width]));

	assert.deepEqual(rows, [[[0, 0, 100]], [[1, 0, 100]], [[2, 0, 100]], [[3, 0, 40], [4, 40, 60]]]);
});

test('what is too narrow shares a box', () => {
	// 12 pixels for 12 * 4: a weight is a quarter of a pixel, so 2 are just wide enough.
	const thin = tree.decode({ strings: ['', 'a', 'b', 'c', 'd', 'e'],
		frames: [1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 0],
		nodes: [0, 0, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 3, 1, 1, 1, 4, 1, 43, 1] });
	const rows = tree.layOut(new tree.Calls(thin), 0, 12)[1].map((b) => [b.node, b.within, b.x, b.width]);

	assert.deepEqual(rows, [[tree.NONE, 0, 0, 0.5], [3, undefined, 0.5, 0.5], [5, undefined, 1.25, 10.75]]);
	const last = tree.decode({ strings: ['', 'a', 'b', 'c'], frames: [1, 0, 0, 2, 0, 0, 3, 0, 0],
		nodes: [0, 0, 10, 1, 1, 1, 1, 1, 2, 1, 1, 1] });

	assert.deepEqual(tree.layOut(new tree.Calls(last), 0, 3)[1].map((b) => [b.node, b.x, b.width.toFixed(3)]),
		[[1, 0, '2.500'], [tree.NONE, 2.5, '0.500']]);
});

test('an empty profile is laid out', () => {
	const empty = new tree.Calls(tree.decode({ strings: [''], frames: [], nodes: [] }));

	assert.deepEqual(tree.layOut(empty, 0, 100), [[{ node: 0, row: 0, x: 0, width: 0 }]]);
	assert.deepEqual(new tree.Callers(empty).children(0), []);
	assert.deepEqual(tree.functions(empty), []);
	assert.equal(tree.percent(0, 0), '0.00 %');
});

test('a place in a row has its box', () => {
	const row = [{ node: 1, x: 0, width: 10 }, { node: 2, x: 10, width: 5 }, { node: 3, x: 20, width: 1 }];
	const at = (x) => (tree.boxAt(row, x) || { node: null }).node;

	assert.deepEqual([-1, 0, 9.9, 10, 14.9, 15, 19.9, 20, 20.9, 21].map(at),
		[null, 1, 1, 2, 2, null, null, 3, 3, null]);
	assert.equal(tree.boxAt(undefined, 1), null);
	assert.equal(tree.boxAt([], 1), null);
});

test('a stack counts once in a search', () => {
	assert.deepEqual(tree.search(calls, /^a$/u),
		{ means: [true, false, false, false, false], weight: 5, frames: 1 });
	assert.equal(tree.search(calls, /^[ab]$/u).weight, 9);
	assert.equal(tree.search(calls, /./u).weight, 12);
	assert.equal(tree.search(calls, /none/u).weight, 0);
});

test('capitals in a pattern matter, others do not', () => {
	assert.ok(tree.patternOf('abc').test('xABCx'));
	assert.ok(!tree.patternOf('Abc').test('abc'));
	assert.ok(tree.patternOf('\\Sb').test('AB')); // what stands behind a backslash is no letter
	assert.throws(() => tree.patternOf('('), SyntaxError);
	assert.throws(() => tree.patternOf('*'), SyntaxError);
});

test('a pattern for one name', () => {
	for (const name of ['f', 'operator()', 'a[1]{2}|^$.*+?\\/', 'x'.repeat(1000), '\u{1f525}', 'A::B']) {
		assert.ok(tree.patternOf(tree.exactly(name)).test(name));
		assert.ok(!tree.patternOf(tree.exactly(name)).test(`${name}y`));
	}
	for (const name of ['x'.repeat(1001), `${'x'.repeat(999)}\u{1f525}`, '*'.repeat(65000)])
		assert.ok(tree.patternOf(tree.exactly(name)).test(name));
});

test('functions have their own weight and all of it, in recursion once', () => {
	assert.deepEqual(tree.functions(calls).map((f) => [data.frames[f.frame].name, f.self, f.total]),
		[['c', 4, 4], ['b', 3, 7], ['a', 2, 5], ['other', 2, 2], ['main', 1, 10]]);
});

test('a name has one colour, in the light and in the dark', () => {
	const frame = (name, kind) => ({ name, kind });

	assert.equal(tree.hashOf(''), tree.hashOf(''));
	assert.notEqual(tree.hashOf('f1'), tree.hashOf('f2'));
	for (const kind of Object.keys(tree.KINDS))
		for (const dark of [false, true])
			assert.match(tree.colourOf(frame('main', kind), dark), /^hsl\(\d+(\.\d)? \d+% \d+(\.\d)?%\)$/u);
	for (const name of ['a', 'main', 'operator new', 'x'.repeat(1000)]) {
		const [hue, , light] = tree.colourOf(frame(name, 'kernel'), false).match(/\d+(\.\d)?/gu).map(Number);
		const dark = Number(tree.colourOf(frame(name, 'kernel'), true).match(/([\d.]+)%\)$/u)[1]);

		assert.ok(hue >= 266 && hue <= 290 && light >= 68 && light <= 82 && dark >= 26 && dark <= 36);
	}
	assert.notEqual(tree.colourOf(frame('f', 'kernel'), false), tree.colourOf(frame('f', 'library'), false));
	assert.notEqual(tree.colourOf(frame('f', 'kernel'), false), tree.colourOf(frame('f', 'kernel'), true));
});

test('numbers', () => {
	assert.deepEqual([0, 999, 1000, 999999, 1e6, 999999999, 1e9, 61e9].map(tree.timeOf),
		['0 ns', '999 ns', '1.0 us', '1000.0 us', '1.00 ms', '1000.00 ms', '1.000 s', '61.000 s']);
	assert.deepEqual([0, 999, 1000, 1234567].map(tree.grouped), ['0', '999', '1,000', '1,234,567']);
	assert.deepEqual([0, 1, 2, 1000].map((n) => tree.counted(n, 'sample')),
		['0 samples', '1 sample', '2 samples', '1,000 samples']);
	assert.deepEqual([0, 1, 2].map((n) => tree.counted(n, 'time off', 'times off')),
		['0 times off', '1 time off', '2 times off']);
	assert.equal(tree.percent(1, 3), '33.33 %');
	assert.equal(tree.amount(1500, { nsPerWeight: 2, unit: 'ns' }), '3.0 us');
	assert.equal(tree.amount(1500, { nsPerWeight: null, unit: 'cycles' }), '1,500 cycles');
});

test('texts that are cut', () => {
	const measure = (text) => [...text].length * 10; // each letter is ten pixels wide

	assert.equal(tree.fitted('abcdef', 60, measure), 'abcdef');
	assert.equal(tree.fitted('abcdef', 59, measure), 'abcd…');
	assert.equal(tree.fitted('abcdef', 30, measure), 'ab…');
	assert.equal(tree.fitted('abcdef', 29, measure), '');
	assert.equal(tree.fitted('abcdef', 0, measure), '');
	assert.equal(tree.fitted('', 10, measure), '');
	assert.ok(tree.fitted('x'.repeat(1e6), 100, measure).length === 10);
	assert.equal(tree.fitted('ab\u{1f525}cdef', 40, (text) => text.length * 10), 'ab…'); // not half of the third
	for (let width = 30; width < 100; width++) // the longest that fits
		assert.equal(tree.fitted('abcdefghijkl', width, measure).length, Math.floor(width / 10));
	tree.fitted('x'.repeat(1e6), 100, (text) => assert.ok(text.length <= 102) || measure(text));
	assert.equal(tree.shortened('abcdef', 6), 'abcdef');
	assert.equal(tree.shortened('abcdefg', 6), 'ab…fg');
	assert.equal(tree.shortened('abcdefgh', 7), 'abc…fgh');
});

test('links to a view', () => {
	for (const view of [{ search: '', zoom: [], inverted: false },
		{ search: 'a&b=c#%', zoom: [1, 20, 3], inverted: true }])
		assert.deepEqual(tree.readLink(tree.writeLink(view)), view);
	assert.equal(tree.writeLink({ search: '', zoom: [], inverted: false }), '');
	assert.deepEqual(tree.readLink('#zoom=1.x&inverted=yes'), { search: '', zoom: [], inverted: false });
	assert.deepEqual(tree.readLink('#zoom=-1'), { search: '', zoom: [], inverted: false });
});

test('a page of gusprof is read', () => {
	const small = new tree.Calls(page(process.argv[3]));

	assert.deepEqual([small.total(0), small.samples(0)], [100000000, 8]);
	assert.equal(tree.functions(small)[0].self, 40000000);
	assert.equal(tree.search(small, /^qsort$/u).weight, 19000000);
});

test('both trees of many stacks hold all of them', () => {
	const many = new tree.Calls(page(process.argv[4])), callers = new tree.Callers(many);
	const sums = (t, node) => t.children(node).reduce((sum, c) => sum + t.total(c), 0);

	assert.equal(sums(callers, 0), many.total(0));
	assert.equal(many.samples(0), 20000);
	for (const child of callers.children(0))
		assert.ok(sums(callers, child) <= callers.total(child));
	for (let i = 0; i < many.size; i++)
		assert.equal(sums(many, i) + many.self(i), many.total(i));
	for (const zoomed of [0, 5, many.size - 1])
		for (const row of tree.layOut(many, zoomed, 4000))
			for (let i = 1; i < row.length; i++)
				assert.ok(row[i].x >= row[i - 1].x + row[i - 1].width - 1e-6);
});

process.exit(failed);
