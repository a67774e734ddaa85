package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// heavy are the packages that a program started for every call must not link: each
// does work at its start, whether it is used or not.
var heavy = regexp.MustCompile(`^(net/http|net/rpc|crypto/sha256|crypto/tls|crypto/rsa|database/sql|log|flag|html/.*|text/template|go/.*|` +
	`github\.com/spf13/.*|modernc\.org/.*|github\.com/jackc/.*|google\.golang\.org/.*|connectrpc\.com/.*|` +
	`github\.com/zricethezav/.*|github\.com/charmbracelet/.*|charm\.land/.*|golang\.org/x/(net|term|text)/.*|` +
	`github\.com/fsnotify/.*|go\.yaml\.in/.*|gopkg\.in/.*|` +
	`github\.com/umpirehq/umpire/internal/(api|client|server|store|gate|secret|rulefile|llm|tool|agent|tui|mcp|sandbox|userhook|host/setup)(/.*)?)$`)

func TestLinksNothingHeavy(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Fatalf("go list names %d packages", len(packages))
	}
	for _, name := range packages {
		if heavy.MatchString(name) {
			t.Errorf("links %s", name)
		}
	}
	for _, name := range []string{"net/http", "modernc.org/sqlite", "go.yaml.in/yaml/v3", "github.com/umpirehq/umpire/internal/gate"} {
		if !heavy.MatchString(name) {
			t.Errorf("%s would pass", name)
		}
	}
}

// TestStartIsReported tells what the program does before main. How long that takes
// is for people to read; that it can be read at all is checked.
func TestStartIsReported(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "umpire-hook")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program)
	var trace bytes.Buffer
	cmd.Stderr, cmd.Env = &trace, append(os.Environ(), "GODEBUG=inittrace=1")
	_ = cmd.Run() // it refuses a command line without words
	packages, total := 0, 0.0
	for _, found := range regexp.MustCompile(`(?m)^init \S+ @\S+ ms, (\S+) ms clock`).FindAllStringSubmatch(trace.String(), -1) {
		took, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		packages, total = packages+1, total+took
	}
	t.Logf("%d packages are initialised, in %.2f ms", packages, total)
	if packages == 0 || packages > 35 {
		t.Errorf("%d packages are initialised:\n%s", packages, &trace)
	}
}
