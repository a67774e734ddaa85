package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figures holds the results of benchmarks by name, without "Benchmark" and the number
// of processors, and by unit.
type figures map[string]map[string]float64

// benchmarkLine is a line that a benchmark reports: its name, how often it ran, and values
// with their units.
var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(\S.*)$`)

// parseLines adds the results in a benchmark's output to f.
func (f figures) parseLines(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		found := benchmarkLine.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		values := strings.Fields(found[2])
		if len(values)%2 != 0 {
			return fmt.Errorf("a benchmark reports a value without a unit: %q", lines.Text())
		}
		byUnit := map[string]float64{}
		for pair := range slices.Chunk(values, 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			byUnit[pair[1]] = value
		}
		f[found[1]] = byUnit
	}
	return lines.Err()
}

// A runner builds and runs benchmarks.
type runner struct {
	root  string    // the root of the repository
	built string    // the folder of the test programs
	log   io.Writer // progress messages
}

// build makes the test program of a package.
func (r *runner) build(ctx context.Context, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", r.program(pkg), ".")
	cmd.Dir = filepath.Join(r.root, pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	return nil
}

func (r *runner) program(pkg string) string {
	return filepath.Join(r.built, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// runOnce runs a benchmark once, and adds its results to the figures. A benchmark without results was skipped
// or does not exist, and its output says which.
func (r *runner) runOnce(ctx context.Context, b benchmark, into figures) error {
	cmd := exec.CommandContext(ctx, r.program(b.pkg),
		"-test.run=^$", "-test.bench="+b.pattern(), "-test.benchtime="+b.time, "-test.benchmem", "-test.timeout=1h")
	cmd.Dir = filepath.Join(r.root, b.pkg)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s of %s: %w\n%s%s", b.name, b.pkg, err, &out, &failed)
	}
	before := len(into)
	if err := into.parseLines(bytes.NewReader(out.Bytes())); err != nil {
		return err
	}
	if len(into) == before {
		fmt.Fprintf(r.log, "  %s of %s reports nothing:\n%s\n", b.name, b.pkg, strings.TrimSpace(out.String()))
	}
	return nil
}

// A benchmark is one Go benchmark.
type benchmark struct {
	pkg  string // its folder in the repository
	name string // without "Benchmark"; a part after a slash selects sub-benchmarks
	time string // for -benchtime
}

// pattern matches the benchmark, but no other one whose name begins like it.
func (b benchmark) pattern() string {
	top, below, ok := strings.Cut(b.name, "/")
	if !ok {
		return "^Benchmark" + top + "$"
	}
	return "^Benchmark" + top + "$/" + below
}

// runRounds runs all benchmarks in turns, one round after the other. If the machine slows down, it slows
// down for all of them.
func (r *runner) runRounds(ctx context.Context, all []benchmark, rounds int) ([]figures, error) {
	packages := map[string]bool{}
	for _, b := range all {
		if !packages[b.pkg] {
			packages[b.pkg] = true
			fmt.Fprintf(r.log, "building the benchmarks of %s\n", b.pkg)
			if err := r.build(ctx, b.pkg); err != nil {
				return nil, err
			}
		}
	}
	var measured []figures
	for round := range rounds {
		found := figures{}
		for _, b := range all {
			fmt.Fprintf(r.log, "round %d of %d: %s, %s\n", round+1, rounds, b.pkg, b.name)
			if err := r.runOnce(ctx, b, found); err != nil {
				return nil, err
			}
		}
		measured = append(measured, found)
	}
	return measured, nil
}

// repositoryRoot is the folder above the module of the lab.
func repositoryRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/umpirehq/umpire").Output()
	if err != nil {
		return "", fmt.Errorf("run this in the folder lab of the repository: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(dir, "lab", "go.mod")); err != nil {
		return "", err
	}
	return dir, nil
}
