package umpire_test

import (
	"encoding/csv"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/requirements.csv names the test of each requirement. A reader must judge its assertions;
// these tests check that it exists and runs.

// requirementIDs are the prefixes of ids, with the number of ids for each.
var requirementIDs = []struct {
	prefix string
	count  int
}{{"M", 215}, {"MP", 40}, {"D", 50}, {"DS", 13}, {"C", 80}, {"S", 68}, {"NU", 4}, {"N", 124}}

// maxDeclined is the maximum number of declined requirements.
const maxDeclined = 25

// neverDeclined are the ranges of requirements that must not be declined.
var neverDeclined = []struct {
	prefix   string
	from, to int
}{{"M", 164, 204}, {"D", 1, 49}, {"C", 1, 79}, {"S", 1, 67}, {"N", 83, 112}}

type requirement struct{ id, observable, test string }

func readRequirements(t *testing.T) []requirement {
	t.Helper()
	file, err := os.Open(filepath.Join("docs", "requirements.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(records[0], []string{"id", "observable", "test"}) {
		t.Fatalf("the columns are %q", records[0])
	}
	rows := make([]requirement, len(records)-1)
	for i, r := range records[1:] {
		rows[i] = requirement{r[0], r[1], r[2]}
	}
	return rows
}

// TestEveryRequirementIsListed: each id has one row with observable behaviour, and few are
// declined.
func TestEveryRequirementIsListed(t *testing.T) {
	t.Parallel()
	var want []string
	for _, ids := range requirementIDs {
		for n := range ids.count {
			want = append(want, fmt.Sprintf("%s-%d", ids.prefix, n+1))
		}
	}
	firm := map[string]bool{}
	for _, ids := range neverDeclined {
		for n := ids.from; n <= ids.to; n++ {
			firm[fmt.Sprintf("%s-%d", ids.prefix, n)] = true
		}
	}
	var got []string
	declined := 0
	for _, r := range readRequirements(t) {
		got = append(got, r.id)
		if strings.TrimSpace(r.observable) == "" || strings.TrimSpace(r.test) == "" {
			t.Errorf("%s: a column is empty", r.id)
		}
		if reason, is := strings.CutPrefix(r.test, "declined:"); is {
			declined++
			if firm[r.id] || len(reason) < 20 {
				t.Errorf("%s cannot be declined because%s", r.id, reason)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d, each id once", len(got), len(want))
	}
	if declined > maxDeclined {
		t.Errorf("%d are declined, and %d may be", declined, maxDeclined)
	}
}

// TestEveryRequirementHasItsTest: the tests that the rows name exist, are part of an ordinary
// run, and do not skip themselves.
func TestEveryRequirementHasItsTest(t *testing.T) {
	t.Parallel()
	known := map[string]map[string]error{}
	for _, r := range readRequirements(t) {
		if strings.HasPrefix(r.test, "declined:") {
			continue
		}
		for named := range strings.SplitSeq(r.test, "; ") {
			dir, name, _ := strings.Cut(named, " ")
			name, script, scripted := strings.Cut(name, "/")
			if known[dir] == nil {
				known[dir] = testsIn(t, dir)
			}
			err, found := known[dir][name]
			switch {
			case !found:
				t.Errorf("%s: %s has no test %s", r.id, dir, name)
			case err != nil:
				t.Errorf("%s: %s %s: %v", r.id, dir, name, err)
			case scripted:
				if err := runsScript(dir, name, script); err != nil {
					t.Errorf("%s: %v", r.id, err)
				}
			}
		}
	}
}

// testsIn returns the tests of a package, each with the reason that prevents it from running, if any.
func testsIn(t *testing.T, dir string) map[string]error {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]error{}
	for _, name := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			tests[f.Name.Name] = cmpError(taggedAway(parsed), skipsAlways(f))
		}
	}
	return tests
}

func cmpError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// platformTag matches constraints that name only platforms.
var platformTag = regexp.MustCompile(`^//go:build (!?(unix|linux|darwin|windows|amd64|arm64|race)( |$)|&&|\|\|| |\(|\))*$`)

// taggedAway returns an error if a constraint excludes the file from an ordinary run.
func taggedAway(file *ast.File) error {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:build ") && !platformTag.MatchString(c.Text) {
				return fmt.Errorf("it needs %s", c.Text)
			}
		}
	}
	return nil
}

