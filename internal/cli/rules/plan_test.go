package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

func TestReadPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plan string
		want []string
	}{
		"nothing":         {"Look at it, then do it e.g. v1.2 of it.", nil},
		"spans":           {"Run `go test ./...`, then `git push origin fix`; call `parse(x)`.", []string{"go test ./...", "git push origin fix"}},
		"a block":         {"First:\n```sh\n$ npm install zod\nnpm test\n```\nthen stop", []string{"npm install zod", "npm test"}},
		"code of another": {"```go\nimport x\nfind y\n```\n", nil},
		"files":           {"Edit src/new/a.go, **README.md**, `docs/b.md`. Not Node.js or ../x.go or /etc/x.conf.", []string{"src/new/a.go", "README.md", "docs/b.md"}},
	} {
		input, err := json.Marshal(map[string]any{"plan": []string{c.plan}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, call := range readPlan(&umpire.Call{Tool: "ExitPlanMode", Dir: dir, Input: input}) {
			got = append(got, view.SubjectOf(call.Input))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
