package view

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// TestOutcomeOfATrial: the timeline names the trial, counts its effects in the reader's language, and
// escapes names. A command that was led out names its destinations.
func TestOutcomeOfATrial(t *testing.T) {
	t.Parallel()
	chinese := languages.Find("zh-CN")
	for _, tt := range []struct {
		text *catalogue.Language
		data string
		want string
	}{
		{catalogue.English, `{"trial_id":"t1"}`, "t1"},
		{catalogue.English, `{"trial_id":"t1","exit":0}`, "t1, It changed nothing."},
		{
			catalogue.English, `{"trial_id":"t1","exit":2,"counts":{"created":2,"deleted":1},"paths":["/p/a"],"refused":["x.example:443"]}`,
			"t1, exit code 2, deleted 1 file, created 2 files, Refused: x.example:443",
		},
		{catalogue.English, `{"trial_id":"t1","paths":["/p/a\u001b[2J"]}`, `t1, /p/a\x1b[2J`},
		{chinese, `{"trial_id":"t1","exit":0,"counts":{"created":2}}`, "t1，创建了 2 个文件"},
		{catalogue.English, `{"status":"ok"}`, "ok"},
		{
			catalogue.English,
			`{"status":"error","reached":[{"target":"x.example:443","by":"x.example:443","times":2,"sent":5,"got":7}],` +
				`"refused":["y.example:443"]}`,
			"error, Reached: x.example:443 (x.example:443), 2 connections, 5 B sent, 7 B received, Refused: y.example:443",
		},
	} {
		if got := Outcome(&umpire.Event{Data: []byte(tt.data)}, tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.data, got, tt.want)
		}
	}
}

// TestOutcomeOfAnApproval: the timeline gives the scope in the reader's language.
func TestOutcomeOfAnApproval(t *testing.T) {
	t.Parallel()
	for scope, want := range map[umpire.Scope]string{
		umpire.ScopeOnce: "一次", umpire.ScopeSession: "本次对话", umpire.ScopeProject: "此项目", umpire.ScopeGlobal: "全局",
	} {
		if got := Outcome(&umpire.Event{Scope: &scope}, languages.Find("zh-CN")); got != want {
			t.Errorf("%s: %q, want %q", scope, got, want)
		}
		if got := Outcome(&umpire.Event{Scope: &scope}, catalogue.English); got != scope.String() {
			t.Errorf("%s: %q", scope, got)
		}
	}
}
