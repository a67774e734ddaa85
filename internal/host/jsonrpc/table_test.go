package jsonrpc

import (
	"strconv"
	"testing"
)

func TestTableForgetsTheOldest(t *testing.T) {
	t.Parallel()
	table := NewTable[int](10)
	for i := range 13 {
		table.Put(strconv.Itoa(i), -i)
	}
	_, oldest := table.Get("2")
	_, next := table.Get("3")
	if oldest || !next || len(table.of) != 10 {
		t.Errorf("%d are remembered; the third %t, the fourth %t", len(table.of), oldest, next)
	}
	for i := range 1000 {
		table.Put("again", i)
		if v, known := table.Take("again"); !known || v != i {
			t.Fatalf("took %d, %t", v, known)
		}
	}
	if len(table.order) != len(table.of) || len(table.order) > 10 {
		t.Errorf("the order has %d keys, the table %d", len(table.order), len(table.of))
	}
	if _, known := table.Take("again"); known {
		t.Error("a value was taken twice")
	}
}
