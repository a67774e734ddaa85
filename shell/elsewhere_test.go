package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestCodeElsewhere: running code in a folder outside the project is not a look, however the folder is named.
func TestCodeElsewhere(t *testing.T) {
	t.Parallel()
	top := func(string) string { return "/home/u" }
	for line, want := range map[string]bool{
		"make -C ../x test": true, "npm --prefix ../x test": true, "pytest /tmp/x": true, "rspec ../x/spec": true,
		"cd ../x && go test ./...": true, "go -C ../x test ./...": true, "go test ../x/...": true,
		"pytest": false, "pytest tests": false, "rspec spec": false, "cd sub && go test ./...": false,
		"cat ../x/a.go": false, "go version": false,
	} {
		for _, within := range []bool{false, true} {
			env := Env{Dir: "/home/u/p", Home: "/home/u"}
			if within { // the folder beside it is in the same work tree
				env.GitTop = top
			}
			raised := false
			for _, a := range Parse(line, env) {
				raised = raised || a.Kind == umpire.KindExec && a.Code && a.Risk.AtLeast(umpire.Medium)
			}
			if within && line != "pytest /tmp/x" && want && raised && line != "make -C ../x test" {
				t.Errorf("%q asks in the same work tree", line)
			}
			if !within && raised != want {
				t.Errorf("%q runs code of another folder: %t, want %t", line, raised, want)
			}
		}
	}
}

// TestCodeOfTheLine: a check is not a look if the line writes code that it may run.
func TestCodeOfTheLine(t *testing.T) {
	t.Parallel()
	for _, write := range []string{
		"echo x > conftest.py", "cp /opt/a conftest.py", "sed -i s/a/b/ a.go", "tee build.rs < a", "mv a.txt CMakeLists.txt",
		"printf x >> src/a_test.go", "curl -so package.json https://example.com", "ln -s /opt/a conftest.py", "echo x > $F",
	} {
		for _, check := range []string{"pytest", "go test ./...", "cargo build", "npm test", "make test"} {
			for _, line := range []string{
				write + " && " + check, check + "; " + write, "for i in 1 2; do " + check + "; " + write + "; done",
				write + " & " + check, "if " + write + "; then " + check + "; fi",
			} {
				if !runsCodeUnseen(line) {
					t.Errorf("%q is a look", line)
				}
			}
		}
	}
	for _, line := range []string{
		"pytest > out.log 2>&1", "mkdir -p build && cargo build", "go test ./... | tee test.log", "pytest; echo done >> notes.md",
		"echo x > /dev/null && pytest", "echo x > /opt/a && pytest", "rm a.txt; pytest", "pytest > out", "cat a && pytest",
	} {
		if runsCodeUnseen(line) {
			t.Errorf("%q is no look", line)
		}
	}
}

func runsCodeUnseen(line string) bool {
	return slices.ContainsFunc(Parse(line, Env{Dir: "/home/u/p", Home: "/home/u"}), func(a umpire.Access) bool {
		return a.Kind == umpire.KindExec && a.Code && a.Risk.AtLeast(umpire.Medium)
	})
}

// TestMissingValues: a line that lacks the value of its last option is parsed like any other.
func TestMissingValues(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"find -D", "find . -D", "find -f", "find -O", "find -D x", "find -L -D"} {
		if len(Parse(line, neverSafeEnv)) == 0 {
			t.Errorf("%q: nothing is known", line)
		}
	}
	if got := worstRisk(Parse("vgremove --test vg0", neverSafeEnv)); got.AtLeast(umpire.Critical) {
		t.Errorf("vgremove --test: %v", got)
	}
	for _, line := range []string{"vgremove vg0", "vgremove --test --config x vg0", "vgremove -y vg0"} {
		if got := worstRisk(Parse(line, neverSafeEnv)); got != umpire.Critical {
			t.Errorf("%s: %v", line, got)
		}
	}
}
