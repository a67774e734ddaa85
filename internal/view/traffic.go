package view

import (
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TrafficText says how much a tried command exchanged with a destination, and which entry of the person's list covers
// it.
func TrafficText(r *umpire.TrialReach, text *catalogue.Language) string {
	parts := []string{
		Bracketed(Visible(r.Target), Visible(r.By)), text.Count(r.Times, "%d connection", "%d connections"),
		fmt.Sprintf(text.Of("%s sent"), Size(r.Sent)), fmt.Sprintf(text.Of("%s received"), Size(r.Got)),
	}
	for i, u := range r.Secrets {
		same := func(o umpire.SecretUse) bool { return o.Name == u.Name }
		if slices.IndexFunc(r.Secrets, same) < i {
			continue
		}
		times := 0
		for _, o := range r.Secrets {
			if same(o) {
				times += o.Times
			}
		}
		parts = append(parts, Joined(Visible(u.Name), ": ", text.Count(times, "%d request", "%d requests")))
	}
	if r.Problem != "" {
		parts = append(parts, Visible(text.Reason(r.Problem)))
	}
	return List(parts, ", ")
}

// sizeUnits are the decimal units of a size.
var sizeUnits = []string{"kB", "MB", "GB", "TB", "PB"}

// Size formats a number of bytes for people.
func Size(size int64) string {
	if size < 1000 {
		return fmt.Sprintf("%d B", size)
	}
	value, unit := float64(size), ""
	for _, unit = range sizeUnits {
		if value /= 1000; value < 999.5 {
			break
		}
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}
