package umpire_test

import (
	"cmp"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// chapters are the headings that the documentation must have.
var chapters = map[string][]string{
	"docs/gate.md":  {"Modes", "Sessions", "How far an approval reaches", "The timeline", "Compatibility"},
	"docs/rules.md": {"Which rule wins", "Trust"},
	"docs/gates.md": {"Gates of a release"},
}

func TestChaptersOfTheDocumentation(t *testing.T) {
	t.Parallel()
	for name, titles := range chapters {
		text := readText(t, name)
		for _, title := range titles {
			if !regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(title) + `$`).MatchString(text) {
				t.Errorf("%s has no chapter %q", name, title)
			}
		}
	}
}

var markdownLink = regexp.MustCompile(`\]\(([^)\s#]*)(#[^)\s]*)?\)`)

// TestLinksOfTheDocumentation: every link to a file has a target. It does not check network
// addresses.
func TestLinksOfTheDocumentation(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(pages, more...) {
		for _, link := range markdownLink.FindAllStringSubmatch(readText(t, page), -1) {
			if link[1] == "" || strings.Contains(link[1], ":") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s: %s leads nowhere", page, link[1])
			}
		}
	}
	if links == 0 {
		t.Error("no link was found")
	}
}

var gateLine = regexp.MustCompile(`(?m)^gate ([A-Z]) '([^']*)' \\\n((?: +\./\S+)+)$`)

// TestPathsOfTheDocumentation checks that files and folders that the pages for developers name are there. A part in
// capitals stands for any name.
func TestPathsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`((?:cmd|internal|lab|policy|shell)/[A-Za-z0-9_/.-]+)`")
	placeholder := regexp.MustCompile(`[A-Z]{2,}`)
	pages := []string{"ARCHITECTURE.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/adr/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		for _, found := range named.FindAllStringSubmatch(readText(t, page), -1) {
			if there, err := filepath.Glob(placeholder.ReplaceAllString(found[1], "*")); err != nil || len(there) == 0 {
				t.Errorf("%s: %s is not there", page, found[1])
			}
		}
	}
}

// TestGates: .ci/gates runs four gates, each with existing tests, and keeps the log of a failed
// gate. Continuous integration compiles, vets and tests everything.
func TestGates(t *testing.T) {
	t.Parallel()
	script := readText(t, ".ci/gates")
	var names []string
	for _, gate := range gateLine.FindAllStringSubmatch(script, -1) {
		names = append(names, gate[1])
		tests := map[string]bool{}
		for dir := range strings.FieldsSeq(gate[3]) {
			for name := range testsIn(t, dir) {
				tests[name] = true
			}
		}
		for _, name := range regexp.MustCompile(`Test[A-Za-z0-9]+`).FindAllString(gate[2], -1) {
			if !tests[name] {
				t.Errorf("gate %s: there is no %s", gate[1], name)
			}
		}
	}
	if !slices.Equal(names, []string{"A", "B", "C", "D"}) {
		t.Errorf("the gates are %q", names)
	}
	ci := readText(t, ".ci/run") + readText(t, "Makefile")
	for _, want := range []string{"go vet ./...", "go build ./...", ".ci/test", ".ci/gates"} {
		if !strings.Contains(ci, want) {
			t.Errorf("nothing runs %q", want)
		}
	}
	gateThatFails(t, script)
}

// gateThatFails runs the gates with a failing go command: all four run, each keeps its output,
// and the whole run fails.
func gateThatFails(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{".ci/gates": script, "bin/go": "#!/bin/sh\necho 'FAIL because it must'\nexit 1\n"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	run := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, ".ci", "gates"))
	run.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "gates that failed: A B C D") {
		t.Errorf("%v: %s", err, out)
	}
	for _, name := range []string{"A", "B", "C", "D"} {
		if log := readText(t, filepath.Join(dir, "bin", "gates", name+".log")); !strings.Contains(log, "because it must") {
			t.Errorf("the log of gate %s is %q", name, log)
		}
	}
}

// TestLegacyListDecidesNothing: M-72, M-211. The list of tools that older clients call
// dangerous is exported, but unused in this module.
func TestLegacyListDecidesNothing(t *testing.T) {
	t.Parallel()
	tree, err := parseTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	defined := 0
	for _, file := range tree.written() {
		uses := strings.Count(readText(t, file.name), "LegacyDangerous")
		if file.name == "policy/tools.go" {
			defined = uses
		} else if uses > 0 && !strings.HasSuffix(file.name, "_test.go") {
			t.Errorf("%s uses the list", file.name)
		}
	}
	if defined != 2 { // the comment and the name
		t.Errorf("policy/tools.go names it %d times", defined)
	}
}

