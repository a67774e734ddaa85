package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

func decodeWord(v *docedit.Value, into *string, known ...string) error {
	if !slices.Contains(known, v.Text) {
		return umpire.Errorf("%q: want one of %s", v.Text, strings.Join(known, ", "))
	}
	*into = v.Text
	return nil
}

// decodeIndex reads a constant by its name.
func decodeIndex[T ~uint8](v *docedit.Value, into *T, names []string) error {
	var word string
	if err := decodeWord(v, &word, names...); err != nil {
		return err
	}
	*into = T(slices.Index(names, word))
	return nil
}

// decodeChoice reads one of two words.
func decodeChoice(v *docedit.Value, into *bool, no, yes string) error {
	var word string
	if err := decodeWord(v, &word, no, yes); err != nil {
		return err
	}
	*into = word == yes
	return nil
}

// choice returns the word that decodeChoice reads as the value.
func choice(is bool, no, yes string) string {
	if is {
		return yes
	}
	return no
}

// decodeNot reads a key whose value is the negation of its field.
func decodeNot(v *docedit.Value, into *bool) error {
	is := !*into
	err := v.Decode(&is)
	*into = !is
	return err
}

func decodeCount(v *docedit.Value, into *int) error {
	var count int
	if err := v.Decode(&count); err != nil {
		return err
	}
	if count < 1 {
		return umpire.Errorf("%d: want at least 1", count)
	}
	*into = count
	return nil
}

func decodeDuration(v *docedit.Value, into *time.Duration) error {
	d, ok := ParseDuration(v.Text)
	if !ok || d <= 0 {
		return umpire.Errorf("%q: want a duration such as 90s, 10m, 720h or 7d", v.Text)
	}
	*into = d
	return nil
}

// sizeUnits are the units of a size, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func decodeSize(v *docedit.Value, into *int64) error {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(v.Text, u.name)
		if !ok {
			continue
		}
		count, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || count < 0 || count > 1<<60/u.bytes {
			break
		}
		*into = count * u.bytes
		return nil
	}
	return umpire.Errorf("%q: want a size such as 500MiB or 2GiB", v.Text)
}

func formatSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes%u.bytes == 0 && bytes > 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// ParseDuration reads a duration as people write it: as Go does, or in days, such as 7d.
func ParseDuration(text string) (time.Duration, bool) {
	if days, inDays := strings.CutSuffix(text, "d"); inDays {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * day, err == nil && n >= 0 && n <= int(maxDuration/day)
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

const (
	day         = 24 * time.Hour
	maxDuration = time.Duration(1<<63 - 1)
)
