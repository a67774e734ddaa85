package policy

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// A tool that reads is told where in a field that umpire knows, or it is not known what
// its host would open.
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

// A pattern that leads outside is a path, in braces too.
func TestPatternsThatLeave(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"**/*.go": false, "{a,b}/c": false, "/etc/*": true, "{/etc,a}/*": true, "{a,~/x}": true, "a/../b": true, "a~": false,
	} {
		if leaves(pattern) != want {
			t.Errorf("%q leaves: %t", pattern, !want)
		}
	}
}
