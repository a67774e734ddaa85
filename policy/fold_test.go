package policy

import "testing"

func TestFold(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{".ENV", ".env"}, {"\u212aey", "key"}, {"\u017fecret", "Secret"}, {"ÄÖ", "äö"}, {"Σς", "σΣ"}} {
		if fold(pair[0]) != fold(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	if fold("a.go") == fold("b.go") {
		t.Error("different names are folded alike")
	}
}
