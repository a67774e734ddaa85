package app

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire/internal/config"
)

// ParseSince reads the value of --since: a duration before now, a time of the last 24 hours, or RFC 3339. help is the
// command that explains the flag.
func ParseSince(text string, now time.Time, help string) (time.Time, error) {
	if d, ok := config.ParseDuration(text); ok && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		year, month, today := now.Date()
		at := time.Date(year, month, today, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, Usage(help,
			"--since %q: want a time such as 10m, 2d, 14:30 or 2026-01-31T14:30:00Z", text)
	}
	return at, nil
}

// AddAllProjects adds the flag of all commands that show the data of this project or of all projects.
func AddAllProjects(flags *pflag.FlagSet, all *bool) {
	flags.BoolVar(all, "all-projects", false, "include all projects, not just this one")
}
