package strictjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestClip: a value that is large in any way becomes small JSON that marks the omissions.
func TestClip(t *testing.T) {
	t.Parallel()
	const limit = 16 << 10
	long := strings.Repeat("é x", 1<<20)
	many := strings.Repeat(`"word",`, 1<<18)
	for name, c := range map[string]struct{ value, want string }{
		"text":                  {`{"command":"begin ` + long + ` end"}`, `begin é x`},
		"its end":               {`{"command":"begin ` + long + ` end"}`, ` end"}`},
		"texts":                 {`{"b":"` + long + `","a":"` + long + `","c":"` + long + `","d":"` + long + `"}`, "bytes left out"},
		"list":                  {`{"edits":[` + many + `1]}`, "values left out"},
		"lists":                 {`[[` + many + `1],[` + many + `2],3]`, "2 values left out"},
		"fields":                {`{"` + strings.ReplaceAll(long[:1<<18], "é x", `":1,"é x`) + `":2,"a":"x"}`, `"a":"x"`},
		"command behind a list": {`{"background":[` + strings.Repeat("0,", 20000) + `0],"command":"rm -rf ~;` + long + `","z":"` + long + `"}`, `"command":"rm -rf ~;`},
		"path behind lists":     {`{"lines":[` + many + `1],"path":"/etc/x","text":"` + long + `"}`, `"path":"/etc/x"`},
		"name":                  {`{"` + long + `":1,"a":"x"}`, `1 fields left out`},
		"number":                {`{"n":` + strings.Repeat("1", 1<<20) + `}`, "bytes left out"},
		"not it":                {long, "bytes left out"},
		"empty":                 {`{"a":[],"b":{},"z":"` + long + `"}`, `"a":[],"b":{}`},
	} {
		got := Clip(json.RawMessage(c.value), limit)
		if len(got) > 2*limit || !json.Valid(got) || !utf8.Valid(got) || !strings.Contains(string(got), c.want) {
			t.Errorf("%s: %d bytes, valid %t: %.200s", name, len(got), json.Valid(got), got)
		}
	}
	const small = `{ "a" : 1 }`
	if got := Clip(json.RawMessage(small), limit); string(got) != small {
		t.Errorf("a small value became %s", got)
	}
}
