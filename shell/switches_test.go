package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// switched are commands that obey switches as code of the project does.
var switched = []string{
	"go test ./...", "go build ./...", "go vet ./...", "npx jest", "pytest -q", "npm test", "cargo test", "mvn -q test",
	"./gradlew test", ".venv/bin/pytest", "bin/rails test", "yarn vitest run",
}

// startsWith are the ways to give a command a variable.
var startsWith = []string{
	"%s ", "env %s ", "X=1 %s env -u A ", "%s timeout 60 ", "nice -n 5 env %s ", "%s nohup nice ", "env -u A %s time ",
	"cd src && %s command ", "timeout 60 env A=2 %s stdbuf -oL ",
}

func TestSwitchesOfTheProjectsCode(t *testing.T) {
	t.Parallel()
	env := projectWith(nil)
	for _, assignment := range []string{"FOO=1", "RUN_SLOW=true", "E2E=0", "SKIP_NETWORK=yes", "LOG=debug", "TIER2=on"} {
		for _, start := range startsWith {
			for _, command := range switched {
				line := strings.Replace(start, "%s", assignment, 1) + command
				facts := Parse(line, env)
				if !asksNothing(facts) {
					t.Errorf("asks: %s: %+v", line, facts)
				}
				isCode := func(a umpire.Access) bool { return a.Code }
				runsCode := slices.ContainsFunc(Parse(command, env), isCode)
				if set := slices.IndexFunc(facts, func(a umpire.Access) bool { return a.Table == environmentTable }); set < 0 ||
					facts[set].Code != runsCode {
					t.Errorf("%s: %+v", line, facts)
				}
			}
		}
	}
}

// TestOtherVariablesAsk: a variable with another value, or one that tools obey, asks.
func TestOtherVariablesAsk(t *testing.T) {
	t.Parallel()
	env := projectWith(nil)
	for assignment := range strings.FieldsSeq(`LD_PRELOAD=1 PATH=1 PATH=.:/bin NODE_OPTIONS=--require=./x NODE_PATH=1
		GOFLAGS=-toolexec=./x GOFLAGS=-mod=mod GOFLAGS=-overlay=x GOFLAGS=-exec=./x GOFLAGS=-modfile=x GOFLAGS=-ldflags=-extld=x
		GOTOOLCHAIN=1 GOPROXY=1 GOINSECURE=1 GONOSUMDB=1 CC=1 CXX=1 AR=1 CGO_CFLAGS=1 RUSTC=1 RUSTC_WRAPPER=1 CARGO_HOME=1
		PYTHONPATH=/x PYTHONSTARTUP=1 PYTHONHOME=1 PYTHONINSPECT=1 PERL5LIB=1 RUBYOPT=1 RUBYLIB=1 JAVA_TOOL_OPTIONS=1
		MAVEN_OPTS=1 GRADLE_OPTS=1 BASH_ENV=1 ENV=1 SHELL=1 IFS=1 PS4=1 HOME=1 TMPDIR=1 PAGER=1 EDITOR=1 GIT_PAGER=1
		GIT_SSH_COMMAND=1 SSH_ASKPASS=1 npm_config_ignore_scripts=false NPM_CONFIG_GLOBAL=true YARN_RC_FILENAME=1
		API_TOKEN=1 MY_SECRET=1 UPDATE_SNAPSHOTS=1 INSTA_FORCE_UPDATE=1 REGENERATE_GOLDEN=true DEPLOY=1 DROP_DB=yes
		DELETE_ALL=1 NODE_TLS_REJECT_UNAUTHORIZED=0 HTTPS_PROXY=1 MY_PLUGIN=1 X_CONFIG=1 MYPATH=1 XFLAGS=1 FOO=bar
		FOO=./x FOO=/x FOO=-x FOO=$X FOO=$(x) FOO=1.so FOO= foo=1 F-O=1 WRAPPER=1 MAKEFLAGS=1 DJANGO_SETTINGS_MODULE=/x
		ELECTRON_RUN_AS_NODE=1 MALLOC_CHECK_=1 GLIBC_TUNABLES=1 TEST_OUTPUT=1 DEPENDENCIES_OUTPUT=1`) {
		for _, start := range startsWith {
			for _, command := range []string{"go test ./...", "npx jest", ".venv/bin/pytest"} {
				if line := strings.Replace(start, "%s", assignment, 1) + command; asksNothing(Parse(line, env)) {
					t.Errorf("runs unasked: %s", line)
				}
			}
		}
	}
}

// TestSwitchesOfOtherCommandsAsk: nothing is known of what other programs do with a variable.
func TestSwitchesOfOtherCommandsAsk(t *testing.T) {
	t.Parallel()
	env := projectWith(nil)
	for _, command := range []string{
		"ls", "git log", "rg x", "./x.sh", "go run .", "go test -exec ./x", "sh -c 'go test'", "xargs go test", "make", "go list ./...",
		"f", "eval go test", "find . -exec go test {} +", "npx some-package", "sudo go test", "watch go test", "rm x && go test",
	} {
		for _, start := range startsWith {
			line := "f() { ls; go test; }; " + strings.Replace(start, "%s", "FOO=1", 1) + command
			if asksNothing(Parse(line, env)) {
				t.Errorf("runs unasked: %s", line)
			}
		}
	}
}
