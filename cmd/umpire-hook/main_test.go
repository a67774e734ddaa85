package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// heavy are the packages that a program started for every call must not link: each
// does work at its start, whether it is used or not.
var heavy = regexp.MustCompile(`^(net/http|net/rpc|os/exec|crypto/sha256|crypto/tls|crypto/rsa|database/sql|log|flag|html/.*|text/template|go/.*|` +
	`github\.com/spf13/.*|modernc\.org/.*|github\.com/jackc/.*|google\.golang\.org/.*|connectrpc\.com/.*|` +
	`github\.com/zricethezav/.*|github\.com/charmbracelet/.*|charm\.land/.*|golang\.org/x/(net|term|text)/.*|` +
	`github\.com/fsnotify/.*|go\.yaml\.in/.*|gopkg\.in/.*|` +
	`github\.com/umpirehq/umpire/internal/(api|client|server|store|gate|secret|rulefile|llm|tool|agent|tui|mcp|sandbox|hook)(/.*)?)$`)

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
