package umpire_test

import (
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

func TestEffectsSurviveJSON(t *testing.T) {
	t.Parallel()
	want := umpire.TrialEffects{
		List: []umpire.TrialEffect{
			{Kind: umpire.EffectCreated, Path: "/p/a", Mode: 0o644, Size: 3, SameAs: "/p/b"},
			{Kind: umpire.EffectDeleted, Path: "/p/caf\xe9 100%", Mode: fs.ModeDir | 0o755},
			{Kind: umpire.EffectMoved, Path: "/p/\xff", From: "/p/%41", Mode: fs.ModeSetuid | fs.ModeSetgid | 0o4755&0o777},
			{Kind: umpire.EffectChanged, Path: "/p/l", Mode: fs.ModeSymlink | 0o777, Link: "../\xfe", LeadsOut: true},
			{Kind: umpire.EffectAttributes, Path: "/p/d", Mode: fs.ModeDevice | fs.ModeCharDevice | fs.ModeSticky},
		},
		Refused: []umpire.TrialAttempt{
			{Kind: umpire.AttemptNetwork, Target: "registry.example:443"},
			{Kind: umpire.AttemptWrite, Target: "/etc/\xe9"},
		},
		Whole: true, Digest: "d",
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got umpire.TrialEffects
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a round trip of %s (-want +got):\n%s", data, diff)
	}
}

func TestUnreadableEffects(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"list":[{"path":"/p/%4"}]}`, `{"list":[{"path":"/p/%zz"}]}`, `{"list":[{"path":"/p","mode":"rwx"}]}`,
		`{"list":[{"path":"/p","mode":"Zrwxrwxrwx"}]}`, `{"refused":[{"target":"%"}]}`, `{"list":3}`,
	} {
		var got umpire.TrialEffects
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read without an error", text)
		}
	}
}
