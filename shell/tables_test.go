package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// everyProgram calls f for every entry of the tables, including subcommands.
func everyProgram(f func(path string, p *program)) {
	var visit func(prefix string, p *program)
	visit = func(prefix string, p *program) {
		path := strings.TrimSpace(prefix + " " + p.name())
		f(path, p)
		for i := range p.subs {
			visit(path, &p.subs[i])
		}
		for _, table := range p.more {
			for i := range *table {
				visit(path, &(*table)[i])
			}
		}
	}
	for _, family := range families {
		for i := range *family {
			visit("", &(*family)[i])
		}
	}
}

// TestTables checks the properties that the engine needs from every entry.
func TestTables(t *testing.T) {
	t.Parallel()
	kinds := strings.Fields("data read tree write delete dir host command shell script code env none")
	everyProgram(func(path string, p *program) {
		if p.why == "" || p.name() == "" {
			t.Errorf("%s: says no why", path)
		}
		for kind := range strings.FieldsSeq(p.args) {
			if !slices.Contains(kinds, strings.TrimSuffix(kind, "…")) {
				t.Errorf("%s: operands of the kind %q are not known", path, kind)
			}
		}
		seen := map[string]bool{}
		for _, opt := range append(slices.Clone(p.opts), option{names: p.about}) {
			for spelling := range strings.FieldsSeq(opt.names) {
				checkSpelling(t, path, p, spelling, seen)
			}
		}
	})
}

func checkSpelling(t *testing.T, path string, p *program, spelling string, seen map[string]bool) {
	bare := strings.TrimRight(spelling, "=?")
	if len(bare) < 2 || bare[0] != '-' || strings.Contains(bare, "=") {
		t.Errorf("%s: %q is not how an option is spelled", path, spelling)
		return
	}
	names := []string{bare}
	if p.style != words && bare[1] != '-' {
		names = strings.Split(bare[1:], "")
		if len(names) > 1 && bare != spelling {
			t.Errorf("%s: %q takes a value, so it must be one letter", path, spelling)
		}
	}
	for _, name := range names {
		if seen[name] {
			t.Errorf("%s: %s stands twice", path, name)
		}
		seen[name] = true
	}
}

// TestNamesAreUnique: no program and no subcommand has two entries.
func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	check := func(where string, entries []program) {
		for i := range entries {
			for name := range strings.FieldsSeq(entries[i].names) {
				if seen[where+name] {
					t.Errorf("%s%s has two entries", where, name)
				}
				seen[where+name] = true
			}
		}
	}
	for _, family := range families {
		check("", *family)
	}
	everyProgram(func(path string, p *program) { check(path+" ", p.subs) })
}

// TestUnknownOptionAsks: an option that a table does not accept is never safe.
func TestUnknownOptionAsks(t *testing.T) {
	t.Parallel()
	everyProgram(func(path string, p *program) {
		if p.lax || p.style == bare || len(p.subs) > 0 || strings.Contains(path, "=") {
			return
		}
		line := path + " --no-such-option-anywhere"
		if risk, doubt := worst(line); !risk.AtLeast(umpire.Medium) && !doubt {
			t.Errorf("%s is %s", line, risk)
		}
	})
}
