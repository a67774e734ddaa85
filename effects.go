package umpire

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A TrialOffer is the trial available for a call that asks: run it in a separate layer first,
// and decide on its actual effects. The verdict is still Ask, so an interface without trials
// asks. The zero value, NoTrial, offers nothing.
type TrialOffer string

// The offers.
const (
	NoTrial      TrialOffer = ""
	TrialOffered TrialOffer = "offered" // a person may ask for a trial
	TrialFirst   TrialOffer = "first"   // autonomy tries it before asking a person
	// TrialNetwork: a trial failed because it did not reach some destinations, and a person may
	// repeat it with these. Data that it sends cannot be undone.
	TrialNetwork TrialOffer = "network"
	// TrialAgain is TrialNetwork for another agent's command, which only that agent can repeat.
	// An approval gives exactly the same command these destinations in its next trial, once.
	TrialAgain TrialOffer = "again"
)

// TrialEffects are the effects of a trial, as data for deciding, storing and showing. The zero
// value is not Whole, and therefore asks.
type TrialEffects struct {
	// List is sorted by path, bytewise. A deleted folder includes all files it contained.
	List []TrialEffect `json:"list"`
	// Refused are the attempts that the trial refused, as far as they were noticed.
	Refused []TrialAttempt `json:"refused,omitempty"`
	// Reached are the destinations that the command exchanged bytes with, or tried to, as a person
	// had listed them.
	Reached []TrialReach `json:"reached,omitempty"`
	// Whole says that the list is complete. Only complete effects can be kept.
	Whole bool `json:"whole"`
	// Digest identifies the list with all contents: equal digests keep the same effects.
	Digest string `json:"digest"`
}

// A TrialEffect is one path that has changed. In JSON its paths are as [EscapePath] writes
// them, and the mode as fs.FileMode prints it.
type TrialEffect struct {
	Kind EffectKind
	Path string // absolute; any bytes but zero
	From string // the previous path of a moved file
	// Mode is the type and the permissions, including set-id bits, of the file now at Path, or
	// of the deleted file. Size is that of a regular file.
	Mode fs.FileMode
	Size int64
	// Link is the target of a symbolic link as written. LeadsOut says that it leads out of the
	// folders of the trial.
	Link     string
	LeadsOut bool
	// SameAs is another path of the same file, by a hard link.
	SameAs string
}

// An EffectKind is a kind of change of a path.
type EffectKind string

// The kinds of effects.
const (
	EffectCreated    EffectKind = "created"
	EffectChanged    EffectKind = "changed" // different content, link target or type
	EffectDeleted    EffectKind = "deleted"
	EffectMoved      EffectKind = "moved"      // a file that was renamed
	EffectAttributes EffectKind = "attributes" // the same content with another mode, owner or time
)

// A TrialAttempt is something that a trial refused. Target is a path, or an address or a name
// with its port; in JSON it is escaped like a path.
type TrialAttempt struct {
	Kind   AttemptKind
	Target string
}

// An AttemptKind is a kind of attempt.
type AttemptKind string

// The kinds of attempts.
const (
	AttemptNetwork AttemptKind = "network" // connecting or sending to an address
	AttemptSend    AttemptKind = "send"    // sending to a destination that is only fetched from
	// AttemptHostKey is connecting to a listed server of SSH whose key is not pinned.
	AttemptHostKey AttemptKind = "host_key"
	// AttemptSecret is a leased secret's placeholder where its lease does not permit it, or a request to an SSH agent
	// other than to sign in at a server. The target is NAME@host:port, or the name alone.
	AttemptSecret AttemptKind = "secret"
	AttemptWrite  AttemptKind = "write" // creating, writing or deleting a file elsewhere
	// AttemptRepository is a new git repository whose settings may name programs.
	AttemptRepository AttemptKind = "repository"
	// AttemptHistory is a change in a git directory that git's recording does not make: it
	// loses commits, or was made by hand.
	AttemptHistory AttemptKind = "history"
	// AttemptPlain marks a harmless change of one of git's guarded files: afterwards the file
	// names neither a program nor another folder. Nothing was refused.
	AttemptPlain AttemptKind = "plain"
)

// Wanted returns the destinations that the command was refused: hosts and addresses, most with a port.
func (e *TrialEffects) Wanted() (destinations []string) {
	for _, a := range e.Refused {
		if a.Kind == AttemptNetwork {
			destinations = append(destinations, a.Target)
		}
	}
	return destinations
}

// A TrialReach is the traffic of a tried command with one destination, over all its connections. It cannot be undone.
type TrialReach struct {
	Target  string `json:"target"`            // host:port
	Address string `json:"address,omitempty"` // the first address and port it led to; "" if it led to none
	By      string `json:"by"`                // the entry of the list that covers the target
	Times   int    `json:"times"`             // the number of connections
	Sent    int64  `json:"sent"`              // bytes to the target
	Got     int64  `json:"got"`               // bytes from the target
	Millis  int64  `json:"ms"`                // time of all connections together
	Problem Phrase `json:"problem,omitempty"` // why the last connection that failed did so
	// Secrets are the uses of leased secrets, and of keys to sign in.
	Secrets []SecretUse `json:"secrets,omitempty"`
	// Each has the connections one by one, in the order in which they ended: the first [MaxConnections] of a run.
	Each []TrialConnection `json:"each,omitempty"`
}

// MaxConnections bounds the connections that are listed for one run, over all its destinations. The sums of a
// [TrialReach] count all.
const MaxConnections = 200

// A TrialConnection is one connection of a tried command.
type TrialConnection struct {
	At      time.Time `json:"at"`                // when it began
	Address string    `json:"address,omitempty"` // the address and port it led to; "" if it led to none
	Sent    int64     `json:"sent"`              // bytes to the target
	Got     int64     `json:"got"`               // bytes from the target
	Millis  int64     `json:"ms"`                // how long it lasted
	Problem Phrase    `json:"problem,omitempty"` // why it failed or was cut
}

// A SecretUse says how often requests used a leased secret or an SSH key, which the command did not see.
type SecretUse struct {
	Name    string `json:"name"`    // of the lease, or the key's fingerprint
	Request string `json:"request"` // the method and the path, without its query; "?" for those beyond a limit
	Times   int    `json:"times"`
}

// effectFields is the JSON form of a TrialEffect.
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

// attemptFields is the JSON form of a TrialAttempt.
type attemptFields struct {
	Kind   AttemptKind `json:"kind"`
	Target string      `json:"target"`
}

// MarshalJSON writes the effect without losing bytes of any path.
func (e TrialEffect) MarshalJSON() ([]byte, error) {
	return json.Marshal(effectFields{
		e.Kind, EscapePath(e.Path), EscapePath(e.From), e.Mode.String(), e.Size,
		EscapePath(e.Link), e.LeadsOut, EscapePath(e.SameAs),
	})
}

// UnmarshalJSON reads the output of MarshalJSON.
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

// MarshalJSON writes the attempt without losing bytes of any path.
func (a TrialAttempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(attemptFields{a.Kind, EscapePath(a.Target)})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (a *TrialAttempt) UnmarshalJSON(data []byte) error {
	var f attemptFields
	err := json.Unmarshal(data, &f)
	if err == nil {
		f.Target, err = UnescapePath(f.Target)
	}
	*a = TrialAttempt(f)
	return err
}

// readMode parses a mode as printed by fs.FileMode; "" is 0.
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
		return 0, Errorf("unknown mode %q", text)
	}
	return mode, nil
}

// EscapePath encodes a path as text: bytes that are not UTF-8, and the percent sign itself,
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

// UnescapePath decodes the output of EscapePath.
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
