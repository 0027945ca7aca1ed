// SPDX-License-Identifier: MIT
// Generic functions, iterators over closures, panics that are caught, and threads.
use std::collections::BTreeMap;
use std::panic;

trait Visit { fn visit<F: FnMut(u64) -> u64>(&self, depth: u32, f: &mut F) -> u64; }
struct Node { value: u64, children: Vec<Node> }
impl Visit for Node {
    #[inline(never)]
    fn visit<F: FnMut(u64) -> u64>(&self, depth: u32, f: &mut F) -> u64 {
        let own = f(self.value);
        self.children.iter().map(|c| c.visit(depth + 1, f)).fold(own, |a, b| a.wrapping_add(b))
    }
}
fn tree(depth: u32, value: u64) -> Node {
    let children = if depth == 0 { vec![] } else { (0..3).map(|i| tree(depth - 1, value * 3 + i)).collect() };
    Node { value, children }
}
#[inline(never)]
fn risky(n: u64) -> u64 {
    if n % 5 == 0 { panic!("five {}", n); }
    (0..n % 100).map(|x| x * x).filter(|x| x % 3 != 0).sum()
}
#[inline(never)]
fn sorted<K: Ord + Clone, V: Clone>(m: &BTreeMap<K, V>) -> Vec<(K, V)> {
    let mut v: Vec<(K, V)> = m.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    v.sort_by(|a, b| b.0.cmp(&a.0));
    v
}
fn work(rounds: u64) -> u64 {
    let root = tree(7, 1);
    let mut sum = 0u64;
    for round in 0..rounds {
        let mut seen = BTreeMap::new();
        sum = sum.wrapping_add(root.visit(0, &mut |v| { *seen.entry(v % 500).or_insert(0u32) += 1; v ^ round }));
        sum = sum.wrapping_add(sorted(&seen).len() as u64);
        for n in 0..200 { sum = sum.wrapping_add(panic::catch_unwind(|| risky(n + round)).unwrap_or(1)); }
    }
    sum
}
fn main() {
    panic::set_hook(Box::new(|_| {}));
    let other = std::thread::spawn(|| work(1500));
    println!("{} {}", work(1500), other.join().unwrap());
}
