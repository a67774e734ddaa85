package place

import (
	"path/filepath"
	"testing"
)

// TestHomeIsCanonical: a home above the working directory, or reached by a link, is known by its own path.
func TestHomeIsCanonical(t *testing.T) {
	t.Parallel()
	top := tempDir(t)
	home := filepath.Join(top, "home")
	mkdir(t, filepath.Join(home, "p"))
	other := filepath.Join(top, "link")
	link(t, home, other)
	for _, test := range []struct{ dir, home string }{
		{home + "/p", home}, {home + "/p", home + "/"}, {home, home}, {other + "/p", other}, {home + "/p", other},
		{other + "/p", home}, {top, other}, {home + "/p", home + "/p/.."}, {home + "/missing", home},
	} {
		b, err := Open(test.dir, Options{Home: test.home})
		if err != nil || b.Home != home {
			t.Errorf("in %s, home %s is %s, %v", test.dir, test.home, b.Home, err)
		}
	}
}
