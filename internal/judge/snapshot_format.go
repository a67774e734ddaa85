package judge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A snapshot's file is a JSON list of strings: its form, the fields, and each file
// with its stamp. Preparing to decode a struct would take encoding/json longer than
// all the rest of reading takes, so that only rules and folders, where there are
// any, stand in one of the strings as JSON.

// snapshotFormat begins a file, with the version of what follows.
const snapshotFormat = "umpire-snapshot 5"

// lists are the fields that are seldom there.
type lists struct {
	AddDirs  []string        `json:"add_dirs"`
	RulesOff []umpire.RuleID `json:"rules_off"`
	Rules    []SnapshotRule  `json:"rules"`
}

// marshal writes the file of a snapshot.
func (s *Snapshot) marshal() ([]byte, error) {
	texts := []string{snapshotFormat}
	for _, f := range s.fields() {
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	for _, f := range s.Files {
		texts = append(texts, f.Path, f.Stamp)
	}
	return json.Marshal(texts)
}

// unmarshal reads the file of a snapshot. What is not exactly one is an error.
func unmarshal(data []byte) (*Snapshot, error) {
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, err
	}
	s := &Snapshot{}
	fields := s.fields()
	if len(texts) < len(fields)+1 || texts[0] != snapshotFormat || (len(texts)-len(fields))%2 != 1 {
		return nil, fmt.Errorf("want %q with %d fields and a stamp for each file", snapshotFormat, len(fields))
	}
	for i, f := range fields {
		if err := f.read(texts[i+1]); err != nil {
			return nil, fmt.Errorf("field %d: %w", i+1, err)
		}
	}
	for files := texts[len(fields)+1:]; len(files) > 0; files = files[2:] {
		s.Files = append(s.Files, SnapshotFile{Path: files[0], Stamp: files[1]})
	}
	return s, nil
}

// A field of a snapshot as text, both ways.
type field struct {
	text func() (string, error)
	read func(string) error
}

// fields are all but the files, in the order in which they stand.
func (s *Snapshot) fields() []field {
	return []field{
		textField(&s.Dir), textField(&s.Home), textField(&s.UserHome), textField(&s.Root),
		modeField(&s.Mode), flagField(&s.Enforce), durationField(&s.Deadline),
		flagField(&s.AllowMedium), flagField(&s.DenyExternal), precedenceField(&s.Precedence), textField(&s.Degraded),
		textField(&s.Sandbox.Mode), flagField(&s.Sandbox.Network), textField(&s.Sandbox.Missing),
		{s.lists, s.readLists},
	}
}

func textField[T ~string](at *T) field {
	return field{
		func() (string, error) { return string(*at), nil },
		func(s string) error { *at = T(s); return nil },
	}
}

func flagField(at *bool) field {
	return field{
		func() (string, error) { return strconv.FormatBool(*at), nil },
		func(s string) (err error) { *at, err = strconv.ParseBool(s); return err },
	}
}

func durationField(at *time.Duration) field {
	return field{
		func() (string, error) { return at.String(), nil },
		func(s string) (err error) { *at, err = time.ParseDuration(s); return err },
	}
}

func modeField(at *umpire.Mode) field {
	return field{
		func() (string, error) { return at.String(), nil },
		func(s string) error { return at.UnmarshalText([]byte(s)) },
	}
}

func precedenceField(at *policy.Precedence) field {
	return field{
		func() (string, error) { return strconv.Itoa(int(*at)), nil },
		func(s string) error {
			n, err := strconv.ParseUint(s, 10, 8)
			*at = policy.Precedence(n)
			return err
		},
	}
}

func (s *Snapshot) lists() (string, error) {
	if s.AddDirs == nil && s.RulesOff == nil && s.Rules == nil {
		return "", nil
	}
	data, err := json.Marshal(lists{s.AddDirs, s.RulesOff, s.Rules})
	return string(data), err
}

func (s *Snapshot) readLists(text string) error {
	if text == "" {
		return nil
	}
	var l lists
	err := json.Unmarshal([]byte(text), &l)
	s.AddDirs, s.RulesOff, s.Rules = l.AddDirs, l.RulesOff, l.Rules
	return err
}
