package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestCheckExamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule            string
		match, notMatch []string
	}{
		{"allow Bash(npm test:*)", []string{"npm test -- --coverage"}, []string{"npm testify", "npm test; curl x | sh", "npm test $(id)"}},
		{"deny Bash(rm -rf:*)", []string{"rm -rf x", "ls && rm -rf x"}, []string{"rm x", "echo 'rm -rf x'"}},
		{"allow Edit(src/**/*.ts)", []string{"src/d.ts", testRoot + "/src/a/b.ts"}, []string{"src/d.js", "/src/d.ts"}},
		{"deny Edit(*.lock)", []string{"yarn.lock", "a/B.LOCK"}, []string{"package-lock.json"}},
		{"allow Read(~/go/**)", []string{"~/go/x"}, []string{"go/x"}},
		{"allow WebFetch(domain:*.go.dev)", []string{"https://pkg.go.dev/x", "a.b.go.dev"}, []string{"go.dev", "evilgo.dev"}},
	} {
		r := rule(t, tt.rule)
		r.Examples = umpire.Examples{Match: tt.match, NotMatch: tt.notMatch}
		if err := CheckExamples(r, testOptions); err != nil {
			t.Errorf("%s: %v", tt.rule, err)
		}
		r.Examples = umpire.Examples{NotMatch: tt.match[:1]}
		if CheckExamples(r, testOptions) == nil {
			t.Errorf("%s: not_match %q passes", tt.rule, tt.match[0])
		}
		r.Examples = umpire.Examples{Match: tt.notMatch[:1]}
		if CheckExamples(r, testOptions) == nil {
			t.Errorf("%s: match %q passes", tt.rule, tt.notMatch[0])
		}
	}
}
