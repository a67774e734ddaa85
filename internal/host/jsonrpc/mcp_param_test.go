package jsonrpc

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArgumentsAreRepeated: a server of the protocol of 2026-07-28 gets the arguments that it wants in
// header fields, by what the body says. A tool that says otherwise later is heard.
func TestArgumentsAreRepeated(t *testing.T) {
	t.Parallel()
	const (
		call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":%,` +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
		input = `{"type":"object","properties":{
			"region":{"type":"string","x-mcp-header":"Region"},
			"count":{"type":"integer","x-mcp-header":"Count"},
			"dry":{"type":"boolean","x-mcp-header":"Dry"},
			"plain":{"type":"string"},
			"list":{"type":"array","x-mcp-header":"List","items":{"type":"string","x-mcp-header":"Item"}},
			"odd":{"type":"string","x-mcp-header":"a b\r\nX-Key: other"},
			"in":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}}}}`
	)
	for _, c := range []struct {
		name, input, args string
		want              map[string]string
	}{
		{"all", input, `{"region":"eu","count":42,"dry":false,"plain":"p","list":["x"],"odd":"o","in":{"deep":"d"}}`,
			map[string]string{"Region": "eu", "Count": "42", "Dry": "false", "Deep": "d"}},
		{"none", input, `{"region":null,"in":"x"}`, map[string]string{}},
		{"no arguments", input, `{}`, map[string]string{}},
		{"no ASCII", input, `{"region":"Zürich","in":{"deep":" x"}}`,
			map[string]string{"Region": "=?base64?WsO8cmljaA==?=", "Deep": "=?base64?IHg=?="}},
		{"another kind", input, `{"region":{"a":1},"count":[1]}`, map[string]string{}},
		{"a line of its own", input, `{"region":"eu\r\nX-Key: other"}`, map[string]string{"Region": "=?base64?ZXUNClgtS2V5OiBvdGhlcg==?="}},
		{"none is wanted", `{"type":"object"}`, `{"region":"eu"}`, map[string]string{}},
		{"not a schema", `[]`, `{"region":"eu"}`, map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := make(chan http.Header, 1)
			lists := 0
			r := dial(t, func(w http.ResponseWriter, q *http.Request) {
				text, _ := io.ReadAll(q.Body)
				m, err := Parse(text)
				if err != nil {
					t.Error(err)
				}
				result := `{}`
				if m.Method == methodList {
					said := input // at first; the last description counts
					if lists++; lists == 2 {
						said = c.input
					}
					result = `{"tools":[{"name":"t","inputSchema":` + said + `}]}`
				} else {
					got <- q.Header
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
			})
			for _, id := range []string{"first", "second"} {
				say(t, r, `{"jsonrpc":"2.0","id":"`+id+`","method":"tools/list"}`)
				hear(t, r)
			}
			say(t, r, strings.Replace(call, "%", c.args, 1))
			hear(t, r)
			fields := map[string]string{}
			h := <-got
			for name := range h {
				if field, is := strings.CutPrefix(name, headerParam); is {
					fields[field] = h.Get(name)
				}
			}
			if diff := cmp.Diff(c.want, fields); diff != "" || h.Get("X-Key") != "k" {
				t.Errorf("fields (-want +got), key %q:\n%s", h.Get("X-Key"), diff)
			}
			if !json.Valid([]byte(c.args)) {
				t.Error("the test says no JSON")
			}
		})
	}
}
