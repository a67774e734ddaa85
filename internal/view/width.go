package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// Padded fills a text up to a width, in which a Chinese character takes two.
func Padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Columns(text)))
}

// Columns is how wide a text is on a terminal.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f ||
			r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff) {
			n++
		}
	}
	return n
}

// Age writes a duration in everyday form.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// A verdict's colours: red, yellow, green.
var verdictColours = [...]string{umpire.Deny: "\x1b[31m", umpire.Ask: "\x1b[33m", umpire.Allow: "\x1b[32m"}

// VerdictColour is the escape that begins a verdict's colour.
func VerdictColour(v umpire.Verdict) string {
	if int(v) >= len(verdictColours) {
		return ""
	}
	return verdictColours[v]
}

// widestVerdict is how wide the longest verdict is.
const widestVerdict = len("allow")

// Verdict writes a verdict in a person's language, padded to the longest one, and in its
// colour if wanted.
func Verdict(v umpire.Verdict, text *catalogue.Language, colour bool) string {
	word := Padded(text.Word("verdict", v.String()), widestVerdict)
	if !colour || int(v) >= len(verdictColours) {
		return word
	}
	return verdictColours[v] + word + "\x1b[0m"
}
