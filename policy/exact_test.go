package policy

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
)

// A grant covers only the command that would run, not another one in the same input: field
// names are matched exactly.
func TestExactReadsTheCommandThatRuns(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"command":" make x "}`:                    "make x",
		`{"cmd":"make x"}`:                          "make x",
		`{"command":"rm -rf src","Command":"make"}`: "rm -rf src",
		`{"COMMAND":"make x"}`:                      "",
		`{"command":"a","cmd":"b"}`:                 "",
		`{"command":7}`:                             "",
		`{}`:                                        "",
		`[]`:                                        "",
	} {
		if got := Exact(umpire.Call{Tool: "Bash", Input: json.RawMessage(input)}); got != want {
			t.Errorf("Exact(%s) is %q, want %q", input, got, want)
		}
	}
}
