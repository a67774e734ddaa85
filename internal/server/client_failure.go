package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/umpirehq/umpire"
)

var (
	// ErrUnreachable means that there is no gate at the address, or it went away.
	ErrUnreachable = errors.New("the gate cannot be reached")
	// ErrCredential means that the gate rejects the credential, or its use for this.
	ErrCredential = errors.New("refused credential")
)

// errGoingAway is matched when the gate drains.
var errGoingAway = errors.New("the gate is shutting down")

// maxFailure is the largest error that is read.
const maxFailure = 1 << 20

// sentinels maps the gate's error words to errors.
var sentinels = map[string]error{
	wordNotFound: umpire.ErrNotFound, wordInvalid: umpire.ErrInvalid, wordState: umpire.ErrState,
	string(umpire.CodeChanged): umpire.ErrChanged,
	wordFenced:                 umpire.ErrFenced, wordOtherProject: umpire.ErrOtherProject, wordLimit: umpire.ErrLimit,
	wordNotRecorded: umpire.ErrNotRecorded, wordCredential: ErrCredential, wordDraining: errGoingAway,
	wordCanceled: context.Canceled, wordDeadline: context.DeadlineExceeded,
}

// codes maps the codes of errors without such a word: they come from Connect, or from something
// between here and the gate.
var codes = map[string]error{
	"invalid_argument": umpire.ErrInvalid, "resource_exhausted": umpire.ErrLimit, "unauthenticated": ErrCredential,
	"canceled": context.Canceled, "deadline_exceeded": context.DeadlineExceeded, "unavailable": ErrUnreachable,
}

// A gateError is an error that the gate returned: its text, and the sentinel that it matches.
type gateError struct {
	text   string
	phrase umpire.Phrase // the same as data; "" if the gate did not send it
	is     error
}

func (f *gateError) Error() string { return f.text }
func (f *gateError) Unwrap() error { return f.is }

// Phrase returns the same as data.
func (f *gateError) Phrase() umpire.Phrase {
	if f.phrase == "" {
		return umpire.PhraseOf(errors.New(f.text))
	}
	return f.phrase
}

// A wireError is an error on the wire.
type wireError struct {
	Code     string           `json:"code"`
	Message  string           `json:"message"`
	Phrase   umpire.Phrase    `json:"phrase"`
	Word     string           `json:"reason_code"`
	Standing *umpire.Standing `json:"standing"`
}

// errorOf reads the error of an answer.
func errorOf(r *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxFailure))
	if err != nil {
		return unreachable(err)
	}
	var e wireError
	if err := json.Unmarshal(data, &e); err != nil || e.Code == "" {
		answered := umpire.Errorf("the gate answered %s", r.Status)
		return &gateError{text: answered.Error(), phrase: umpire.PhraseOf(answered), is: byStatus(r.StatusCode)}
	}
	if e.Word == string(umpire.CodeResolved) && e.Standing != nil {
		return &umpire.ResolvedError{Standing: *e.Standing}
	}
	is, known := sentinels[e.Word]
	if !known {
		is = codes[e.Code]
	}
	return &gateError{text: e.Message, phrase: e.Phrase, is: is}
}

func byStatus(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrCredential
	case http.StatusRequestHeaderFieldsTooLarge, http.StatusBadRequest:
		return umpire.ErrInvalid
	}
	return ErrUnreachable
}

// unreachable marks a connection error.
func unreachable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return umpire.Errorf("%w: %w", ErrUnreachable, err)
}
