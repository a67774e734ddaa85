package judge

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// TestLaunchers: a file of the project counts as the program that it starts where umpire's
// sandbox holds, unless the agent changed it or it leads elsewhere. Elsewhere it asks like
// other code of the project.
func TestLaunchers(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(t, policy.Settings{})
	outside := filepath.Join(filepath.Dir(root), "elsewhere")
	for _, file := range []string{
		root + "/bin/rspec", root + "/vendor/bin/phpunit", root + "/gradlew", root + "/.venv/bin/pytest",
		outside + "/node_modules/.bin/eslint", outside + "/python",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		root + "/node_modules": outside + "/node_modules", root + "/.venv/bin/python": outside + "/python",
		root + "/bin/rails": outside + "/python", root + "/bin/rake": root + "/missing",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"bin/rspec", "vendor/bin/phpunit", "./gradlew test", ".venv/bin/pytest", ".venv/bin/python -c 'print(1)'"}
	for _, line := range append(slices.Clone(all), "node_modules/.bin/eslint .", "bin/rails test", "bin/rake test", "bin/rubocop") {
		want := umpire.Ask
		if slices.Contains(all, line) {
			want = umpire.Allow
		}
		if d := decideLine(t, find, root, line, true); d.Verdict != want {
			t.Errorf("held: %s: %s (%s)", line, d.Verdict, d.Reason)
		}
		if d := decideLine(t, find, root, line, false); d.Verdict != umpire.Ask {
			t.Errorf("not held: %s: %s", line, d.Verdict)
		}
	}
	j, err := find()
	if err != nil {
		t.Fatal(err)
	}
	for _, changed := range []string{"bin/rspec", "vendor", "gradlew", ".venv/bin", ".venv/bin/python"} {
		j.Written = func(since time.Time) ([]string, error) {
			if age := time.Since(since); age < recently || age > recently+time.Minute {
				t.Errorf("looks for writes since %v", since)
			}
			return []string{changed}, nil
		}
		for _, line := range all {
			files := []string{"bin/rspec", "vendor/bin/phpunit", "gradlew", ".venv/bin/pytest", ".venv/bin/python"}
			own := files[slices.Index(all, line)]
			want := umpire.Allow
			if own == changed || filepath.Dir(own) == changed || filepath.Dir(filepath.Dir(own)) == changed {
				want = umpire.Ask
			}
			if d := decideLine(t, find, root, line, true); d.Verdict != want {
				t.Errorf("%s, after a change of %s: %s", line, changed, d.Verdict)
			}
		}
	}
	j.Written = func(time.Time) ([]string, error) { return nil, errors.New("no") }
	for _, line := range all {
		if d := decideLine(t, find, root, line, true); d.Verdict != umpire.Ask {
			t.Errorf("%s, with an unknown log: %s", line, d.Verdict)
		}
	}
}
