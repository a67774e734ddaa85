package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/place"
)

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// write makes a file below a folder.
func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clone makes a folder with a package.json, and the ledger of somebody.
func clone(t *testing.T) (*place.Bounds, *CodeLedger) {
	t.Helper()
	root := t.TempDir()
	write(t, root, "package.json", `{"name": "a", "scripts": {"test": "jest"}}`)
	g, err := place.Open(root, place.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return g, &CodeLedger{Dir: filepath.Join(t.TempDir(), "trusted"), Digest: sum}
}

func TestTrustEndsByAChange(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(t *testing.T, root string)
		want   string // "" if trusted
	}{
		"nothing": {func(*testing.T, string) {}, ""},
		"the same text": {func(t *testing.T, root string) {
			write(t, root, "package.json", `{"name": "a", "scripts": {"test": "jest"}}`)
		}, ""},
		"another version": {func(t *testing.T, root string) {
			write(t, root, "package.json", `{"name": "b", "scripts": {"test":"jest"}}`)
		}, ""},
		"a script": {func(t *testing.T, root string) { write(t, root, "package.json", `{"scripts": {"test": "sh x"}}`) }, "package.json: scripts.test changed"},
		"a hook": {func(t *testing.T, root string) {
			write(t, root, "package.json", `{"scripts": {"test": "jest", "pretest": "x"}}`)
		}, "package.json: scripts.pretest is new"},
		"tool settings": {func(t *testing.T, root string) {
			write(t, root, "package.json", `{"scripts": {"test": "jest"}, "jest": {}}`)
		}, "package.json: jest is new"},
		"broken":        {func(t *testing.T, root string) { write(t, root, "package.json", `{`) }, "package.json"},
		"gone":          {func(_ *testing.T, root string) { _ = os.Remove(filepath.Join(root, "package.json")) }, "package.json is gone"},
		"a new one":     {func(t *testing.T, root string) { write(t, root, "a/b/conftest.py", "") }, "a/b/conftest.py is new"},
		"in capitals":   {func(t *testing.T, root string) { write(t, root, "GNUMAKEFILE", "") }, "GNUMAKEFILE is new"},
		"a source file": {func(t *testing.T, root string) { write(t, root, "a/b/c.py", "") }, ""},
		"of a package":  {func(t *testing.T, root string) { write(t, root, "node_modules/x/package.json", "{}") }, ""},
		"a link": {func(t *testing.T, root string) {
			write(t, root, "other", `{"name": "a", "scripts": {"test": "jest"}}`)
			_ = os.Remove(filepath.Join(root, "package.json"))
			if err := os.Symlink("other", filepath.Join(root, "package.json")); err != nil {
				t.Skip(err)
			}
		}, "package.json: link is new"},
		"a folder by a link": {func(t *testing.T, root string) {
			write(t, root, "other/config.toml", "[build]")
			if err := os.Symlink("other", filepath.Join(root, ".cargo")); err != nil {
				t.Skip(err)
			}
		}, ".cargo/config.toml is new"},
		"a folder of a folder by a link": {func(t *testing.T, root string) {
			write(t, root, "other/releases/yarn.cjs", "")
			if err := os.Symlink("other", filepath.Join(root, ".yarn")); err != nil {
				t.Skip(err)
			}
		}, ".yarn/releases/yarn.cjs is new"},
		"a folder by a link to itself": {func(t *testing.T, root string) {
			if err := os.Symlink(".", filepath.Join(root, ".cargo")); err != nil {
				t.Skip(err)
			}
		}, ".cargo/package.json is new"},
		"a name that draws": {func(t *testing.T, root string) { write(t, root, "\x1b[2Jx.mk", "") }, `"\x1b[2Jx.mk" is new`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, l := clone(t)
			dirs := []string{g.Root}
			if why := l.Check(g, dirs); !strings.Contains(catalogue.English.Text(why), "not trusted") {
				t.Fatalf("before: %q", why)
			}
			if _, err := l.Grant(g); err != nil {
				t.Fatal(err)
			}
			tt.change(t, g.Root)
			why := l.Check(g, dirs)
			if (why == "") != (tt.want == "") || !strings.Contains(catalogue.English.Text(why), tt.want) {
				t.Errorf("%q, want %q", why, tt.want)
			}
			if why := l.Check(g, nil); why == "" {
				t.Error("trusted in a folder that is not known")
			}
			if why := l.Check(g, []string{g.Root, filepath.Dir(g.Root)}); why == "" {
				t.Error("trusted outside")
			}
		})
	}
}

