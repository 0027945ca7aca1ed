// SPDX-License-Identifier: MIT
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Shape { area(n) { return n ? this.area(n - 1) + 1 : 2; } }
const s = new Shape(); let sum = 0; const m = new Map();
for (let i = 0; i < 300; i++) { sum += fib(24); for (let k = 0; k < 3000; k++) { m.set('k' + k, s.area(k % 30)); }
  sum += JSON.stringify([...m]).length; sum += [...m.keys()].sort((a, b) => a < b ? 1 : -1).length;
  sum += 'abcabc'.repeat(2000).replace(/b./g, x => x + x).length; }
console.log(sum);
