package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// A tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func hash(t tester, tool, input string) string {
	t.Helper()
	sum, err := ArgsHash(tool, json.RawMessage(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	return sum
}

// TestSameArguments checks that different spellings of a value have the same hash.
func TestSameArguments(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{``, ` `, "\n", `{}`, ` { } `},
		{`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1}`, "\t{ \"b\" : [ true , null ] ,\r\n \"a\" : 1 }"},
		{`{"a":{"y":1,"x":2}}`, `{"a":{"x":2,"y":1}}`},
		{`{"a":"é<&>/"}`, `{"a":"\u00e9\u003c\u0026\u003e\/"}`},
		{`{"a":"😀"}`, `{"a":"\ud83d\ude00"}`, `{"a":"\uD83D\uDE00"}`},
		{`{"a":"\n"}`, `{"a":"\u000a"}`},
		{`{"\u0061":1}`, `{"a":1}`},
	} {
		for _, text := range same[1:] {
			if hash(t, "Bash", text) != hash(t, "Bash", same[0]) {
				t.Errorf("%s and %s differ", text, same[0])
			}
		}
	}
}

// TestOtherArguments checks that each two of these are different.
func TestOtherArguments(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, tt := range [][2]string{
		{"Bash", `{}`}, {"bash", `{}`}, {"", `{}`}, {"Bash{}", ``}, {"Bash\x00{}", `{}`}, {"Bash", `null`}, {"Bash", `[]`}, {"Bash", `""`}, {"Bash", `0`}, {"Bash", `false`},
		{"Bash", `{"a":1}`}, {"Bash", `{"a":1.0}`}, {"Bash", `{"a":"1"}`}, {"Bash", `{"a":[1]}`}, {"Bash", `{"a":{}}`}, {"Bash", `{"a":null}`}, {"Bash", `{"A":1}`}, {"Bash", `{"a ":1}`},
		{"Bash", `{"a":[1,2]}`}, {"Bash", `{"a":[2,1]}`}, {"Bash", `{"a":[[1,2]]}`}, {"Bash", `{"a":[1],"b":[2]}`},
		{"Bash", `{"a":9007199254740993}`}, {"Bash", `{"a":9007199254740992}`}, {"Bash", `{"a":123456789012345678901234567890}`}, {"Bash", `{"a":123456789012345678901234567891}`},
		{"Bash", `{"a":1e400}`}, {"Bash", `{"a":1e401}`}, {"Bash", `{"a":0.1}`}, {"Bash", `{"a":0.10}`}, {"Bash", `{"a":-0}`}, {"Bash", `{"a":0}`},
		{"Bash", `{"a":"\u00e9"}`}, {"Bash", `{"a":"e\u0301"}`}, {"Bash", `{"a":"e"}`}, {"Bash", `{"a":"\u0000"}`}, {"Bash", `{"a":""}`}, {"Bash", `{"a":"\u200b"}`}, {"Bash", `{"a":"\ufffd"}`}, {"Bash", `{"a":" "}`}, {"Bash", `{"a":"\\u0041"}`}, {"Bash", `{"a":"A"}`},
	} {
		sum := hash(t, tt[0], tt[1])
		if other, twice := seen[sum]; twice {
			t.Errorf("%q and %s have one hash", tt, other)
		}
		seen[sum] = fmt.Sprintf("%q", tt)
	}
}