// skipsAlways returns an error if a test skips itself on every machine.
func skipsAlways(f *ast.FuncDecl) error {
	for _, statement := range f.Body.List {
		call, is := statement.(*ast.ExprStmt)
		if !is {
			continue
		}
		if c, is := call.X.(*ast.CallExpr); is {
			if s, is := c.Fun.(*ast.SelectorExpr); is && strings.HasPrefix(s.Sel.Name, "Skip") {
				return fmt.Errorf("it always skips")
			}
		}
	}
	return nil
}

// scriptFolders are the folders with the scripts of each test.
var scriptFolders = map[string]string{"TestScripts": "script", "TestP0DScripts": "p0d"}

// alwaysSkips matches a script line that ends the script without a condition.
var alwaysSkips = regexp.MustCompile(`(?m)^skip\b`)

func runsScript(dir, test, script string) error {
	folder, is := scriptFolders[test]
	if !is {
		return fmt.Errorf("%s runs no scripts", test)
	}
	name := filepath.Join(dir, "testdata", folder, script+".txtar")
	if found, _ := filepath.Glob(filepath.Join(dir, "testdata", folder, "*", script+".txtar")); len(found) == 1 {
		name = found[0]
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, _, _ := strings.Cut(string(data), "\n-- ")
	if alwaysSkips.MatchString(text) {
		return fmt.Errorf("the script %s always skips", script)
	}
	return nil
}

// p0dNames are the names in the acceptance suite, fixed before it was written.
var p0dNames = []string{
	"project_identity_same_repo_same_id", "project_identity_diff_repo_diff_id", "project_identity_non_git_stable",
	"boundary_external_directory_detected", "risk_critical_always_denied", "risk_high_requires_confirmation",
	"continue_only_within_current_project", "session_cross_project_denied_by_default", "session_cross_project_allowed_with_explicit_flag",
	"permission_gateway_enforced_for_run_and_repl", "repl_timeline_contains_permission_events",
	"grpc_sse_permission_fields_match_timeline", "project_a_resume_returns_a_latest_root_session",
}

// TestP0DSuite: N-100 to N-115. Each name is a subtest of a TestP0D function, or a script that
// it runs.
func TestP0DSuite(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	scripts, err := filepath.Glob(filepath.Join("internal", "cli", "testdata", "p0d", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		found[strings.TrimSuffix(filepath.Base(name), ".txtar")] = true
	}
	for _, dir := range []string{"project", "gate", "server"} {
		files, err := filepath.Glob(filepath.Join("internal", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			for _, sub := range p0dSubtests(t, name) {
				found[sub] = true
			}
		}
	}
	for _, name := range p0dNames {
		if !found[name] {
			t.Errorf("no TestP0D function runs %s", name)
		}
	}
}

// p0dSubtests returns the names that a file's TestP0D functions pass to t.Run.
func p0dSubtests(t *testing.T, name string) (subtests []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		f, is := decl.(*ast.FuncDecl)
		if !is || !strings.HasPrefix(f.Name.Name, "TestP0D") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, is := n.(*ast.CallExpr); is && len(c.Args) == 2 {
				if s, is := c.Fun.(*ast.SelectorExpr); is && s.Sel.Name == "Run" {
					if text, is := c.Args[0].(*ast.BasicLit); is {
						subtests = append(subtests, strings.Trim(text.Value, `"`))
					}
				}
			}
			return true
		})
	}
	return subtests
}
