package policy

import (
	"encoding/json"
	"path"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// A reading tool must be told where to look in a field that umpire knows. Otherwise it is
// unknown what its host would open.
func TestPathsInUnknownFieldsAreDoubt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tool, input string
		doubt       bool
	}{
		{"Read", `{}`, false},
		{"Read", `{"file_path":"a.txt","offset":5,"pages":"1-2"}`, false},
		{"Read", `{"absolute_path":"/etc/shadow"}`, true},
		{"Read", `{"file":"a.txt"}`, true},
		{"Read", `{"File_Path":"/etc/shadow"}`, true},
		{"Read", `{"file_path":"a.txt","target":"/etc/shadow"}`, true},
		{"Read", `{"file_path":"a.txt","purpose":"to see it"}`, false},
		{"Grep", `{"pattern":"/x","glob":"*.go","output_mode":"content"}`, false},
		{"Grep", `{"pattern":"x","dir_path":"../other"}`, true},
		{"LS", `{"directory":"~/x"}`, true},
		{"Write", `{"file_path":"a.txt","content":"/etc/shadow"}`, false},
	} {
		facts, err := FactsOf(umpire.Call{Tool: row.tool, Input: json.RawMessage(row.input), Dir: "/p"}, shell.Env{Home: "/home/ann"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range facts.Accesses {
			if (a.Doubt != "") != row.doubt {
				t.Errorf("%s %s: doubt %q", row.tool, row.input, a.Doubt)
			}
		}
	}
}

// A pattern that leads outside counts as a path, even within braces.
func TestPatternsThatLeave(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"**/*.go": false, "{a,b}/c": false, "/etc/*": true, "{/etc,a}/*": true, "{a,~/x}": true, "a/../b": true, "a~": false,
	} {
		if leavesFolder(pattern) != want {
			t.Errorf("%q leaves: %t", pattern, !want)
		}
	}
}

// A search without a folder looks in the working directory, so denied files there are denied to
// it too. A pattern says where it looks.
func TestSearchesOfTheFolder(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "deny Read(secret/**)")
	for _, row := range []struct {
		tool, input string
		want        umpire.Verdict
	}{
		{"Grep", `{"pattern":"x"}`, umpire.Deny},
		{"Grep", `{"pattern":"x","path":"."}`, umpire.Deny},
		{"Grep", `{"pattern":"x","path":"src"}`, umpire.Allow},
		{"LS", `{}`, umpire.Allow},
		{"Glob", `{"pattern":"**/*.go"}`, umpire.Allow},
		{"Glob", `{"pattern":"secret/*"}`, umpire.Deny},
		{"Glob", `{"pattern":"{src,secret}/*"}`, umpire.Deny},
		{"Glob", `{"pattern":"./secret/a/*.go"}`, umpire.Deny},
		{"Glob", `{"pattern":"a/*","path":"secret"}`, umpire.Deny},
		{"Glob", `{"pattern":"src/*"}`, umpire.Allow},
	} {
		call := umpire.Call{Tool: row.tool, Input: json.RawMessage(row.input), Dir: testRoot}
		facts, err := FactsOf(call, shell.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range facts.Accesses {
			a := &facts.Accesses[i]
			a.Place, a.Resolved = umpire.PlaceInside, path.Clean(a.Target)
		}
		if d := Decide(p, Query{Call: call, Facts: facts, Conditions: Conditions{Mode: umpire.ModeDefault}}); d.Verdict != row.want {
			t.Errorf("%s %s: %s, want %s: %s", row.tool, row.input, d.Verdict, row.want, d.Reason)
		}
	}
}
