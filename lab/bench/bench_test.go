package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const reportedLines = `goos: linux
BenchmarkHook-4   	      40	  52 ns/op	         4.10 small-gate/cat	         2.80 small-alone/cat
BenchmarkDecide/100-4   	  900	    1500 ns/op	  10 B/op
BenchmarkDecide/100000-4   	  900	    3000 ns/op	  10 B/op
PASS
`

func measuredOnce(t *testing.T, text string) figures {
	t.Helper()
	f := figures{}
	if err := f.parseLines(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFigures: the table has the medians and spreads of the benchmarks, and the goals.
func TestFigures(t *testing.T) {
	var rounds []figures
	for _, value := range []string{"4.10", "3.20", "9.50"} {
		rounds = append(rounds, measuredOnce(t, strings.Replace(reportedLines, "4.10", value, 1)))
	}
	got := table(rows[:3], rounds)
	for _, want := range []string{
		"Medians of 3 interleaved runs.",
		"| hook through a warm gate, durable | `cat` | 4.10 | 3.20, 9.50 | 3.00 | 2.00 |\n",
		"| hook without a gate | `cat` | 2.80 | 2.80, 2.80 | 2.60 | 2.00 |\n",
		"| a Go program that copies its input | `cat` | not measured |  | – | – |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
	grown := growthTable(growths[0], rounds)
	if !strings.Contains(grown, "| 100 | 1.5 | 1.5, 1.5 |  |\n| 100000 | 3 | 3, 3 | 2.00 of 1000 |\n") {
		t.Error(grown)
	}
	for _, picture := range []string{plotRows(rows[:3], rounds), plotGrowth(&growths[0], rounds)} {
		whole := strings.HasPrefix(picture, "<svg ") && strings.HasSuffix(picture, "</svg>\n")
		if !whole || strings.Contains(picture, "%!") {
			t.Error(picture)
		}
	}
	if err := (figures{}).parseLines(strings.NewReader("BenchmarkX-4 1 2 ns/op 3\n")); err == nil {
		t.Error("a value without a unit is read")
	}
}

// TestKnee: the table marks the size from which a figure grows with the sizes.
func TestKnee(t *testing.T) {
	lines := "BenchmarkWatchers/100/umpire-2 10 1 ns/op 2 last-ms\n" +
		"BenchmarkWatchers/1000/umpire-2 10 1 ns/op 3 last-ms\nBenchmarkWatchers/1000/handler-2 10 1 ns/op 4 last-ms\n" +
		"BenchmarkWatchers/10000/umpire-2 10 1 ns/op 24 last-ms\nBenchmarkWatchers/100000/umpire-2 10 1 ns/op 240 last-ms\n"
	g := growth{benchmark: watchers, of: "last-ms", scale: 1, below: "/umpire"}
	got := growthTable(g, []figures{measuredOnce(t, lines)})
	const want = "| 100 | 2 | 2, 2 |  |\n| 1000 | 3 | 3, 3 | 1.50 of 10 |\n" +
		"| 10000 | 24 | 24, 24 | 8.00 of 10, a knee |\n| 100000 | 240 | 240, 240 | 10 of 10 |\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestMultiple checks that numbers are in everyday form.
func TestMultiple(t *testing.T) {
	for x, want := range map[float64]string{
		0.05: "1/20", 0.5: "0.50", 3.14159: "3.14", 41.4: "41", 1.0 / 700: "1/700",
	} {
		if got := multiple(x); got != want {
			t.Errorf("multiple(%v) is %q, want %q", x, got, want)
		}
	}
}

// TestBenchmarksExist: every row and growth names a benchmark that the repository has.
func TestBenchmarksExist(t *testing.T) {
	root, err := repositoryRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[benchmark]bool{}
	for i := range rows {
		all[rows[i].benchmark] = true
	}
	for i := range growths {
		all[growths[i].benchmark] = true
	}
	for b := range all {
		name, _, _ := strings.Cut(b.name, "/")
		if !declares(t, filepath.Join(root, b.pkg), "Benchmark"+name) {
			t.Errorf("%s has no Benchmark%s", b.pkg, name)
		}
	}
}

func declares(t *testing.T, dir, function string) bool {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Scope.Lookup(function) != nil {
			return true
		}
	}
	return false
}

// TestFlags: wrong ones are refused before anything is built.
func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-only", "("}, {"-only", "no such row"}, {"-rounds", "0"}} {
		var out, log bytes.Buffer
		if err := printTable(t.Context(), args, &out, &log); err == nil || log.Len() > 0 {
			t.Errorf("%q: %v, %s", args, err, &log)
		}
	}
}
