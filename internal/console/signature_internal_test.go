package console

import (
	"math/rand/v2"
	"testing"
)

// Each number counts once, in any order, and a forgotten number does not count again.
func TestNumbersCountOnce(t *testing.T) {
	t.Parallel()
	var n numbers
	if n.use(0) {
		t.Error("zero counts")
	}
	used := map[uint64]bool{}
	dice := rand.New(rand.NewPCG(1, 2))
	for at := range uint64(20_000) {
		for range 3 { // near the highest, as tabs send them, and anywhere
			number := 1 + at - dice.Uint64N(min(at+1, 64))
			if dice.IntN(4) == 0 {
				number = 1 + dice.Uint64N(at+1)
			}
			fresh := n.use(number)
			if fresh && used[number] {
				t.Fatalf("%d counts twice", number)
			}
			if !fresh && !used[number] && number+maxNumbers > at+1 {
				t.Fatalf("%d is new, and does not count while the highest is at most %d", number, at+1)
			}
			used[number] = used[number] || fresh
		}
	}
	if len(n.used) > maxNumbers {
		t.Errorf("%d numbers are remembered", len(n.used))
	}
}
