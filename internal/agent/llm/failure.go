package llm

import (
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A BadRequestError is a request that a model rejects: sending it again unchanged will not help.
type BadRequestError struct {
	Status int // the equivalent HTTP status
	Reason string
}

func (e *BadRequestError) Error() string { return e.formatted().Error() }

// Phrase returns the same as data.
func (e *BadRequestError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *BadRequestError) formatted() error {
	return umpire.Errorf("the model refused the request (%d): %s", e.Status, e.Reason)
}

// A FailureKind classifies a failure by its remedy.
type FailureKind uint8

// The kinds of failures. The zero value is an unknown failure.
const (
	FailedUnknown    FailureKind = iota
	FailedKey                    // the provider does not know the key
	FailedRights                 // the key may not do this
	FailedModel                  // there is no such model
	FailedLimit                  // too many requests, or no credit left
	FailedOverload               // the provider is overloaded
	FailedServer                 // the provider made a mistake
	FailedTooLong                // the conversation does not fit into the model's context
	FailedConnection             // the provider cannot be reached
	FailedBroken                 // the reply began, but did not finish
	FailedSilent                 // no data for too long
	FailedFlood                  // the reply is larger than any can be
)

// failureTexts describe failures and their remedies.
var failureTexts = map[FailureKind]error{
	FailedUnknown:  errors.New("the model gave no reply"),
	FailedKey:      errors.New("the provider does not accept the key: check the variable that holds it"),
	FailedRights:   errors.New("the key may not use this model: ask for access, or choose another model"),
	FailedModel:    errors.New("the provider has no such model: check the name after --model, and the base URL"),
	FailedLimit:    errors.New("the provider's rate limit or credit is used up: wait, or look at the account's limits"),
	FailedOverload: errors.New("the provider is overloaded: try again in a while"),
	FailedServer:   errors.New("the provider failed: try again in a while"),
	FailedTooLong: errors.New("the conversation is too long for the model: begin a new session, or choose a model " +
		"with a larger context"),
	FailedConnection: errors.New("the provider cannot be reached: check the network and the base URL"),
	FailedBroken:     errors.New("the reply broke off before its end: try again"),
	FailedSilent:     errors.New("the model was silent for too long: try again"),
	FailedFlood:      errors.New("the reply is too large to keep: try again, and ask for less"),
}

// A ReplyError is the reason why a model did not reply. It never contains the key.
type ReplyError struct {
	Kind   FailureKind
	Status int    // the HTTP status; 0 if the failure is not the server's answer
	Reason string // the provider's text; of foreign origin
	Err    error  // the underlying error; may be nil
}

// Error describes the failure, its remedy, and the provider's reason.
func (f *ReplyError) Error() string { return f.formatted().Error() }

// Phrase returns the same as data.
func (f *ReplyError) Phrase() umpire.Phrase { return umpire.PhraseOf(f.formatted()) }

func (f *ReplyError) formatted() error {
	text := failureTexts[f.Kind]
	if f.Status != 0 {
		text = umpire.Errorf("%w (status %d)", text, f.Status)
	}
	switch {
	case f.Reason != "":
		return umpire.Errorf("%w: %s", text, files.ClipTo(f.Reason, maxReason, "…"))
	case f.Err != nil:
		if clipped := files.ClipTo(f.Err.Error(), maxReason, "…"); clipped != f.Err.Error() {
			return umpire.Errorf("%w: %s", text, clipped)
		}
		return umpire.Errorf("%w: %w", text, f.Err)
	}
	return text
}

// Unwrap returns the underlying error.
func (f *ReplyError) Unwrap() error { return f.Err }

// KindOf returns the kind of failure of an error, and whether it has one.
func KindOf(err error) (FailureKind, bool) {
	f, ok := errors.AsType[*ReplyError](err)
	if !ok {
		return FailedUnknown, false
	}
	return f.Kind, true
}

// maxReason bounds the provider's text in an error: some providers send a whole page.
const maxReason = 1000
