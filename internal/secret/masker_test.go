package secret

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var aMask = regexp.MustCompile(`\[masked:[a-z0-9-]+:[0-9a-f]{4}\]`)

func testMasker() *Masker { return &Masker{key: []byte("the key of one store")} }

// TestSecretsAreMasked checks that at least 98 of 100 secrets are masked, and nothing
// around them.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const want = 98
	m, missed, broad := testMasker(), 0, 0
	all := samples(2)
	kindsSeen := map[string]bool{}
	for _, s := range all {
		kindsSeen[strings.Split(s.name, "/")[0]] = true
		masked := m.Text(s.before + s.value + s.after)
		if strings.Contains(masked, s.value) || strings.Contains(masked, s.value[:len(s.value)/2]) || strings.Contains(masked, s.value[len(s.value)/2:]) {
			missed++
			t.Logf("%s: missed in %q", s.name, masked)
			continue
		}
		if rest := aMask.ReplaceAllString(masked, ""); rest != s.before+s.after {
			broad++
			t.Logf("%s: %q hides more than the secret of %q", s.name, masked, s.before+"…"+s.after)
		}
	}
	t.Logf("%d secrets of %d kinds: %d missed, %d masks too broad", len(all), len(kindsSeen), missed, broad)
	if len(all) < 100 || len(kindsSeen) < 20 {
		t.Errorf("%d samples of %d kinds", len(all), len(kindsSeen))
	}
	if (len(all)-missed)*100 < want*len(all) || broad > 0 {
		t.Errorf("%d of %d secrets missed, %d masks too broad", missed, len(all), broad)
	}
}

// TestHarmlessIsUntouched checks that none of these lines change.
func TestHarmlessIsUntouched(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/harmless.txt")
	if err != nil {
		t.Fatal(err)
	}
	m, n := testMasker(), 0
	// Other scanners report these.
	data = append(data, "\ngolang.org/x/oauth2 v0.21.0 h1:"+"tsimM75w1tF/uws5rbeHzIWxEqelMehnc+iW793zsZs=\nconfig.Certificates[0].PrivateKey = "+"testRSA2048PrivateKey\n"...)
	for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		if line == "" || strings.HasPrefix(line, "## ") {
			continue
		}
		n++
		if masked := m.Text(line); masked != line {
			t.Errorf("%s\nbecame %s", line, masked)
		}
		args := []string{"-c", line}
		if !strings.ContainsAny(line, "\"'`$;(){}[]<>|&*:") {
			args = strings.Fields(line)
		}
		quoted, err := json.Marshal(map[string]any{"command": line, "args": args, "program": args[0]})
		if err != nil {
			t.Fatal(err)
		}
		if masked, changed := m.JSON(quoted); changed {
			t.Errorf("%s\nbecame %s", quoted, masked)
		}
	}
	if masked := m.Text(string(data)); masked != string(data) {
		t.Error("the whole file changed, none of its lines did")
	}
	if n < 150 {
		t.Errorf("only %d lines", n)
	}
}

// TestMasksOfOneSecret checks that a secret has the same hash everywhere in one store,
// but not in another.
func TestMasksOfOneSecret(t *testing.T) {
	t.Parallel()
	m := testMasker()
	hash := func(text string) string {
		t.Helper()
		found := aMask.FindString(text)
		if found == "" {
			t.Fatalf("no mask in %q", text)
		}
		return found[len(found)-5:]
	}
	first := hash(m.Text("mysql -uroot -phunter2 app"))
	if first != hash(m.Text("PGPASSWORD=hunter2 psql")) {
		t.Error("one secret has two hashes")
	}
	if first == hash(m.Text("PGPASSWORD=hunter3 psql")) {
		t.Error("two secrets have one hash")
	}
	other := &Masker{key: []byte("the key of another store")}
	if first == hash(other.Text("PGPASSWORD=hunter2 psql")) {
		t.Error("two stores have one hash")
	}
	for _, keyless := range []*Masker{nil, {}} {
		if got := keyless.Text("PGPASSWORD=hunter2 psql"); got != "PGPASSWORD=[masked:password] psql" {
			t.Errorf("without a key: %s", got)
		}
	}
}

// TestMaskingTwice checks that masks stay unchanged.
func TestMaskingTwice(t *testing.T) {
	t.Parallel()
	m := testMasker()
	for _, s := range samples(1) {
		once := m.Text(s.before + s.value + s.after)
		if twice := m.Text(once); twice != once {
			t.Errorf("%q became %q", once, twice)
		}
	}
}

