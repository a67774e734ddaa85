package rulefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

const weatherFile = `programs:
  - names: weather wx
    risk: safe
    why: prints the weather
    style: leading
    args: data…
    lax: false
    options:
      - {names: [-o=, --output=], does: writes, why: keeps it, except: "-"}
    subs:
      - {names: show, risk: low, why: shows, peeks: true}
    examples: {safe: [weather show], asks: [weather -o x]}
`

func TestLoadPrograms(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ProgramsFolder, "a.yaml"), weatherFile)
	write(t, filepath.Join(home, ProgramsFolder, "a.yaml.bak"), "not read")
	loaded := LoadPrograms(home)
	if len(loaded.Problems) > 0 || len(loaded.Files) != 1 {
		t.Fatalf("%+v", loaded)
	}
	p, ok := shell.Describe("wx", loaded.Known)
	if !ok || p.Why != umpire.Verbatim("prints the weather") || p.Style != "leading" || !strings.HasSuffix(p.Origin, "a.yaml:2") {
		t.Errorf("%+v", p)
	}
	if o := p.Options[0]; o.Why != umpire.Verbatim("keeps it") || o.Does[0] != "writes" || o.Except[0] != "-" || len(o.Names) != 2 {
		t.Errorf("option %+v", o)
	}
	if sub := p.Subs[0]; sub.Risk != umpire.Low || !sub.Peeks {
		t.Errorf("subcommand %+v", sub)
	}
	for _, home := range []string{"", t.TempDir()} {
		if loaded := LoadPrograms(home); loaded.Known != nil || len(loaded.Problems) > 0 {
			t.Errorf("%q: %+v", home, loaded)
		}
	}
}

// TestProgramFaults: any error discards the entry, and the problem has its position.
func TestProgramFaults(t *testing.T) {
	t.Parallel()
	entry := func(fields string) string { return "programs:\n  - " + fields + "\n" }
	for _, tt := range []struct{ name, text, want string }{
		{"not YAML", "programs: [", "f.yaml:1:1: "},
		{"not a mapping", "- x", "f.yaml:1:1: want an object, not a list"},
		{"no list", "{}", `f.yaml:1:1: want a list "programs"`},
		{"not a list", "programs: {}", "f.yaml:1:11: programs: want a list"},
		{"another key", "programs: []\nprogrammes: []", `f.yaml:2:1: unknown key "programmes"; did you mean "programs"?`},
		{"not an entry", entry("x"), "f.yaml:2:5: want an object, not a string"},
		{"key twice", entry("{names: a, names: b}"), `f.yaml:2:16: duplicate key "names"`},
		{"unknown in an option", entry("{names: a, risk: safe, why: b, options: [{names: -x, doess: asks}]}"), `options[0]: unknown key "doess"; did you mean "does"?`},
		{"options are a mapping", entry("{names: a, risk: safe, why: b, options: {names: -x}}"), "options: want a list"},
		{"no text", entry("{names: a, risk: safe, why: [b]}"), "f.yaml:2:33: why: want a string, not a list"},
		{"null", entry("{names: a, risk: safe, why: }"), "why: missing"},
		{"truth", entry("{names: a, risk: safe, why: b, lax: maybe}"), "lax: want true or false"},
		{"consequence", entry("{names: a, risk: high, why: b, consequence: bad}"), `consequence: "bad" is not one of none, reversible, outward, lost`},
		{"a safe one that is lost", entry("{names: a, risk: safe, why: b, consequence: lost}"), "would run unasked"},
		{"of an option that only reads", entry("{names: a, risk: safe, why: b, options: [{names: -x=, does: reads, consequence: none}]}"), "only with asks or harms"},
		{"risk", entry("{names: a, risk: none, why: b}"), `risk: risk "none"`},
		{"critical", entry("{names: a, risk: critical, why: b}"), "risk: want safe, low, medium or high"},
		{"blank in a word", entry("{names: [a b], risk: safe, why: b}"), "names: want words without spaces"},
		{"effect", entry("{names: a, risk: safe, why: b, options: [{names: -x, does: write}]}"), `options[0].does: "write" is not one of`},
		{"example that is not harmless", entry("{names: a, risk: high, why: b, examples: {safe: [a]}}"), `examples.safe: "a" is not harmless: b`},
		{"example that is", entry("{names: a, risk: safe, why: b, examples: {asks: [a]}}"), `examples.asks: "a" is harmless`},
		{"example of something else", entry("{names: a, risk: safe, why: b, examples: {safe: [rm x]}}"), "is not harmless"},
		{"alias", "programs: &x\n  - *x\n", "aliases"},
		{"two documents", entry("{names: a, risk: safe, why: b}") + "---\nx: y\n", "more than one document"},
		{"escape", entry("{names: \"a\\e[31m\", risk: safe, why: b}"), `names: \"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			write(t, filepath.Join(home, ProgramsFolder, "f.yaml"), tt.text)
			loaded := LoadPrograms(home)
			if len(loaded.Problems) == 0 {
				t.Fatal("no problem")
			}
			if got := loaded.Problems[0].Error(); !strings.Contains(got, tt.want) && tt.name != "escape" || strings.Contains(got, "\x1b") {
				t.Errorf("problem %s, want %s", got, tt.want)
			}
			if _, ok := shell.Describe("a", loaded.Known); ok {
				t.Error("the entry holds")
			}
		})
	}
}

func TestProgramFilesThatAreNotRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := filepath.Join(home, ProgramsFolder)
	open := write(t, filepath.Join(folder, "open.yaml"), weatherFile)
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "folder.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(folder, "link.yml")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "large.yaml"), "# "+strings.Repeat("x", maxYAMLSize))
	loaded := LoadPrograms(home)
	if _, ok := shell.Describe("weather", loaded.Known); ok || len(loaded.Problems) != 4 {
		t.Errorf("%+v", loaded)
	}
}

// For any input, reading ends, each resulting entry keeps its examples, and each
// problem is one line that is safe to print.
func FuzzPrograms(f *testing.F) {
	for _, text := range []string{
		weatherFile, "programs: []", "programs:\n- {names: a, risk: safe, why: b, examples: {safe: [a -x]}}", "programs: &a [*a]",
		"programs:\n- {names: cat, replace: true, risk: safe, why: x}", "programs: [{subs: [{subs: [{}]}]}]", "a: !!binary x", "\xff", "programs: !!str",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var loaded Programs
		entries, problems := parsePrograms("f", data)
		loaded.Problems = problems
		loaded.admit(entries)
		for _, p := range loaded.Problems {
			if p.Text == "" || strings.ContainsAny(p.Error(), "\x00\x1b\n") {
				t.Fatalf("problem %q", p.Error())
			}
		}
		for p := range shell.Programs(loaded.Known) {
			if p.Origin == "" {
				return
			}
			if err := shell.CheckExamples(p); err != nil {
				t.Fatal(err)
			}
		}
	})
}
