// Shape counts what sizes alone do not show of this repository's source: how names,
// lines and types have grown, how the files of a package call each other, and how many
// hands one call goes through. It prints a table beside what other programs of this
// size have at their worst, and then lists of the places.
//
//	go run ./internal/test/shape -since v0.1.0
//
// Its words, and which figure has a goal:
//
//   - A form is a type of this module that holds the bytes of a call, itself or in a field,
//     and that a variable has on the way of a hook without a gate. A pointer counts, too. The
//     way is whatever main may reach; an interface leads to every type of the linked packages
//     that has its methods.
//   - A scan is a call on that way that takes JSON apart from end to end. A reader of strictjson
//     counts once for each pass that it makes. Reading one member of what was scanned does not
//     count, nor does what reads the snapshot or files of the project: see otherScans.
//   - A walk follows a submission on its way through the gate, from file to file, as far as
//     types tell where a value goes: see walk. The narrow walk follows the submission and its
//     calls, and what they are put into; it has the goal. The wide one takes every field of
//     what holds them along, such as the facts, the rules that match and the store's rows.
//     That is most of what there is to decide and to write, and has none.
//   - A return is one entry of a file that the walk had entered before, and left.
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
