// SPDX-License-Identifier: MIT
use std::collections::HashMap;
trait Shape { fn area(&self, n: u32) -> f64; }
struct Square(f64);
struct Circle(f64);
impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: u32) -> f64 { if n == 0 { self.0 * self.0 } else { self.area(n - 1) + 1.0 } }
}
impl Shape for Circle {
    #[inline(never)]
    fn area(&self, n: u32) -> f64 { if n == 0 { self.0 * 3.14 } else { self.area(n - 1) * 1.001 } }
}
#[inline(never)]
fn work(shapes: &[Box<dyn Shape>], words: &mut HashMap<String, u32>) -> f64 {
    let mut sum = 0.0;
    for i in 0..4000u32 {
        sum += shapes[(i % 64) as usize].area(i % 25);
        *words.entry(format!("w{}", i * 7919 % 3000)).or_insert(0) += 1;
    }
    let mut v: Vec<u64> = (0..20000u64).map(|i| i * 2654435761 % 65537).collect();
    v.sort_by(|a, b| b.cmp(a));
    sum + v[5] as f64
}
fn main() {
    let shapes: Vec<Box<dyn Shape>> =
        (0..64).map(|i| if i % 2 == 0 { Box::new(Square(i as f64)) as Box<dyn Shape> }
            else { Box::new(Circle(i as f64)) }).collect();
    let mut words = HashMap::new();
    let mut sum = 0.0;
    for _ in 0..800 { sum += work(&shapes, &mut words); }
    let t = std::thread::spawn(move || { let mut w = HashMap::new();
        let s: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.0))];
        let mut x = 0.0; for _ in 0..2000 { for i in 0..64 { x += s[0].area(i); } *w.entry(1).or_insert(0) += 1; } x });
    println!("{} {} {}", sum, words.len(), t.join().unwrap());
}
