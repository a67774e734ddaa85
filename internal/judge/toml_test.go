package judge

import (
	"fmt"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestDecodeTOML compares with the library's own decoder. What it refuses is refused, and texts,
// lists and tables are the same.
func TestDecodeTOML(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a = 1", "a = 'x'\nb = \"y\\n\\u00e9\"\n", "[a]\nb = '''\nx\ny'''\n[a.c]\nd = [1, 'x', ['y']]\n",
		"a.b.c = 'x'\na.b.d = 'y'", "[tool.poe.tasks]\ntest = 'pytest'\n'odd key' = { cmd = 'ls', help = \"x\" }",
		"[[a]]\nb = 1\n[[a]]\nc = 'x'", "[a]\n[b]\n[a]", "a = 1\na = 2", "a = 1\n[a]\nb = 1",
		"[a]\nb = 1\n[a.b]\nc = 1",
		"a = {b = 1, b = 2}", "a = [", "a", "[a", "a = 1979-05-27", "a = true", "a = 1.5", "a = \"\"\"x\"\"\"",
		"[a]\nb.c = 1\nb.c = 2",
		"= 1", "a = 'x' b = 'y'", "# x\n[x] # y\n", "a = {}", "[a.b]\n[a]\nc = 'x'", "\xff = 1", "a = '\x01'",
	} {
		var want map[string]any
		wantErr := toml.Unmarshal([]byte(text), &want)
		got, err := decodeTOML([]byte(text))
		switch {
		case wantErr != nil && err == nil:
			t.Errorf("%q is decoded as %v, and the library says %v", text, got, wantErr)
		case wantErr == nil && err != nil:
			t.Errorf("%q: %v", text, err)
		case err == nil && spellTOML(got) != spellTOML(want):
			t.Errorf("%q is %v, want %v", text, spellTOML(got), spellTOML(want))
		}
	}
}

// spellTOML spells texts, lists and tables. Lists of tables are their last one.
func spellTOML(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case []any:
		if len(v) > 0 {
			if last, ok := v[len(v)-1].(map[string]any); ok {
				return spellTOML(last)
			}
		}
		text := "["
		for _, item := range v {
			text += spellTOML(item) + ","
		}
		return text + "]"
	case map[string]any:
		spelled := map[string]string{}
		for key, item := range v {
			spelled[key] = spellTOML(item)
		}
		return fmt.Sprint(spelled)
	}
	return "other"
}
