package wildcard

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
)

// Limits on one pattern: adjacent braces multiply, and stars within a segment backtrack.
const (
	maxLen       = 1024
	maxBraces    = 8
	maxWildcards = 32
)

// Validate returns an error if the pattern of a rule is malformed. The error names the key pathGlob.
func Validate(glob string) error {
	switch {
	case len(glob) > maxLen:
		return umpire.Errorf("pathGlob is longer than %d bytes", maxLen)
	case !utf8.ValidString(glob) || strings.ContainsRune(glob, 0):
		return errors.New("pathGlob is not text")
	case strings.Count(glob, "{") > maxBraces:
		return umpire.Errorf("pathGlob %q has more than %d braces", glob, maxBraces)
	case strings.Count(glob, "*") > maxWildcards:
		return umpire.Errorf("pathGlob %q has more than %d stars", glob, maxWildcards)
	case strings.HasPrefix(glob, "~") && glob != "~" && !strings.HasPrefix(glob, "~/"):
		return umpire.Errorf("pathGlob %q: use ~/ for your home; another user's home is not supported", glob)
	case !doublestar.ValidatePattern(glob):
		return umpire.Errorf("pathGlob %q is not a valid pattern", glob)
	}
	alternatives := []string{glob}
	if strings.Contains(glob, "{") {
		var err error
		if alternatives, err = ExpandBraces(glob); err != nil {
			return umpire.Errorf("pathGlob %q: %w", glob, err)
		}
	}
	for _, text := range alternatives {
		if err := validSegments(text); err != nil {
			return umpire.Errorf("pathGlob %q: %w", glob, err)
		}
	}
	return nil
}

// validSegments checks the assumptions of matching: every segment is a valid pattern by itself,
// and not "..".
func validSegments(text string) error {
	if !strings.ContainsAny(text, `\[]{}`) && !strings.Contains(text, "..") && text != "" {
		return nil // nothing but names, stars and question marks
	}
	if text == "" {
		return errors.New("the braces leave an empty pattern, which matches nothing")
	}
	for segment := range strings.SplitSeq(text, "/") {
		switch {
		case segment == "..":
			return errors.New("a .. never matches, because paths are resolved first")
		case !strings.ContainsAny(segment, `\[]{}`): // stars and question marks are valid anywhere
		case !doublestar.ValidatePattern(segment):
			return umpire.Errorf("segment %q is not a valid pattern", segment)
		case mixedRange(segment):
			return umpire.Errorf(
				"segment %q has a range from one case to another, which is meaningless where case is ignored", segment,
			)
		}
	}
	return nil
}

// mixedRange reports whether a class has a range that ignoring case would reverse, as in [Z-a],
// which would match nothing.
func mixedRange(segment string) bool {
	class, runes := false, []rune(segment)
	for i, r := range runes {
		switch {
		case r == '[':
			class = true
		case r == ']':
			class = false
		case class && r == '-' && i > 0 && i+1 < len(runes):
			lo, hi := runes[i-1], runes[i+1]
			if lo <= hi && foldRune(lo) > foldRune(hi) {
				return true
			}
		}
	}
	return false
}
