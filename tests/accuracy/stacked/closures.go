// SPDX-License-Identifier: MIT
// Goroutines, closures in closures, methods by interfaces, deferred functions and panics that are recovered.
package main

import (
	"fmt"
	"strings"
	"sync"
)

type visitor interface{ visit(n *node, depth int) int }
type node struct {
	value    int
	children []*node
}
type counting struct{ seen map[string]int }
type folding struct{ by func(int, int) int }

func (c *counting) visit(n *node, depth int) int {
	c.seen[strings.Repeat("k", depth)+fmt.Sprint(n.value%50)]++
	sum := 0
	for _, child := range n.children {
		sum += c.visit(child, depth+1)
	}
	return sum + len(c.seen)
}

func (f folding) visit(n *node, depth int) int {
	sum := n.value
	for _, child := range n.children {
		sum = f.by(sum, f.visit(child, depth+1))
	}
	return sum
}

func tree(depth, value int) *node {
	n := &node{value: value}
	for i := 0; depth > 0 && i < 3; i++ {
		n.children = append(n.children, tree(depth-1, value*3+i))
	}
	return n
}

//go:noinline
func risky(n int) (result int) {
	defer func() {
		if r := recover(); r != nil {
			result = len(fmt.Sprint(r))
		}
	}()
	if n%5 == 0 {
		panic(n)
	}
	return n
}

//go:noinline
func compose(n int) func(int) int {
	if n == 0 {
		return func(x int) int { return risky(x) + 1 }
	}
	inner := compose(n - 1)
	return func(x int) int { return inner(x+n) ^ n }
}

func work(rounds int) int {
	root, f, sum := tree(6, 1), compose(12), 0
	visitors := []visitor{&counting{map[string]int{}}, folding{func(a, b int) int { return a*31 + f(b%97) }}}
	for i := 0; i < rounds; i++ {
		for _, v := range visitors {
			sum ^= v.visit(root, 0)
		}
	}
	return sum
}

func main() {
	var group sync.WaitGroup
	results := make(chan int, 4)
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func(i int) { defer group.Done(); results <- work(800 + 7*i) }(i)
	}
	group.Wait()
	fmt.Println(<-results ^ <-results ^ <-results ^ <-results)
}
