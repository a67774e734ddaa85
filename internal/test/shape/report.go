package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A row is one figure with what it is compared to. Before is what this program counts
// in the tree of commit 48220f6; models is the worst of restic, cedar-go, age,
// golang/vuln and golang/oscar.
type row struct{ what, now, before, models, goal string }

// A list is the places behind a figure.
type list struct {
	title string
	lines []string
}

type report struct {
	rows  []row
	lists []list
}

func (r *report) addRow(what, now, before, models, goal string) {
	r.rows = append(r.rows, row{what, now, before, models, goal})
}

func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "what\tnow\tbefore\tmodels\tgoal")
	for _, row := range r.rows {
		fmt.Fprintln(w, strings.Join([]string{row.what, row.now, row.before, row.models, row.goal}, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, l := range r.lists {
		fmt.Fprintf(out, "\n%s\n", l.title)
		for _, line := range l.lines {
			fmt.Fprintln(out, "  "+line)
		}
	}
	return nil
}

// most writes the n largest counts that keep accepts.
func most(counts map[string]int, n int, keep func(int) bool) (lines []string) {
	for _, c := range ranked(counts) {
		if len(lines) < n && keep(c.n) {
			lines = append(lines, fmt.Sprintf("%5d %s", c.n, c.name))
		}
	}
	return lines
}

func anyCount(int) bool { return true }

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}

func ratio(part, whole int) string { return fmt.Sprintf("%.2f", float64(part)/float64(max(whole, 1))) }

// measure counts everything but commits.
func (m *module) measure() *report {
	r := &report{}
	m.reportSizes(r)
	m.reportNames(r)
	index := m.indexFunctions()
	m.reportArrows(r, index)
	m.reportWalk(r, index)
	m.reportHookPath(r, index)
	return r
}

func (m *module) reportSizes(r *report) {
	own := func(f *file) bool { return code(f) && !f.harness() }
	r.addRow("lines of code without what only tests import", fmt.Sprint(m.lines(own)), "79034", "", "")
	r.addRow("lines of tests for a line of code", ratio(m.lines(test), m.lines(code)), "0.52", "0.4 to 1.2", "")
	r.addRow("  in shell", ratio(m.lines(in("shell", test)), m.lines(in("shell", code))), "0.29", "", "")
	w := m.measureWidths()
	r.addRow("lines with a comment", percent(w.comments, w.lines), "12.6 %", "10 to 24 %", "")
	r.addRow("lines over 120 columns", percent(w.wide, w.lines), "3.0 %", "1.3 %", "0")
	r.addRow("  in shell", percent(w.perPackage["shell"], w.linesOf["shell"]), "10.4 %", "", "")
	r.addRow("longest line, columns", fmt.Sprint(w.longest), "1441", "", "120")
	title := "lines over 120 columns, by package; the longest is " + w.longestAt
	r.lists = append(r.lists, list{title, most(w.perPackage, 20, anyCount)})
}

func (m *module) reportNames(r *report) {
	methods := m.methods()
	r.addRow("methods on one type", fmt.Sprint(ranked(methods)[0].n), "196", "57", "40")
	r.lists = append(r.lists, list{"methods on one type", most(methods, 10, anyCount)})
	n := m.countNames()
	r.addRow("functions with a name of one word", percent(n.oneWord, n.all), "55.7 %", "47 %", "")
	often := most(n.packages, 100, func(n int) bool { return n > maxPackages })
	r.addRow("private names in more than 6 packages", fmt.Sprint(len(often)), "20", "", "0")
	r.lists = append(r.lists,
		list{"names of functions declared most often", most(n.places, 15, anyCount)},
		list{"private names of functions in more than 6 packages", often},
	)
}

// maxPackages is in how many packages functions of one private name may be declared.
const maxPackages = 6

// reportArrows measures the packages whose files are many. The commands have moved
// from cmd/umpire to internal/cli.
func (m *module) reportArrows(r *report, index index) {
	for _, p := range []struct{ dir, before string }{
		{"internal/gate", "27 of 129"}, {"internal/cli", "39 of 369"}, {"shell", "35 of 430"},
	} {
		a := m.fileArrows(index, p.dir)
		title := "calls between files that point back, " + p.dir
		r.addRow(title, fmt.Sprintf("%d of %d", len(a.back), a.all), p.before, "", "")
		r.lists = append(r.lists, list{title, a.back})
	}
}

func (m *module) reportWalk(r *report, index index) {
	start := index.find(m, "(*internal/gate.Gate).Submit")
	if start == nil {
		return
	}
	w := m.walkFrom(index, start, true)
	r.addRow("a submission and what is made of it: files", fmt.Sprint(len(w.files)), "56", "", "")
	r.addRow("  returns to a file already left", fmt.Sprint(w.returns()), "59", "", "")
	r.addRow("  names of its parameters", fmt.Sprint(len(w.names)), "52", "", "")
	whole := m.walkFrom(index, start, false)
	r.addRow("a submission and its calls alone: files", fmt.Sprint(len(whole.files)), "26", "", "20")
	r.addRow("  returns to a file already left", fmt.Sprint(whole.returns()), "15", "", "10")
	r.addRow("  names of its parameters", fmt.Sprint(len(whole.names)), "16", "", "")
	r.lists = append(r.lists,
		list{"files that a submission and what is made of it enter, in order", w.trail},
		list{"files that a submission and its calls alone enter, in order", whole.trail},
	)
}

func (m *module) reportHookPath(r *report, index index) {
	p := m.measurePath(m.reachFrom(index, []string{hookPackage}, []string{hookStart}))
	r.addRow("types that hold the call, in a hook without a gate", fmt.Sprint(len(p.forms)), "19", "", "9")
	r.addRow("  passes over the call's JSON", fmt.Sprint(p.passes), "6", "", "3")
	r.lists = append(r.lists,
		list{"types that hold the call, in a hook without a gate", p.forms},
		list{"calls that pass over its JSON, and how often", p.scans},
	)
}
