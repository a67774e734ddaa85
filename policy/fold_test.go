package policy

import "testing"

func TestFold(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{".ENV", ".env"}, {"\u212aey", "key"}, {"\u017fecret", "Secret"}, {"ÄÖ", "äö"}, {"Σς", "σΣ"}} {
		if foldCase(pair[0]) != foldCase(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	if foldCase("a.go") == foldCase("b.go") {
		t.Error("different names are folded alike")
	}
}