// TestJSON masks inside strings, using keys and preceding words.
func TestJSON(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + strings.Repeat("aB3", 12)
	for in, want := range map[string]string{
		`{"command":"PGPASSWORD=hunter2 psql", "timeout": 1.50e1}`:    `{"command":"PGPASSWORD=[masked:password] psql", "timeout": 1.50e1}`,
		` { "password" : "hunter2" , "user" : "me" } `:                ` { "password" : "[masked:password]" , "user" : "me" } `,
		`{"env":{"API_KEY":"abc123de","HOME":"/home/me"}}`:            `{"env":{"API_KEY":"[masked:key]","HOME":"/home/me"}}`,
		`{"env":[{"name":"DB_PASSWORD","value":"hunter"}]}`:           `{"env":[{"name":"DB_PASSWORD","value":"[masked:password]"}]}`,
		`{"db_password":{"sensitive":true,"value":"hunter"}}`:         `{"db_password":{"sensitive":true,"value":"[masked:password]"}}`,
		`{"args":["--password","hunter2","--force"]}`:                 `{"args":["--password","[masked:password]","--force"]}`,
		`{"program":"mysql","args":["-uroot","-phunter2","app"]}`:     `{"program":"mysql","args":["-uroot","-p[masked:option]","app"]}`,
		`{"program":"MYSQL_PWD=","args":["hunter2"]}`:                 `{"program":"MYSQL_PWD=","args":["[masked:secret]"]}`,
		`{"program":"PAGER=","args":["less"]}`:                        `{"program":"PAGER=","args":["less"]}`,
		`{"command":"PGPASSWORD+=hunter2; curl -b 'sid=a; t=b' x"}`:   `{"command":"PGPASSWORD+=[masked:password]; curl -b 'sid=[masked:option]' x"}`,
		`{"command":"curl -b jar.txt x; twine upload -p hunter2 d"}`:  `{"command":"curl -b jar.txt x; twine upload -p [masked:option] d"}`,
		`{"program":"docker","args":["run","-p","80:80","x"]}`:        `{"program":"docker","args":["run","-p","80:80","x"]}`,
		`{"program":"sh","args":["-c","it's mysql -phunter2 \"x\""]}`: `{"program":"sh","args":["-c","it's mysql -phunter2 \"x\""]}`,
		`{"program":"sh","args":["-c","mysql -phunter2 app"]}`:        `{"program":"sh","args":["-c","mysql -p[masked:option] app"]}`,
		`{"headers":{"Authorization":"Bearer abcDEF123456ghi"}}`:      `{"headers":{"Authorization":"Bearer [masked:authorization]"}}`,
		`{"text":"\u00e9 ` + token + ` <&>\n\ud83d\ude00"}`:           `{"text":"é [masked:github-pat] <&>\n😀"}`,
		`["` + token + `",1,{"a":["` + token + `",null]}]`:            `["[masked:github-pat]",1,{"a":["[masked:github-pat]",null]}]`,
		`"` + token + `"`:                                               `"[masked:github-pat]"`,
		`{"` + token + `":1}`:                                           `{"` + token + `":1}`,
		`{"nested":"{\"password\":\"hunter2\"}"}`:                       `{"nested":"{\"password\":\"[masked:password]\"}"}`,
		`{"password":"a\"b\\c"}`:                                        `{"password":"[masked:password]"}`,
		`{"password":null,"token":true,"secret":7,"api_key":""}`:        `{"password":null,"token":true,"secret":7,"api_key":""}`,
		`{"password":"$DB_PASSWORD","token":"<token>","next_token":""}`: `{"password":"$DB_PASSWORD","token":"<token>","next_token":""}`,
		`{"args_hash":"` + strings.Repeat("0af3", 16) + `"}`:            `{"args_hash":"` + strings.Repeat("0af3", 16) + `"}`,
		`{}`: `{}`, `[]`: `[]`, `[[],{}]`: `[[],{}]`, `null`: `null`, `-1`: `-1`, `""`: `""`,
		`{"password":"hunter2"`: `{"password":"[masked:password]"`, ``: ``,
	} {
		masked, changed := (*Masker)(nil).JSON(json.RawMessage(in))
		if string(masked) != want || changed != (in != want) {
			t.Errorf("%s\ngave %s, changed %t\nwant %s", in, masked, changed, want)
		}
	}
}

// TestJSONKeepsStructure checks that any value stays valid, and that only strings change.
func TestJSONKeepsStructure(t *testing.T) {
	t.Parallel()
	all := samples(1)
	m := testMasker()
	rapid.Check(t, func(t *rapid.T) {
		value := genJSON(all, 3).Draw(t, "value")
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		kept := bytes.Clone(text)
		masked, changed := m.JSON(text)
		if !bytes.Equal(kept, text) || !json.Valid(masked) || changed == bytes.Equal(masked, text) {
			t.Fatalf("%s became %s, changed %t", kept, masked, changed)
		}
		var after any
		if err := json.Unmarshal(masked, &after); err != nil {
			t.Fatal(err)
		}
		var before any
		if err := json.Unmarshal(text, &before); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shape(before), shape(after)); diff != "" {
			t.Fatalf("the structure changed:\n%s", diff)
		}
		if again, more := m.JSON(masked); more {
			t.Fatalf("%s became %s", masked, again)
		}
	})
}

