package llm

import (
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// Options configure a provider's model. The zero value leaves all to the provider.
type Options struct {
	// Effort is how hard a model that thinks is to think: one of [Efforts].
	Effort string
	// Patience is how long nothing may come in; 0 is [Patience].
	Patience time.Duration
	// Largest bounds a reply in bytes, as it stands on the wire; 0 is [Largest].
	Largest int
}

// Efforts are the words for how hard a model is to think, in both providers' words.
var Efforts = []string{"low", "medium", "high"}

// Check refuses an effort that is not known.
func (o *Options) Check() error {
	if o.Effort != "" && !slices.Contains(Efforts, o.Effort) {
		return umpire.Errorf("effort %q: want one of %s", o.Effort, strings.Join(Efforts, ", "))
	}
	return nil
}

// A NoKeyError says that no key for a provider was found.
type NoKeyError struct{ Provider, Variable string }

func (e *NoKeyError) Error() string { return e.formatted().Error() }

// Phrase says the same as data.
func (e *NoKeyError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *NoKeyError) formatted() error {
	return umpire.Errorf("no key for %s: the variable %s is not set", e.Provider, e.Variable)
}
