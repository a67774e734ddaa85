package fake

import (
	"strings"
	"testing"
	"time"
)

// TestColours: the picture has the terminal's colours, including those of the 256-colour
// palette and RGB.
func TestColours(t *testing.T) {
	got := DrawTerminal("\x1b[31mred\x1b[39m \x1b[38;5;196mcube\x1b[0m\x1b[38;2;1;2;3m\x1b[48;5;232mmixed\x1b[m\n" +
		"\x1b[7mturned\x1b[27m a<b\n")
	for _, want := range []string{
		`fill="#ff7b72">red<`, `fill="#ff0000">cube<`, `fill="#010203">mixed<`, `height="18" fill="#080808"/>`,
		`fill="` + writing + `"/>`, `fill="` + paper + `">turned<`, "a&lt;b<",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing from\n%s", want, got)
		}
	}
	if strings.Contains(got, "keyframes") {
		t.Error("a single screen moves")
	}
}

// TestFilm: each frame is visible in its part of the time, and a still one for viewers without animation.
func TestFilm(t *testing.T) {
	got := FilmTerminal([]TerminalFrame{{"one", time.Second}, {"a longer\nsecond", 3 * time.Second}}, 1)
	for _, want := range []string{
		"@keyframes f0{0%{visibility:visible}0.00%{visibility:visible}25.00%,100%{visibility:hidden}}",
		"@keyframes f1{0%{visibility:hidden}25.00%{visibility:visible}100.00%,100%{visibility:hidden}}",
		".f0{visibility:hidden;animation:f0 4.0s step-end infinite}", ".f1{visibility:visible;", `height="72"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing from\n%s", want, got)
		}
	}
}

// TestBlanksAtTheEnd: two screens that differ only in the ink of trailing blanks give the same picture.
func TestBlanksAtTheEnd(t *testing.T) {
	if a, b := DrawTerminal("\x1b[33mbar \x1b[39m\nx"), DrawTerminal("\x1b[33mbar\x1b[39m \nx"); a != b {
		t.Errorf("the ink of a blank at the end changes the picture:\n%s\n%s", a, b)
	}
}