// TestFilesThatNameCode: each of these is loaded as code, or names code, when the tool beside
// it runs without notice.
func TestFilesThatNameCode(t *testing.T) {
	t.Parallel()
	for tool, names := range map[string]string{
		"pnpm test":      "package.json package.json5 package.yaml .pnpmfile.cjs",
		"yarn test":      ".pnp.cjs .pnp.loader.mjs .yarnrc.yml .yarn/plugins/x.cjs",
		"ts-node, mocha": "tsconfig.json tsconfig.test.json .mocharc.cjs",
		"nyc, c8":        ".nycrc .nycrc.json .nycrc.yaml nyc.config.js .c8rc.json",
		"jasmine":        "spec/support/jasmine.json spec/support/jasmine.mjs",
		"cucumber":       "cucumber.js cucumber.mjs",
		"builds":         "rspack.config.js vue.config.js angular.json .storybook/main.js .eleventy.js",
		"pytest":         "pytest.toml .pytest.toml conftest.py a/conftest.py tox.toml x.pth",
		"pylint":         ".pylintrc .pylintrc.toml pylintrc.toml",
		"cargo":          ".cargo/config.toml .config/nextest.toml Makefile.toml build.rs",
		"gradle":         "common.gradle gradle/x.gradle.kts gradlew.bat",
		"sbt, mill":      "build.sbt project/plugins.sbt project/Build.scala build.mill .jvmopts",
		"ruby":           "gems.rb test/test_helper.rb .rspec-local Guardfile bin/rspec",
		"php":            "phpunit.dist.xml phpstan.dist.neon rector.php bin/console",
		"ast-grep":       "sgconfig.yml sgconfig.yaml",
		"mix":            "mix.exs config/test.exs test/test_helper.exs",
		"bazel":          "defs.bzl WORKSPACE.bazel BUILD.bazel",
		"lua, perl":      ".luacheckrc .busted .proverc Makefile.PL",
		"mise, lefthook": ".mise/config.toml .config/mise/config.toml mise.dev.toml lefthook-local.yml",
	} {
		for name := range strings.FieldsSeq(names) {
			if kindOf(name) == nil || kindOf("sub/"+name) == nil {
				t.Errorf("%s: %s does not count", tool, name)
			}
		}
	}
	for _, name := range []string{"a_test.exs", "main.go", "src/index.ts", "README.md", "test_a.py", "config/a.json"} {
		if kindOf(name) != nil {
			t.Errorf("%s counts", name)
		}
	}
}

// TestTimesAlone: without a digest a file of the same times is the same, and one that
// was written is not.
func TestTimesAlone(t *testing.T) {
	t.Parallel()
	g, l := clone(t)
	l.Now = func() time.Time { return time.Now().Add(time.Hour) } // long after it was written
	if _, err := l.Grant(g); err != nil {
		t.Fatal(err)
	}
	plain := &CodeLedger{Dir: l.Dir, Now: l.Now}
	if why := plain.Check(g, []string{g.Root}); why != "" {
		t.Fatal(why)
	}
	write(t, g.Root, "package.json", `{"name": "a", "scripts": {"test": "jest"}}`)
	if why := plain.Check(g, []string{g.Root}); !strings.Contains(catalogue.English.Text(why), "package.json was written") {
		t.Error(why)
	}
	if why := l.Check(g, []string{g.Root}); why != "" {
		t.Error(why)
	}
	if why := plain.Check(g, []string{g.Root}); why != "" {
		t.Errorf("the new times were not kept: %s", why)
	}
}

