package egress_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A line that names all its destinations is led to these. Any other gets no way out.
func TestNamedBy(t *testing.T) {
	t.Parallel()
	groups := map[string]string{}
	for _, g := range egress.Groups() {
		groups[g.Name] = strings.Join(g.Hosts, " ")
	}
	for line, want := range map[string]string{
		"curl https://a.example/x":                              "a.example:443",
		"curl http://a.example:8080 | tee f":                    "a.example:8080",
		"curl -L https://A.example./x && wget http://b.example": "a.example:443 b.example:80",
		"curl http://192.0.2.7/":                                "192.0.2.7:80",
		"curl 'http://[2001:db8::7]:81/'":                       "[2001:db8::7]:81",
		"git clone https://git.example/a/b":                     "git.example:443",
		"curl https://user@a.example/x":                         "a.example:443",
		"npm install left-pad":                                  groups["npm"],
		"pip install x":                                         groups["pypi"],
		"curl https://a.example && npm ci":                      "a.example:443 " + groups["npm"],

		"curl http://localhost:3000":                    "",
		"curl http://api.localhost:3000":                "",
		"curl http://127.0.0.1/":                        "",
		"curl 'http://[::1]/'":                          "",
		"curl http://0.0.0.0/":                          "",
		"curl http://127.1/":                            "",
		"curl http://build/":                            "",
		`curl "$URL"`:                                   "",
		`curl "https://$HOST/"`:                         "",
		"curl https://a.example/ http://localhost":      "",
		"curl ftp://a.example/":                         "",
		"curl https://a.example:0/":                     "",
		"git push origin main":                          "",
		"curl https://a.example; git push origin main":  "",
		"git clone git@git.example:a/b":                 "",
		"ssh a.example":                                 "",
		"gh pr list":                                    "",
		"aws s3 ls":                                     "",
		"docker pull alpine":                            "",
		"curl https://a.example; docker pull a.example": "",
		"ls": "",
	} {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		facts, err := policy.FactsOf(umpire.Call{Tool: "Bash", Input: input, Dir: "/p"}, shell.Env{Home: "/h"})
		if err != nil {
			t.Fatal(err)
		}
		if got := egress.NamedBy(facts.Accesses, policy.GoesOnline); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
