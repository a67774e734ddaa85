package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// measureCommits counts the lines of Go that each commit after one added and removed,
// tests and generated code left out. Merges count as nothing.
func (r *report) measureCommits(root, since string) error {
	//nolint:noctx // the history bounds it
	cmd := exec.Command("git", "log", "--no-merges", "--format=tformat:commit", "--numstat", since+"..HEAD")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git log: %w", err)
	}
	sizes := commitSizes(string(out))
	if len(sizes) == 0 {
		return nil
	}
	r.addRow("lines of code that a commit changes, median", fmt.Sprint(sizes[len(sizes)/2]), "72", "49", "50")
	r.addRow("  nine of ten commits, at most", fmt.Sprint(sizes[len(sizes)*9/10]), "1029", "", "")
	return nil
}

// commitSizes reads the output of git log, and returns the sizes in order. A commit
// without code is left out.
func commitSizes(log string) []int {
	var sizes []int
	for commit := range strings.SplitSeq(log, "commit\n") {
		n := 0
		for line := range strings.Lines(commit) {
			fields := strings.Fields(line)
			if len(fields) != 3 || !strings.HasSuffix(fields[2], ".go") || strings.HasSuffix(fields[2], "_test.go") ||
				strings.HasSuffix(fields[2], ".pb.go") || strings.HasSuffix(fields[2], "connect.go") {
				continue
			}
			added, _ := strconv.Atoi(fields[0])
			removed, _ := strconv.Atoi(fields[1])
			n += added + removed
		}
		if n > 0 {
			sizes = append(sizes, n)
		}
	}
	slices.Sort(sizes)
	return sizes
}