// TestRecordIsBelieved only where it is ours and about this clone.
func TestRecordIsBelieved(t *testing.T) {
	t.Parallel()
	g, l := clone(t)
	if _, err := l.Grant(g); err != nil {
		t.Fatal(err)
	}
	other := *g
	other.Repository.Common = "/elsewhere/.git"
	if why := l.Check(&other, []string{g.Root}); why == "" {
		t.Error("another clone at the same place is trusted")
	}
	if err := os.Chmod(l.path(g.Root), 0o666); err != nil {
		t.Fatal(err)
	}
	if why := l.Check(g, []string{g.Root}); why == "" {
		t.Error("a record that others can write is believed")
	}
	if err := os.WriteFile(l.path(g.Root), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(l.path(g.Root), 0o600)
	if why := l.Check(g, []string{g.Root}); why == "" {
		t.Error("a broken record is believed")
	}
	if was, err := l.Forget(g); err != nil || !was {
		t.Error(was, err)
	}
	if why := (&CodeLedger{}).Check(g, []string{g.Root}); why == "" {
		t.Error("no ledger trusts")
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	a, b, c, zero := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40), strings.Repeat("0", 40)
	line := func(from, to, message string) string { return from + " " + to + " A <a@b> 1 +0000\t" + message + "\n" }
	for name, tt := range map[string]struct {
		log, from, want string
	}{
		"a commit":                  {line(a, b, "commit: x") + line(b, c, "commit (amend): y"), a, ""},
		"the first commit":          {line(zero, c, "commit (initial): x"), "", ""},
		"a branch at the same":      {line(a, a, "checkout: moving from main to x") + line(a, c, "commit: x"), a, ""},
		"a pull":                    {line(a, b, "pull: Fast-forward") + line(b, c, "commit: x"), a, "moved by pull"},
		"a merge":                   {line(a, c, "commit (merge): Merge branch 'x'"), a, "moved by commit"},
		"a checkout":                {line(a, c, "checkout: moving from main to x"), a, "moved by checkout"},
		"a reset":                   {line(a, c, "reset: moving to x"), a, "moved by reset"},
		"a cherry-pick":             {line(a, c, "cherry-pick: x"), a, "moved by cherry-pick"},
		"a message like a commit's": {line(a, c, "pull: x\tcommit: y"), a, "moved by pull"},
		"a gap":                     {line(a, b, "commit: x"), a, "does not tell"},
		"a break":                   {line(a, b, "commit: x") + line(a, c, "commit: y"), b, "does not tell"},
		"nothing":                   {"", a, "does not tell"},
		"garbage":                   {"x\n\n\ty", a, "does not tell"},
	} {
		if got := findMoves([]byte(tt.log), tt.from, c); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	toml := pyprojectParts
	for _, tt := range []struct {
		split func([]byte) map[string][]byte
		text  string
		want  []string
	}{
		{packageParts, `{"name":"a","dependencies":{},"scripts":{"a":"b"},"husky":{}}`, []string{"husky", "scripts.a"}},
		{packageParts, `{"scripts":"x"}`, []string{"scripts"}},
		{packageParts, `[]`, []string{""}},
		{toml, "[project]\nname = 'a'\n[tool.pytest]\nx = 1\n[build-system]\ny = 1\n", []string{"[build-system]", "[tool.pytest]"}},
		{toml, "x = 1\n[project]\n", []string{"the beginning"}},
		{toml, "[tool.x]\na = \"\"\"\n[project]\nb\n\"\"\"\n", []string{""}},
		{toml, "[tool.x]\na = [\n  [\"project\"],\n  b,\n]\n", []string{"[tool.x]"}},
		{goParts, "module a\n\ngo 1.26\n\nrequire b v1 // x\n", []string{"go"}},
		{goParts, "module a\nrequire (\n b v1\n)\nreplace (\n b => ./b\n)\ntoolchain go1.26\ntool b/c\n", []string{"replace", "tool", "toolchain"}},
	} {
		got := slices.Sorted(maps.Keys(tt.split([]byte(tt.text))))
		for i := range got {
			if strings.Contains(strings.Join(tt.want, ""), "[") {
				got[i] = "[" + got[i] + "]"
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q:\n%s", tt.text, diff)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	g, _ := clone(t)
	write(t, g.Root, ".npmrc", "registry=https://x/\nengine-strict=true\n")
	write(t, g.Root, "sub/a", "")
	sub := filepath.Join(g.Root, "sub")
	if got := findManifest(g, sub, ".npmrc", ".yarnrc.yml"); got != "" {
		t.Errorf("plain settings: %s", got)
	}
	for _, text := range []string{"script-shell=./x", "SCRIPT-SHELL=./x", "git=./x", "node-options=--require ./x"} {
		write(t, g.Root, ".npmrc", text)
		if findManifest(g, sub, ".npmrc") == "" {
			t.Errorf("%s: is not found", text)
		}
	}
	write(t, g.Root, ".cargo/config.toml", "")
	if findManifest(g, sub, ".cargo/config.toml") == "" || findManifest(g, filepath.Join(g.Root, "none", "x"), ".cargo/config.toml") == "" {
		t.Error("is not found in a folder above")
	}
}