func genJSON(all []sample, depth int) *rapid.Generator[any] {
	text := rapid.Custom(func(t *rapid.T) any {
		if rapid.Bool().Draw(t, "plain") {
			return rapid.String().Draw(t, "text")
		}
		s := rapid.SampledFrom(all).Draw(t, "sample")
		return s.before + s.value + s.after
	})
	leaf := []*rapid.Generator[any]{text, rapid.Just(any(nil)), rapid.Just(any(true)), rapid.Map(rapid.Float64(), func(f float64) any { return f })}
	if depth == 0 {
		return rapid.OneOf(leaf...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return genJSON(all, depth-1) })
	key := rapid.OneOf(rapid.SampledFrom([]string{"password", "name", "value", "program", "args", "token", "command", "api_key", "Authorization"}), rapid.String())
	return rapid.OneOf(append(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(key, inner, 0, 4), func(m map[string]any) any { return m }))...)
}

// shape returns a value without the contents of its strings.
func shape(value any) any {
	switch value := value.(type) {
	case string:
		return "text"
	case []any:
		shapes := []any{}
		for _, v := range value {
			shapes = append(shapes, shape(v))
		}
		return shapes
	case map[string]any:
		shapes := map[string]any{}
		for key, v := range value {
			shapes[key] = shape(v)
		}
		return shapes
	}
	return value
}

// TestConcurrentUse is for the race detector: rules are compiled during concurrent scans.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	m, all := testMasker(), samples(1)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for _, s := range all {
				m.Text(s.before + s.value + s.after)
			}
		})
	}
	work.Wait()
}

// TestScannerRulesFit checks that every rule has the form for lookup, and compiles.
func TestScannerRulesFit(t *testing.T) {
	t.Parallel()
	if len(scannerRules) < 150 {
		t.Errorf("only %d rules", len(scannerRules))
	}
	ids := map[string]bool{}
	for i := range scannerRules {
		r := &scannerRules[i]
		ids[r.id] = true
		if r.expression() == nil || len(r.literals) == 0 || r.id == "" {
			t.Errorf("rule %+v", r.id)
		}
		for _, l := range r.literals {
			if l != strings.ToLower(l) || len(l) < 2 {
				t.Errorf("%s: literal %q", r.id, l)
			}
		}
	}
	for id := range leads {
		if !ids[id] {
			t.Errorf("%s is no rule any more", id)
		}
	}
	for id := range changed {
		if !ids[id] {
			t.Errorf("%s is no rule any more", id)
		}
	}
}

// TestFinder checks that the automaton finds the same as a slow search.
func TestFinder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		literals := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab-]{1,4}`), 1, 8, rapid.ID[string]).Draw(t, "literals")
		text := rapid.StringMatching(`[abAB\-c]{0,30}`).Draw(t, "text")
		type hit struct {
			literal string
			end     int
		}
		got := map[hit]bool{}
		newFinder(literals).eachLiteral(text, func(id uint16, end int) { got[hit{literals[id], end}] = true })
		want := map[hit]bool{}
		for _, l := range literals {
			for end := len(l); end <= len(text); end++ {
				if strings.EqualFold(text[end-len(l):end], l) {
					want[hit{l, end}] = true
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestEchoes checks that the words of a command with a secret do not show it either, and
// that similar words stay.
func TestEchoes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ of, text, want string }{
		{`{"command":"MYSQL_PWD=hunter2hunter2 mysql"}`, "hunter2hunter2", "[masked:secret]"},
		{`{"command":"echo hunter2hunter2 | docker login --password-stdin"}`, "hunter2hunter2", "[masked:piped]"},
		{`{"command":"API_TOKEN=hunter2hunter2; run $API_TOKEN"}`, "--x=hunter2hunter2,y", "--x=[masked:token],y"},
		{`{"args":["--password","hunter2hunter2"]}`, "a hunter2hunter2", "a [masked:password]"},
		{`{"command":"MYSQL_PWD=hunter2hunter2 mysql"}`, "hunter2hunter22", "hunter2hunter22"},
		{`{"command":"MYSQL_PWD=abc12 mysql abc12"}`, "abc12", "abc12"},
		{`{"command":"mysql"}`, "PGPASSWORD=hunter2", "PGPASSWORD=hunter2"},
		{`no json`, "hunter2hunter2", "hunter2hunter2"},
	} {
		if got := (*Masker)(nil).Echoes([]string{row.text}, json.RawMessage(row.of))[0]; got != row.want {
			t.Errorf("%s in %s gave %s, want %s", row.text, row.of, got, row.want)
		}
	}
}
