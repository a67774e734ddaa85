package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

func TestGitWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, input, want string }{
		{"GitStatus", `{}`, "git status"},
		{"GitStatus", `{"paths":["a","-b"]}`, "git status -- a -b"},
		{"GitDiff", `{"staged":true,"stat":"true","revision":"main..x","paths":"a"}`, "git diff --cached --stat main..x -- a"},
		{"GitDiff", `{"staged":false,"revision":null}`, "git diff"},
		{"GitLog", `{"limit":"5","revision":"HEAD~2"}`, "git log -n 5 HEAD~2"},
		{"GitCommit", `{"message":"a b","all":true}`, "git commit -a -m 'a b'"},
		{"GitCommit", `{}`, "git commit"},
		{"GitPush", `{}`, "git push origin HEAD"},
		{"GitPush", `{"remote":"up/stream","branch":"topic/a.b","set_upstream":true}`, "git push --set-upstream up/stream topic/a.b"},
		{"GitPush", `{"force":true}`, "git push origin HEAD"},
		{"GitCheckout", `{"branch":"main"}`, "git checkout main"},
		{"GitCheckout", `{"branch":"new","create":true}`, "git checkout -b new"},
		{"GitCheckout", `{"revision":"HEAD~1","paths":["a"]}`, "git checkout HEAD~1 -- a"},
	} {
		words, err := GitWords(umpire.Call{Tool: tt.tool, Input: json.RawMessage(tt.input)})
		if err != nil || JoinPrefix(words) != tt.want {
			t.Errorf("%s %s: %q, %v", tt.tool, tt.input, words, err)
		}
	}
}

// TestGitWordsMeanNoMore: input that would make a Git tool exceed its purpose is malformed, and
// the error names the field.
func TestGitWordsMeanNoMore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, input, want string }{
		{"GitDiff", `{"revision":"--output=/etc/passwd"}`, "input.revision: "},
		{"GitDiff", `{"revision":"a\nb"}`, "input.revision: "},
		{"GitLog", `{"revision":"-1"}`, "input.revision: "},
		{"GitLog", `{"limit":0}`, "input.limit: "},
		{"GitLog", `{"limit":"1 --output=x"}`, "input.limit: "},
		{"GitStatus", `{"paths":[""]}`, "input.paths[0]: "},
		{"GitStatus", `{"paths":[3]}`, "input.paths[0]: "},
		{"GitCommit", `{"message":["-m"]}`, "input.message: "},
		{"GitCommit", `{"message":"a\u0000b"}`, "input.message: "},
		{"GitCommit", `{"all":"--amend"}`, "input.all: "},
		{"GitPush", `{"branch":"+main"}`, "input.branch: "},
		{"GitPush", `{"branch":":main"}`, "input.branch: "},
		{"GitPush", `{"branch":"a:b"}`, "input.branch: "},
		{"GitPush", `{"branch":"--force"}`, "input.branch: "},
		{"GitPush", `{"branch":"refs/heads/*"}`, "input.branch: "},
		{"GitPush", `{"remote":"--receive-pack=x"}`, "input.remote: "},
		{"GitPush", `{"remote":"ext::sh -c x"}`, "input.remote: "},
		{"GitPush", `{"remote":"https://example.com/x"}`, "input.remote: "},
		{"GitPush", `{"remote":"git@example.com:x"}`, "input.remote: "},
		{"GitPush", `{"remote":"../other"}`, "input.remote: "},
		{"GitPush", `{"remote":"/srv/other"}`, "input.remote: "},
		{"GitPush", `{"remote":"."}`, "input.remote: "},
		{"GitCheckout", `{"branch":"-f"}`, "input.branch: "},
		{"GitCheckout", `{"branch":"a..b","create":true}`, "input.branch: "},
		{"GitCheckout", `{"branch":"a","create":true,"paths":["x"]}`, "input.paths: "},
	} {
		words, err := GitWords(umpire.Call{Tool: tt.tool, Input: json.RawMessage(tt.input)})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s %s: %q, %v", tt.tool, tt.input, words, err)
		}
		if _, err := FactsOf(umpire.Call{Tool: tt.tool, Input: json.RawMessage(tt.input)}, shell.Env{Dir: "/p"}); err == nil {
			t.Errorf("%s %s: has facts", tt.tool, tt.input)
		}
	}
	if _, err := GitWords(umpire.Call{Tool: "Bash"}); err == nil {
		t.Error("Bash has words")
	}
}

// TestGitToolsAreJudgedByTheirWords: the facts of a Git tool describe the same words that run,
// have at least the tool's risk, and contain the effects of the words in a shell.
func TestGitToolsAreJudgedByTheirWords(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-z][a-z0-9/'" $*.-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		call := umpire.Call{Tool: rapid.SampledFrom([]string{"GitStatus", "GitDiff", "GitLog", "GitCommit", "GitPush", "GitCheckout"}).Draw(t, "tool")}
		in := map[string]any{}
		for _, field := range []string{"revision", "branch", "remote", "message"} {
			if rapid.Bool().Draw(t, "with "+field) {
				in[field] = name.Draw(t, field)
			}
		}
		for _, field := range []string{"all", "staged", "create", "set_upstream"} {
			in[field] = rapid.Bool().Draw(t, field)
		}
		if rapid.Bool().Draw(t, "with paths") {
			in["paths"] = rapid.SliceOfN(name, 0, 3).Draw(t, "paths")
		}
		call.Input, _ = json.Marshal(in)
		words, err := GitWords(call)
		facts, errFacts := FactsOf(call, shell.Env{Dir: "/p"})
		if (err == nil) != (errFacts == nil) {
			t.Fatalf("words: %v, facts: %v", err, errFacts)
		}
		if err != nil {
			return
		}
		known := toolOf(call.Tool)
		if !slices.ContainsFunc(facts.Accesses, func(a umpire.Access) bool {
			return a.Kind == umpire.KindExec && a.Program == "git" && slices.Equal(a.Args, words[1:]) && a.Risk.AtLeast(known.risk)
		}) {
			t.Fatalf("%q: %+v", words, facts.Accesses)
		}
		if facts.Type != known.kind {
			t.Fatalf("type %s", facts.Type)
		}
	})
}

// TestGitCheckoutOfAControlFile: a Git tool asks, as a shell command does.
func TestGitCheckoutOfAControlFile(t *testing.T) {
	t.Parallel()
	facts, err := FactsOf(umpire.Call{Tool: "GitCheckout", Input: json.RawMessage(`{"branch":"main","paths":[".umpire/permissions.json"]}`)}, shell.Env{Dir: "/p"})
	if err != nil || !slices.ContainsFunc(facts.Accesses, func(a umpire.Access) bool {
		return a.Kind == umpire.KindWrite && a.Target == "/p/.umpire/permissions.json"
	}) {
		t.Errorf("%v %+v", err, facts.Accesses)
	}
}
