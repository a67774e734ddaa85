package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestOrderIsDocumented: the package comment shows the rows as the table has them.
func TestOrderIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, r := range Order {
		fmt.Fprintf(&table, "//\t%2d  %-54s %s\n", r.Row, r.When, r.Does)
	}
	if !strings.Contains(string(doc), table.String()) {
		t.Errorf("doc.go does not have\n%s", table.String())
	}
}

// TestRowsHaveNames: each row appears once.
func TestRowsHaveNames(t *testing.T) {
	t.Parallel()
	for _, r := range Order {
		if r.Name == "" || RowName(r.Row) != r.Name {
			t.Errorf("row %d is there twice, or has no name", r.Row)
		}
	}
	for row := 1; row <= len(Order); row++ {
		if RowName(row) == "" {
			t.Errorf("row %d is missing", row)
		}
	}
	if RowName(0) != "" || RowName(len(Order)+1) != "" {
		t.Error("a row that is not there has a name")
	}
}
