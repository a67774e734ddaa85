package cli

import (
	"strings"
	"testing"

	"rsc.io/qr"

	"github.com/umpirehq/umpire/internal/config"
)

// TestDrawnCode: the drawing has the modules of the code with a light border, and fits on a usual
// terminal.
func TestDrawnCode(t *testing.T) {
	t.Parallel()
	link := subscribeLink(&config.Ntfy{Server: "https://ntfy.example.org:8443/", Topic: strings.Repeat("t", 36)})
	if want := "ntfy://ntfy.example.org:8443/" + strings.Repeat("t", 36); link != want {
		t.Errorf("the link is %q", link)
	}
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for _, coloured := range []bool{false, true} {
		var out strings.Builder
		drawCode(&out, code, coloured)
		plain := strings.NewReplacer("\x1b[38;5;16;48;5;231m", "", "\x1b[0m", "").Replace(out.String())
		if coloured == (plain == out.String()) {
			t.Errorf("coloured %v: %q", coloured, out.String())
		}
		lines := strings.Split(strings.TrimSuffix(plain, "\n"), "\n")
		if len(lines)+pairingLines > 24 {
			t.Errorf("%d lines", len(lines))
		}
		for y := -quietZone; y < code.Size+quietZone; y++ {
			row := []rune(lines[(y+quietZone)/2])
			for x := -quietZone; x < code.Size+quietZone; x++ {
				upper, char := (y+quietZone)%2 == 0, row[x+quietZone]
				filled := char == '█' || upper && char == '▀' || !upper && char == '▄'
				if dark := filled == coloured; dark != code.Black(x, y) {
					t.Fatalf("coloured %v: the module %d, %d is wrong", coloured, x, y)
				}
			}
		}
	}
}