// TestArgumentsWithTwoReadings checks that invalid JSON, or JSON that could be read as
// two different values, has no hash.
func TestArgumentsWithTwoReadings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{`:                                 "not JSON: unexpected end",
		`{"a":1} {}`:                        "after top-level value",
		`{"a":1}}`:                          "after top-level value",
		`{"a":1}]`:                          "after top-level value",
		`{"a":1} x`:                         "after top-level value",
		`{a:1}`:                             "invalid character",
		`{"a":01}`:                          "invalid character",
		`NaN`:                               "invalid character",
		`{"a":1,"a":1}`:                     `"a" appears twice`,
		`{"a":1,"\u0061":2}`:                `"a" appears twice`,
		`{"x":[{"b":{},"c":1,"b":2}]}`:      `x[0]: "b" appears twice`,
		`{"x":{"a":1},"y":1,"x":2}`:         `"x" appears twice`,
		"{\"a\":\"\xff\"}":                  "not valid UTF-8",
		"{\"\xc3\":1}":                      "not valid UTF-8",
		`{"a":"\ud800"}`:                    "half a character",
		`{"a":"\ud800x"}`:                   "half a character",
		`{"a":"\udc00\ud800"}`:              "half a character",
		`{"a":"\ud800\ud800"}`:              "half a character",
		`{"a":"\\\ud800"}`:                  "half a character",
		`{"\udfff":1}`:                      "half a character",
		strings.Repeat("[", 20_000):         "exceeded max depth",
		`{"a":"` + "\n" + `"}`:              "invalid character",
		`{"a":` + `"x` + "\x00" + `"` + `}`: "invalid character",
	} {
		got, err := Canonical(json.RawMessage(in))
		if !errors.Is(err, umpire.ErrInvalid) || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%.40q: %s, %v; want an error with %q", in, got, err, want)
		}
		if sum, err := ArgsHash("Bash", json.RawMessage(in)); err == nil || sum != "" {
			t.Errorf("%.40q: hash %q, %v", in, sum, err)
		}
	}
	for _, fine := range []string{`{"a":{"a":{"a":1}}}`, `[{"a":1},{"a":1}]`, `{"a":["a","a"],"b":"a"}`, `{"a":"\\ud800"}`, `{"a":"\\\\","b":1}`, `["\ud83d\ude00\ud83d\ude00"]`} {
		hash(t, "Bash", fine)
	}
}

// genValue draws a JSON value.
func genValue(depth int) *rapid.Generator[any] {
	leaf := []*rapid.Generator[any]{
		rapid.Just(any(nil)), rapid.Just(any(true)), rapid.Just(any(false)),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("aZ0 \"\\\n<é日😀\u2028\u0000")), 0, 6, -1), func(s string) any { return s }),
	}
	if depth == 0 {
		return rapid.OneOf(leaf...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return genValue(depth - 1) })
	return rapid.OneOf(append(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-c"é]{0,2}`), inner, 0, 4), func(m map[string]any) any { return m }),
	)...)
}

// write encodes a value with its keys in any order and blanks anywhere.
func write(out *bytes.Buffer, dice *rand.Rand, value any) {
	blank := func() { out.WriteString([]string{"", " ", "\n\t"}[dice.IntN(3)]) }
	blank()
	defer blank()
	switch value := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		dice.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		out.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				out.WriteByte(',')
			}
			out.Write(encode(key))
			out.WriteByte(':')
			write(out, dice, value[key])
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, item := range value {
			if i > 0 {
				out.WriteByte(',')
			}
			write(out, dice, item)
		}
		out.WriteByte(']')
	default:
		out.Write(encode(value))
	}
}

// TestArgsHashProperties checks that two spellings of a value have the same hash, and two
// values have different ones.
func TestArgsHashProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, other := genValue(3).Draw(t, "one"), genValue(3).Draw(t, "other")
		dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var first, second bytes.Buffer
		write(&first, dice, one)
		write(&second, dice, one)
		if hash(t, "Bash", first.String()) != hash(t, "Bash", second.String()) {
			t.Fatalf("%s and %s differ", &first, &second)
		}
		if hash(t, "Bash", first.String()) == hash(t, "Edit", first.String()) {
			t.Fatalf("the tool does not matter for %s", &first)
		}
		same := bytes.Equal(encode(one), encode(other))
		if (hash(t, "Bash", string(encode(other))) == hash(t, "Bash", first.String())) != same {
			t.Fatalf("%s and %s are the same: %t", encode(one), encode(other), same)
		}
	})
}
