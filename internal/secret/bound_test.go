package secret

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// hostile are pieces that, repeated, make a rule retry again and again.
var hostile = []string{
	"password=", "password=x ", "api_key='", "\"token\":\"", "secret={{", "--password ", "${password:-", "<password>", "password", "ey", "eyJ ", "pat", "s.", "sk-",
	"authorization: ", "bearer ", "basic ", "cookie: a=", "://a:x", "://", "@tcp(", "a@tcp(", "&sig=", "?key=", "-----BEGIN PRI" + "VATE KEY-----", "-----begin ",
	"kind: Secret\n", "kind: Secret\ndata:\n a: b\n", "$6$", "mysql ", "mysql -p", "zip \n", "curl -u ", "echo x | sudo -S ", "| chpasswd ", "xoxb-1111111111-1111111111",
	"twitter token =  ", "q~\n", ".atlasv1.", "_mmk ", "- name: password\n  value: ", "hooks.slack.com/services/", "ops_eyJ", "pypi-AgEIcHlwaS5vcmc", "\\", "\"", "'", "/bot1:",
	"[masked:", "[masked:x]", "password=[masked:x]", "glpat-", "AKIA", "0", "\x00", "\xff", "é",
}

// TestHostileTextEnds checks that a hundred kilobytes of anything take a second at most,
// where quadratic time would take hours. The bound is generous, for slow and busy
// machines.
func TestHostileTextEnds(t *testing.T) {
	t.Parallel()
	const size, bound = 128 << 10, 5 * time.Minute
	m := testMasker()
	for _, piece := range hostile {
		text := strings.Repeat(piece, size/len(piece))
		begin := time.Now()
		m.Text(text)
		if took := time.Since(begin); took > bound {
			t.Errorf("%q took %v", piece, took)
		}
	}
}

// TestDeepJSON checks that the JSON package limits nesting, not the stack.
func TestDeepJSON(t *testing.T) {
	t.Parallel()
	for _, piece := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`["x",`, "]"}, {`{"password":[`, "]}"}} {
		for _, depth := range []int{4000, 200_000} {
			text := strings.Repeat(piece[0], depth) + "1" + strings.Repeat(piece[1], depth)
			if masked, changed := testMasker().JSON(json.RawMessage(text)); changed || string(masked) != text {
				t.Errorf("%d of %s changed", depth, piece[0])
			}
		}
	}
}

// TestLongSecrets checks that long secrets are masked to their end.
func TestLongSecrets(t *testing.T) {
	t.Parallel()
	d := dice{testDice()}
	jwt := "ey" + d.of(alnum, 40) + ".ey" + d.of(alnum, 9000) + "." + d.of(alnum, 90)
	key := d.of(alnum+"+/", 20_000)
	for name, tt := range map[string][2]string{
		"token":           {"Authorization: Bearer " + jwt + "\n", "Authorization: Bearer [masked:authorization]\n"},
		"key without end": {"-----BEGIN PRI" + "VATE KEY-----\n" + key + "\n", "-----BEGIN PRI" + "VATE KEY-----\n[masked:private-key]\n"},
	} {
		if got := (*Masker)(nil).Text(tt[0]); got != tt[1] {
			t.Errorf("%s: %.200s", name, got)
		}
	}
	quoted, err := json.Marshal(map[string]string{"password": key})
	if err != nil {
		t.Fatal(err)
	}
	if masked, _ := (*Masker)(nil).JSON(quoted); string(masked) != `{"password":"[masked:password]"}` {
		t.Errorf("%.200s", masked)
	}
}

// text returns about n bytes of typical tool output.
func text(n int) string {
	d := dice{testDice()}
	var out strings.Builder
	for out.Len() < n {
		out.WriteString("internal/gate/gate.go:" + d.of(digits, 3) + ": func (g *Gate) Submit(ctx context.Context, token string) error { // " + d.of(lower, 30) + "\n")
		if d.IntN(50) == 0 {
			out.WriteString("export API_TOKEN=" + d.of(alnum, 32) + "\ncommit " + d.of(hexes, 40) + "\n")
		}
	}
	return out.String()
}

func BenchmarkText(b *testing.B) {
	command := "git -C /srv/app commit -m 'fix the tests' && npm test -- --coverage"
	for name, text := range map[string]string{
		"command": command, "command with a secret": "PGPASSWORD=hunter2 " + command, "10KB": text(10 << 10), "1MB": text(1 << 20),
		"1MB hostile": strings.Repeat("q~\n", 1<<20/3), "1MB of passwords": strings.Repeat("password=", 1<<20/9),
	} {
		b.Run(name, func(b *testing.B) {
			m := testMasker()
			m.Text(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}

func BenchmarkFirstText(b *testing.B) {
	for b.Loop() {
		makeTable()
	}
}

// For any text, masking ends, and masked text stays unchanged.
func FuzzText(f *testing.F) {
	for _, s := range samples(1) {
		f.Add(s.before + s.value + s.after)
	}
	for _, piece := range hostile {
		f.Add(piece + piece)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := testMasker()
		once := m.Text(text)
		for _, found := range findSecrets(text) {
			if found.start < 0 || found.end > len(text) || found.start >= found.end {
				t.Fatalf("span %+v of %d bytes", found, len(text))
			}
		}
		if twice := m.Text(once); twice != once && !strings.Contains(text, "masked") {
			t.Fatalf("%q became %q and then %q", text, once, twice)
		}
		if len(once) > 0 && strings.Count(once, "\n") > strings.Count(text, "\n") {
			t.Fatalf("more lines in %q", once)
		}
	})
}

// For any JSON, valid input stays valid, and masking twice changes nothing.
func FuzzJSON(f *testing.F) {
	for _, s := range samples(1) {
		text, err := json.Marshal(map[string]any{"command": s.before + s.value + s.after, "args": []string{s.before, s.value, s.after}, "password": s.value})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		masked, changed := testMasker().JSON(value)
		if json.Valid(value) != json.Valid(masked) && json.Valid(value) {
			t.Fatalf("%s became %s", value, masked)
		}
		if changed == (string(masked) == string(value)) {
			t.Fatalf("%s became %s, changed %t", value, masked, changed)
		}
	})
}
