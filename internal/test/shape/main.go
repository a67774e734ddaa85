// Shape counts what sizes alone do not show of this repository's source: how names,
// lines and types have grown, how the files of a package call each other, and how many
// hands one call goes through. It prints a table beside what other programs of this
// size have at their worst, and then lists of the places.
//
//	go run ./internal/test/shape -since v0.1.0
//
// Generated code and folders named testdata are left out. Where a row does not say
// otherwise, tests are left out too. Shares of lines are shares of those that are not empty.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	root := flag.String("dir", ".", "the folder of the module")
	since := flag.String("since", "", "also measure the commits after this one")
	flag.Parse()
	if err := run(os.Stdout, *root, *since); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, since string) error {
	m, err := loadModule(root)
	if err != nil {
		return err
	}
	r := m.measure()
	if since != "" {
		if err := r.measureCommits(root, since); err != nil {
			return err
		}
	}
	return r.print(out)
}