// TestUnreleasedEntries: an entry of the next release is a title, then paragraphs. If it is
// about looser or stricter verdicts, it begins with "risk: " to stand out.
func TestUnreleasedEntries(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(unreleased + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if path.Base(name) == "risk.md" {
			continue // TestChangelogTellsRisk
		}
		if !regexp.MustCompile(`^[a-z0-9-]+\.md$`).MatchString(path.Base(name)) {
			t.Errorf("%s: name it after the change, in lower case", name)
		}
		for _, fault := range entryFaults(readText(t, name)) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	for _, bad := range []string{
		"Y is stricter now\n", "**Risk:** z\n", "w no longer asks\n", "plain\n\nrisk: late\n", "fine, but\nwrapped\n",
		"\nlate\n", "unended", "- bullet\n", strings.Repeat("x", maxColumns+1) + "\n",
	} {
		if len(entryFaults(bad)) == 0 {
			t.Errorf("%q has no fault", bad)
		}
	}
	for _, good := range []string{"risk: x asks\n", "risk: fine, looser\n\nWhy.\n", "plain\n\nOne\nparagraph.\n\nTwo.\n"} {
		if faults := entryFaults(good); len(faults) > 0 {
			t.Errorf("%q: %q", good, faults)
		}
	}
}

// changesVerdict matches words that suggest that an entry changes verdicts.
var changesVerdict = regexp.MustCompile(`(?i)\brisk: |\b(looser|stricter)\b|\bno longer (asks?|denied|refused|allowed)\b|\*\*Risk:`)

func entryFaults(entry string) (faults []string) {
	title, rest, ended := strings.Cut(entry, "\n")
	if !ended || !strings.HasSuffix(entry, "\n") || rest != "" && !strings.HasPrefix(rest, "\n") {
		faults = append(faults, "want a title of one line, an empty line and paragraphs")
	}
	if title == "" || strings.HasPrefix(title, "- ") || len(wideLines(title)) > 0 {
		faults = append(faults, "the title is empty, a bullet or too long")
	}
	if !strings.HasPrefix(title, "risk: ") && changesVerdict.MatchString(entry) {
		faults = append(faults, `it tells of a change of verdicts, and does not begin with "risk: "`)
	}
	return faults
}

// TestChangelogOfARelease: the entries become the first section, and the next one starts with
// its risk line.
func TestChangelogOfARelease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("packaging/changelog.sh needs sh")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"packaging/changelog.sh":   readText(t, "packaging/changelog.sh"),
		"CHANGELOG.md":             "# Changelog\n\nAbout.\n\n## 1.0.0 (2026-01-01)\n\n**Risk:** none.\n",
		unreleased + "/risk.md":    riskLine + "looser.\n",
		unreleased + "/a-b.md":     "risk: looser: a\n\nOne.\nStill one.\n\nTwo.\n",
		unreleased + "/shell-c.md": "shell: c\n",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	for _, bad := range []string{"", "1.1", "v1.1.0", "1.1.0; ls", "1.0.0"} { // 1.0.0 has a section
		refused := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "packaging/changelog.sh"), bad, "2026-02-02")
		if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "changelog: ") {
			t.Errorf("version %q: %v: %s", bad, err, out)
		}
	}
	release := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "packaging/changelog.sh"), "1.1.0",
		"2026-02-02")
	if out, err := release.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := "# Changelog\n\nAbout.\n\n## 1.1.0 (2026-02-02)\n\n" + riskLine + "looser.\n\n" +
		"- risk: looser: a\n\n  One.\n  Still one.\n\n  Two.\n- shell: c\n\n## 1.0.0 (2026-01-01)\n\n" + riskLine +
		"none.\n"
	if got := readText(t, filepath.Join(dir, "CHANGELOG.md")); got != want {
		t.Errorf("the changelog is %q, want %q", got, want)
	}
	left, err := filepath.Glob(filepath.Join(dir, unreleased, "*"))
	if err != nil || len(left) != 1 || readText(t, left[0]) != riskLine+"none.\n" {
		t.Errorf("left are %q, %v", left, err)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestOneCommandRunsTheTests: the README names the same command that continuous integration
// ends with and that make calls, and it installs the tests' dependencies.
func TestOneCommandRunsTheTests(t *testing.T) {
	t.Parallel()
	if !strings.Contains(readText(t, "README.md"), "\n    .ci/test\n") {
		t.Error("the README does not name .ci/test")
	}
	if !strings.HasSuffix(readText(t, ".ci/run"), "\nexec .ci/test -vet=off # the linter has vetted\n") {
		t.Error(".ci/run does not end with .ci/test")
	}
	if !strings.Contains(readText(t, "Makefile"), "\n\t@.ci/test\n") {
		t.Error("make test is not .ci/test")
	}
	script := readText(t, ".ci/test")
	if !strings.Contains(script, " go -C lab test -short -timeout 20m \"$@\" ./...\n") {
		t.Error(".ci/test does not run the tests of the lab")
	}
	if !strings.Contains(script, "\n.ci/needs\n") || !strings.Contains(script, ` go test -short -timeout 20m "$@" $others`) ||
		!strings.Contains(script, "\nall=$(go list ./...)\nraced=$(go list \"${shared[@]}\")\nothers=$(grep -vxF \"$raced\" <<<\"$all\")\n") {
		t.Error(".ci/test does not install what is needed, or does not run all tests")
	}
	if !strings.Contains(readText(t, ".ci/full"), "go test -race -gcflags 'modernc.org/...=-race=false' -short -timeout 60m -skip \"$programs|$whole|InABrowser\" ./...\n") {
		t.Error("make full does not run the race detector over all packages")
	}
	if !strings.Contains(script, `exec go test -race -gcflags "$unchecked" -short -timeout 20m `) {
		t.Error(".ci/test does not end with the race detector")
	}
}

// TestNeedsAreNamedAtOnce: if nothing can be installed, one line names everything that is
// missing.
func TestNeedsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("bash runs it")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash runs it")
	}
	bin := t.TempDir()
	for _, there := range []string{"go", "tmux"} {
		if err := os.WriteFile(filepath.Join(bin, there), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	needs := exec.CommandContext(t.Context(), bash, ".ci/needs")
	needs.Env = []string{"PATH=" + bin}
	out, err := needs.CombinedOutput()
	if err == nil {
		t.Fatal("it passes without git")
	}
	if strings.Contains(string(out), "tmux") {
		t.Errorf("tmux is there, and %q names it", out)
	}
	for _, want := range []string{"git", "build-essential", "python3", "dash", "zsh"} {
		if !strings.Contains(string(out), " "+want) {
			t.Errorf("%s is not named in %q", want, out)
		}
	}
}

// TestReadme: it stays short, and names every package that the tests install.
func TestReadme(t *testing.T) {
	t.Parallel()
	text := readText(t, "README.md")
	if lines := strings.Count(text, "\n"); lines >= 100 {
		t.Errorf("README.md has %d lines, want fewer than 100", lines)
	}
	needs := regexp.MustCompile(`(?m)^  "\S+ (\S+) .*"$`).FindAllStringSubmatch(readText(t, ".ci/needs"), -1)
	if len(needs) < 10 {
		t.Fatalf(".ci/needs lists %q", needs)
	}
	_, tests, _ := strings.Cut(text, "\n    .ci/test\n")
	for _, need := range needs {
		if !regexp.MustCompile(`\b` + need[1] + `\b`).MatchString(tests) {
			t.Errorf("README.md does not name %s, which the tests need", need[1])
		}
	}
}

// TestTableOfContents: docs/README.md leads to every page.
func TestTableOfContents(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	contents := readText(t, "docs/README.md")
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(contents, "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// statement matches a statement that begins like a question; a question ends in a question mark.
var statement = regexp.MustCompile(`(?m)(?:^|[.:;!] |\| |^ *- |\*\*)((?:What|Who|Whoever|Whatever|Nobody)\b[^.?!]*[.?!]?)`)

// TestDocumentsSpeakPlainly: the sentences of the documentation name their subject.
func TestDocumentsSpeakPlainly(t *testing.T) {
	t.Parallel()
	files := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/adr/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		text := regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(readText(t, name), "")
		for _, found := range statement.FindAllStringSubmatch(text, -1) {
			if !strings.HasSuffix(found[1], "?") {
				t.Errorf("%s: begins like a question: %q", name, found[1])
			}
		}
	}
	if len(files) < 15 {
		t.Errorf("only %d files were read", len(files))
	}
}

// TestEveryPackageIsNamed: ARCHITECTURE.md states the purpose of each package.
func TestEveryPackageIsNamed(t *testing.T) {
	t.Parallel()
	text := readText(t, "ARCHITECTURE.md")
	var packages strings.Builder
	for _, folder := range []string{".", lab} {
		list := exec.CommandContext(t.Context(), "go", "-C", folder, "list", "-find", "./...")
		list.Stdout = &packages
		if err := list.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for path := range strings.FieldsSeq(packages.String()) {
		name := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), ".")
		if strings.HasPrefix(name, "internal/api/") {
			continue // generated
		}
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("ARCHITECTURE.md does not name %s", name)
		}
	}
}

// TestScriptNamesSayTheBehaviour: the name of a script is not a number.
func TestScriptNamesSayTheBehaviour(t *testing.T) {
	t.Parallel()
	var scripts []string
	for _, pattern := range []string{"internal/cli/testdata/*/*.txtar", "internal/cli/testdata/script/*/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, found...)
	}
	if len(scripts) < 200 {
		t.Fatalf("%d scripts", len(scripts))
	}
	for _, script := range scripts {
		if regexp.MustCompile(`^[a-z]{1,2}\d+_`).MatchString(filepath.Base(script)) {
			t.Errorf("%s: name it after what it shows", script)
		}
	}
}
