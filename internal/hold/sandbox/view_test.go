package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTable checks that each row has a reason, and that no path in it is a whole home or leads out of one.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, r := range table {
		if r.why == "" {
			t.Errorf("%s: no reason", r.paths)
		}
	}
	all := named()
	for i, path := range all {
		if !filepath.IsLocal(path) || path == "." || path != filepath.Clean(path) || slices.Contains(all[:i], path) {
			t.Errorf("%q is not a path in a home, or is there twice", path)
		}
	}
}

// TestOf checks that a variable counts if its folder looks right, and that no home is visible as a whole.
func TestOf(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project := filepath.Join(base, "h"), filepath.Join(base, "h/p")
	for _, dir := range []string{
		"h/.cargo/bin", "h/go/pkg/mod", "h/Documents", "h/goroot/bin/go", "h/p/bin", "h/p/pkg/mod", "h/tools", "h/opt/x/bin", "h/data", "h/pkg/mod",
	} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "opt/x/bin"), filepath.Join(home, "tools/x")); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + home, "GOPATH=" + home + ":" + home + "/Documents:" + project, "GOROOT=" + home + "/goroot", "CARGO_HOME=" + home + "/Documents",
		"PATH=" + strings.Join([]string{home, base, "/", "", ".", "..", home + "/.cargo/bin", project + "/bin", home + "/tools"}, ":"),
	}
	view := ViewOf(home, env, []string{project}, []string{"~/data", "~/", "~/..", "/", "~/none", "data"})
	slices.Sort(view.Shown)
	var got []string
	for _, path := range view.Shown {
		got = append(got, strings.TrimPrefix(path, home+"/"))
	}
	if want := ".cargo data go goroot opt/x/bin tools"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	if !slices.Contains(view.Hidden, home) || !slices.Contains(view.Empty, home) {
		t.Errorf("%+v", view)
	}
	for _, odd := range []string{"", "/", "/usr", "/nonexistent"} {
		if hidden := ViewOf(odd, nil, nil, nil).Hidden; slices.Contains(hidden, odd) {
			t.Errorf("a home %q hides %q", odd, hidden)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Skipf("this user has no home: %v", err)
	}
	for b.Loop() {
		ViewOf(home, os.Environ(), nil, nil)
	}
	b.ReportMetric(float64(len(ViewOf(home, os.Environ(), nil, nil).Shown)), "shown")
}
