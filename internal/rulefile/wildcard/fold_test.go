package wildcard

import "testing"

func TestFold(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{".ENV", ".env"}, {"\u212aey", "key"}, {"\u017fecret", "Secret"}, {"ÄÖ", "äö"}, {"Σς", "σΣ"}} {
		if FoldCase(pair[0]) != FoldCase(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	if FoldCase("a.go") == FoldCase("b.go") {
		t.Error("different names are folded alike")
	}
}
