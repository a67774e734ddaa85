package view

import (
	"strings"
	"time"
)

// Duration writes a duration without the zeros at its end: 5m, not 5m0s.
func Duration(d time.Duration) string {
	text := d.String()
	for _, tail := range []string{"0s", "0m"} {
		rest, ok := strings.CutSuffix(text, tail)
		if ok && (strings.HasSuffix(rest, "h") || strings.HasSuffix(rest, "m")) {
			text = rest
		}
	}
	return text
}
