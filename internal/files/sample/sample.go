// Package sample keeps the tests of every commit short: with go test -short, a test that has many like
// cases runs a few of them. Without the flag it runs all.
package sample

import (
	"strconv"
	"testing"
)

// Of returns the cases to run: all of them, or n spread evenly over them with -short. The test's log says
// how many it leaves out.
func Of[T any](tb testing.TB, n int, cases []T) []T {
	tb.Helper()
	if !testing.Short() || n >= len(cases) {
		return cases
	}
	tb.Logf("-short: %d of %d cases", n, len(cases))
	few := make([]T, n)
	for i := range few {
		few[i] = cases[i*len(cases)/n]
	}
	return few
}

// Times returns how often a test repeats its random draws: most, or few with -short.
func Times(few, most int) int {
	if testing.Short() {
		return few
	}
	return most
}

// Flag returns the argument that makes another test binary run as much as this one.
func Flag() string { return "-test.short=" + strconv.FormatBool(testing.Short()) }

// OnlyFull skips a test with -short, which takes long and has quicker ones beside it. make full runs it.
func OnlyFull(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short leaves it to make full")
	}
}
