// Command bench measures umpire beside named alternatives and prints a table.
//
// It runs Go benchmarks of umpire's packages and of the lab in turns, several times, and prints
// medians with the minimum and maximum. Run it in the folder lab:
//
//	go run ./bench -rounds 5 -growth -plots ../bin/bench
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := printTable(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// printTable measures the selected rows, and prints the table.
func printTable(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "how often each benchmark runs; medians are quoted")
	only := flags.String("only", "", "measure the `rows` that match this regular expression")
	grow := flags.Bool("growth", false, "also measure how figures grow with sizes")
	large := flags.Bool("large", false, "with -growth: fill the largest databases too, which takes long")
	plots := flags.String("plots", "", "write plots as SVG to this `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *large {
		if err := os.Setenv("UMPIRE_BENCH_LARGE", "1"); err != nil {
			return err
		}
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds: want at least 1, got %d", *rounds)
	}
	wanted := slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return !pattern.MatchString(r.work + " " + r.anchor)
	})
	grown := slices.DeleteFunc(slices.Clone(growths), func(g growth) bool {
		return !*grow || !pattern.MatchString(g.title)
	})
	if len(wanted)+len(grown) == 0 {
		return fmt.Errorf("-only %q matches no row", *only)
	}
	measured, err := measure(ctx, wanted, grown, *rounds, log)
	if err != nil {
		return err
	}
	fmt.Fprint(out, describeMachine(), "\n")
	if len(wanted) > 0 {
		fmt.Fprint(out, table(wanted, measured))
	}
	for _, g := range grown {
		fmt.Fprint(out, "\n", growthTable(g, measured))
	}
	if *plots == "" {
		return nil
	}
	return writePlots(*plots, wanted, grown, measured)
}

// measure runs the benchmarks of the rows, each once in every round.
func measure(ctx context.Context, wanted []row, grown []growth, rounds int, log io.Writer) ([]figures, error) {
	root, err := repositoryRoot(ctx)
	if err != nil {
		return nil, err
	}
	built, err := os.MkdirTemp("", "umpire-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(built) }() // the figures matter more
	var all []benchmark
	for _, r := range wanted {
		all = append(all, r.benchmark)
	}
	for _, g := range grown {
		all = append(all, g.benchmark)
	}
	seen := map[benchmark]bool{}
	all = slices.DeleteFunc(all, func(b benchmark) bool {
		was := seen[b]
		seen[b] = true
		return was
	})
	r := &runner{root: root, built: built, log: log}
	return r.runRounds(ctx, all, rounds)
}
