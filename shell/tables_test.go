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
		for _, opt := range append(slices.Clone(p.opts), option{flags: p.about}) {
			for name := range opt.spellings {
				switch {
				case len(name) < 2 || name[0] != '-' || strings.ContainsAny(name[2:], "=?"):
					t.Errorf("%s: %q is not how an option is spelled", path, name)
				case p.style != words && name[1] != '-' && len(name) > 2:
					t.Errorf("%s: %q is more than one letter", path, name)
				case seen[name]:
					t.Errorf("%s: %s stands twice", path, name)
				}
				seen[name] = true
			}
		}
	})
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
