package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// runsOwnCodeOnly reports whether a line runs at most programs of the project, and none that
// may run code the line writes.
func runsOwnCodeOnly(line string) bool {
	return !slices.ContainsFunc(Parse(line, Env{Dir: "/p"}), func(a umpire.Access) bool {
		return a.Kind == umpire.KindExec && (a.Risk.AtLeast(umpire.Medium) && a.Program != "gofmt" || a.Doubt != "")
	})
}

func TestWhatTheCodeOfTheProjectGives(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"go build -o tool && go test ./...", "go build -o ./bin/tool . && golangci-lint run", "gofmt -w . && go test ./...",
		"gofmt -l -w a.go; go vet ./...", "go build -o tool ./cmd/tool && npm test",
	} {
		if !runsOwnCodeOnly(line) {
			t.Errorf("is taken for unknown code: %s", line)
		}
	}
	for _, line := range []string{
		"go build -o conftest.py && pytest", "go build -o node_modules/.bin/eslint && npx eslint .",
		"go build -o .git/hooks/pre-commit && go test", "go build -o tool /tmp/evil && go test", "go build -o tool ../x && go test",
		"go build -o tool evil.go && go test", "go build -overlay=x.json -o tool && go test", "go build -o tool$X && go test",
		"gofmt -r 'a -> b' -w . && go test", "gofmt -w -cpuprofile x_test.go . && go test", "echo x > a_test.go && go test",
		"go build -o tool > a_test.go && go test", "gofmt a.go > a_test.go && go test", "cp x a_test.go && gofmt -w . && go test",
		"go build -buildmode=c-archive -o tool && go test", "go build -toolexec ./evil -o tool && go test",
	} {
		if runsOwnCodeOnly(line) {
			t.Errorf("is taken for code of the project: %s", line)
		}
	}
}

// TestCompilersRunNothing: configured to run a program, a compiler counts as running project code.
func TestCompilersRunNothing(t *testing.T) {
	t.Parallel()
	env := func(file string, settings ...GitSetting) Env {
		return Env{
			Dir: "/p",
			Git: func(string) ([]GitSetting, error) { return settings, nil },
			Find: func(_ string, names ...string) string {
				if slices.Contains(names, file) {
					return file
				}
				return ""
			},
		}
	}
	coded := func(line string, env Env) bool {
		return slices.ContainsFunc(Parse(line, env), func(a umpire.Access) bool { return a.Code })
	}
	harmless := GitSetting{Key: "core.fsmonitor", Value: "false"}
	lines := []string{"go build ./...", "go build -o tool", "go vet ./...", "golangci-lint run", "golangci-lint run ./pkg/..."}
	for _, line := range lines {
		if coded(line, env("", harmless)) {
			t.Errorf("counts as code of the project: %s", line)
		}
		if !coded(line, env("", GitSetting{Key: "core.fsmonitor", Value: "./evil"})) || !coded(line, Env{Dir: "/p"}) {
			t.Errorf("git may run a program: %s", line)
		}
		for _, file := range []string{".hg", ".svn", ".bzr", "_FOSSIL_"} {
			if !coded(line, env(file)) {
				t.Errorf("%s is obeyed: %s", file, line)
			}
		}
	}
	for _, line := range []string{"go test ./...", "go run .", "go generate ./...", "go tool evil", "go install .",
		"staticcheck ./...", "golangci-lint custom"} {
		if !coded(line, env("")) {
			t.Errorf("runs code of the project: %s", line)
		}
	}
	if !coded("golangci-lint run", env(".golangci.yml")) {
		t.Error("the settings of golangci-lint may name plugins")
	}
}
