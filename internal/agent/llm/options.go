package llm

import (
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// Options configure a provider's model. With the zero value the provider chooses.
type Options struct {
	// Effort is the thinking effort of a model that thinks: one of [Efforts].
	Effort string
	// Patience is the longest allowed silence; 0 means [Patience].
	Patience time.Duration
	// Largest bounds a reply in bytes on the wire; 0 means [Largest].
	Largest int
}

// Efforts are the thinking efforts, in both providers' words.
var Efforts = []string{"low", "medium", "high"}

// Check rejects an unknown effort.
func (o *Options) Check() error {
	if o.Effort != "" && !slices.Contains(Efforts, o.Effort) {
		return umpire.Errorf("effort %q: want one of %s", o.Effort, strings.Join(Efforts, ", "))
	}
	return nil
}

// A NoKeyError means that no key for a provider was found.
type NoKeyError struct{ Provider, Variable string }

func (e *NoKeyError) Error() string { return e.formatted().Error() }

// Phrase returns the same as data.
func (e *NoKeyError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *NoKeyError) formatted() error {
	return umpire.Errorf("no key for %s: the variable %s is not set", e.Provider, e.Variable)
}
