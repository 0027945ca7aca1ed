// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"sort"
	"strings"
)

//go:noinline
func deep(n int) int {
	if n == 0 {
		return len(strings.Repeat("x", 100))
	}
	return deep(n-1) + 1
}

//go:noinline
func work(words map[string]int) int {
	sum := 0
	for i := 0; i < 4000; i++ {
		words[fmt.Sprintf("w%d", i*7919%3000)]++
		sum += deep(i % 30)
	}
	v := make([]int, 20000)
	for i := range v {
		v[i] = i * 2654435761 % 65537
	}
	sort.Slice(v, func(a, b int) bool { return v[a] > v[b] })
	return sum + v[5]
}

func main() {
	words := map[string]int{}
	sum := 0
	done := make(chan int)
	go func() { w := map[string]int{}; x := 0; for i := 0; i < 30; i++ { x += work(w) }; done <- x }()
	for i := 0; i < 200; i++ {
		sum += work(words)
	}
	fmt.Println(sum, len(words), <-done)
}
