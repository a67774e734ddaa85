package app

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/charmbracelet/x/ansi"
)

// Columns are straight on a terminal for any text. If every character is one column
// wide, the output equals that of text/tabwriter.
func TestTableIsStraight(t *testing.T) {
	t.Parallel()
	latin := "ID\tAGE\tCALL\na1\t10s\tls -la\nb22\t\tx\n\tempty\tlast\nno columns\nnext\tblock\n\nlonger than before\ty\n"
	var got, want bytes.Buffer
	reference := tabwriter.NewWriter(&want, 0, 0, columnGap, ' ', 0)
	mine := NewTable(&got)
	fmt.Fprint(mine, latin)
	fmt.Fprint(reference, latin)
	if err := mine.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := reference.Flush(); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want.String())
	}
	got.Reset()
	fmt.Fprint(mine, "编号\t时长\t|\n\x1b[31mdeny\x1b[0m\t1m 前\t|\na\tb\t|\n")
	if err := mine.Flush(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.String()) {
		if at := ansi.StringWidth(line[:strings.Index(line, "|")]); at != 13 {
			t.Errorf("the last column of %q begins at %d", line, at)
		}
	}
}
