package relay

import (
	"testing"
	"time"
)

func TestParseOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want Options // the zero value is an error
	}{
		{nil, Options{Deadline: time.Minute}},
		{[]string{"--deadline", "5s"}, Options{Deadline: 5 * time.Second}},
		{[]string{"--home=/h/.umpire/", "--deadline=5s"}, Options{Home: "/h/.umpire", Deadline: 5 * time.Second}},
		{[]string{"--deadline", "5s", "--home", "/h"}, Options{Home: "/h", Deadline: 5 * time.Second}},
		{[]string{"--host-dir", "/c/"}, Options{HostDir: "/c", Deadline: time.Minute}},
		{args: []string{"--host-dir", "claude"}},
		{args: []string{"--host-dir=/c", "--host-dir=/c"}},
		{args: []string{"--home"}},
		{args: []string{"--home", ".umpire"}},
		{args: []string{"--home", ""}},
		{args: []string{"--home", "/a", "--home", "/b"}},
		{args: []string{"--deadline", "-5s"}},
		{args: []string{"--deadline", "soon"}},
		{args: []string{"--rules", "x"}},
		{args: []string{"claude"}},
	} {
		got, err := ParseOptions(tt.args, time.Minute)
		if got != tt.want || (err != nil) != (tt.want == Options{}) {
			t.Errorf("%q: got %+v, %v; want %+v", tt.args, got, err, tt.want)
		}
	}
}

func TestRegisteredFolderBeatsTheEnvironment(t *testing.T) {
	t.Parallel()
	env := func(name string) string { return map[string]string{"UMPIRE_HOME": "/evil", "HOME": "/h"}[name] }
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"claude", "--home", "/h/.umpire"}, "/h/.umpire"},
		{[]string{"claude"}, "/evil"},
		{nil, "/evil"},
		{[]string{"claude", "--home", "relative"}, "/evil"}, // which is refused later
	} {
		if got := Home(Registered(env, tt.args), "/"); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, got, tt.want)
		}
	}
}
