package umpire

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A TrialOffer says what a trial could do for a call that asks: run it in a layer of its
// own first, and decide on what it really did. The verdict stays Ask beside it, so a
// surface that cannot try asks. The zero value is no trial.
type TrialOffer string

// The offers.
const (
	NoTrial      TrialOffer = ""
	TrialOffered TrialOffer = "offered" // a person may ask for a trial
	TrialFirst   TrialOffer = "first"   // by the person's autonomy: try it before anybody is asked
	// TrialNetwork: a trial failed since it wanted the network, and a person may have it run again
	// with that. What it sends is sent.
	TrialNetwork TrialOffer = "network"
	// TrialAgain is TrialNetwork for another agent's command, which only that agent can run again:
	// an approval gives exactly the same command the network in its next trial, once.
	TrialAgain TrialOffer = "again"
)

// TrialEffects are what a trial did, as data for deciding, storing and showing. The zero
// value is not Whole, and so asks.
type TrialEffects struct {
	// List is sorted by path, bytewise. A folder that was deleted lists all that it held.
	List []TrialEffect `json:"list"`
	// Refused is what the command tried and was refused, as far as that can be seen.
	Refused []TrialAttempt `json:"refused,omitempty"`
	// Whole says that the list is all that the command did. Only a whole one is kept.
	Whole bool `json:"whole"`
	// Digest names the list with all contents: equal digests keep the same.
	Digest string `json:"digest"`
}

// A TrialEffect is one path that is not as it was. In JSON its paths are as [EscapePath]
// writes them, and the mode as fs.FileMode prints it.
type TrialEffect struct {
	Kind EffectKind
	Path string // absolute; any bytes but zero
	From string // where a file that was moved had been
	// Mode is the type and the permissions, set-id bits included, of what stands at Path
	// now, or of what was deleted. Size is that of a regular file.
	Mode fs.FileMode
	Size int64
	// Link is the target of a symbolic link as written. LeadsOut says that it leads out of
	// the folders of the trial.
	Link     string
	LeadsOut bool
	// SameAs is another path that is the same file, by a hard link.
	SameAs string
}

// An EffectKind is what happened to a path.
type EffectKind string

// The kinds of effects.
const (
	EffectCreated    EffectKind = "created"
	EffectChanged    EffectKind = "changed" // other content, another target of a link or another type
	EffectDeleted    EffectKind = "deleted"
	EffectMoved      EffectKind = "moved"      // a file that left one name for another
	EffectAttributes EffectKind = "attributes" // the same content with another mode, owner or time
)

// A TrialAttempt is something that a trial refused. Target is a path, or an address or a
// name with its port; in JSON it is escaped like a path.
type TrialAttempt struct {
	Kind   AttemptKind
	Target string
}

// An AttemptKind says what was tried.
type AttemptKind string

// The kinds of attempts.
const (
	AttemptNetwork AttemptKind = "network" // an address was connected or sent to
	AttemptWrite   AttemptKind = "write"   // a file elsewhere would have been made, written or deleted
	// AttemptRepository is a repository of git that was made, and whose settings may name programs.
	AttemptRepository AttemptKind = "repository"
	// AttemptHistory is a change in a git directory that git's recording does not make: it loses
	// commits, or was made by hand.
	AttemptHistory AttemptKind = "history"
	// AttemptPlain marks a harmless change of a guarded file of git's: afterwards the file names neither a program
	// nor another folder. Nothing was refused.
	AttemptPlain AttemptKind = "plain"
)

// effectFields is a TrialEffect in JSON.
type effectFields struct {
	Kind     EffectKind `json:"kind"`
	Path     string     `json:"path"`
	From     string     `json:"from,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	Size     int64      `json:"size,omitempty"`
	Link     string     `json:"link,omitempty"`
	LeadsOut bool       `json:"leads_out,omitempty"`
	SameAs   string     `json:"same_as,omitempty"`
}

// attemptFields is a TrialAttempt in JSON.
type attemptFields struct {
	Kind   AttemptKind `json:"kind"`
	Target string      `json:"target"`
}

// MarshalJSON writes the effect so that every path survives.
func (e TrialEffect) MarshalJSON() ([]byte, error) {
	return json.Marshal(effectFields{
		e.Kind, EscapePath(e.Path), EscapePath(e.From), e.Mode.String(), e.Size,
		EscapePath(e.Link), e.LeadsOut, EscapePath(e.SameAs),
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *TrialEffect) UnmarshalJSON(data []byte) error {
	var f effectFields
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	for _, path := range []*string{&f.Path, &f.From, &f.Link, &f.SameAs} {
		plain, err := UnescapePath(*path)
		if err != nil {
			return err
		}
		*path = plain
	}
	mode, err := readMode(f.Mode)
	if err != nil {
		return err
	}
	*e = TrialEffect{f.Kind, f.Path, f.From, mode, f.Size, f.Link, f.LeadsOut, f.SameAs}
	return nil
}

// MarshalJSON writes the attempt so that every path survives.
func (a TrialAttempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(attemptFields{a.Kind, EscapePath(a.Target)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *TrialAttempt) UnmarshalJSON(data []byte) error {
	var f attemptFields
	err := json.Unmarshal(data, &f)
	if err == nil {
		f.Target, err = UnescapePath(f.Target)
	}
	*a = TrialAttempt(f)
	return err
}

// readMode reads a mode as fs.FileMode prints it; none is 0.
func readMode(text string) (fs.FileMode, error) {
	if text == "" {
		return 0, nil
	}
	const types, permissions = "dalTLDpSugct?", "rwxrwxrwx"
	kind, rest := text, ""
	if at := len(text) - len(permissions); at >= 0 {
		kind, rest = text[:at], text[at:]
	}
	var mode fs.FileMode
	for i, c := range rest {
		if byte(c) == permissions[i] {
			mode |= 1 << (len(permissions) - 1 - i)
		}
	}
	for _, c := range kind {
		if bit := strings.IndexRune(types, c); bit >= 0 {
			mode |= 1 << (31 - bit)
		}
	}
	if mode.String() != text {
		return 0, Errorf("mode %q is not known", text)
	}
	return mode, nil
}

// EscapePath writes a path as text: bytes that are not UTF-8, and the percent sign itself,
// become %XX.
func EscapePath(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && size == 1 || r == '%' {
			fmt.Fprintf(&b, "%%%02X", path[i])
		} else {
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	return b.String()
}

// UnescapePath reads what EscapePath wrote.
func UnescapePath(text string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		code, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 {
			return "", Errorf("path %q: want two hexadecimal digits after a percent sign", text)
		}
		b.WriteByte(byte(code))
		text = after[2:]
	}
}
