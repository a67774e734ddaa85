package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// Homes ask on every system, but folders with a similar name do not.
func TestInHome(t *testing.T) {
	t.Parallel()
	j := &judge{policy: &Policy{opts: Options{Home: "/srv/Me"}}}
	for path, want := range map[string]bool{
		"/srv/me/notes": true, "/srv/men": false, "/root": true, "/home/a/b": true, "/homes/a": false,
		"/Users/a": true, "/users": true, "C:/Users/a": true, "/c:/users/a": true, "/mnt/c/Users/a": true,
		"/srv/api/users/handler.go": false, "/usersland": false, "/opt/home/a": false,
	} {
		if got := inHome(j, &umpire.Access{Resolved: path}); got != want {
			t.Errorf("inHome(%q) = %t", path, got)
		}
	}
}
