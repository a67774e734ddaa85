package trial

import "github.com/umpirehq/umpire"

// Describe returns the effects of a layer as they are decided on, stored and shown.
func (l *Layer) Describe(e *Effects) umpire.TrialEffects {
	described := umpire.TrialEffects{
		List: make([]umpire.TrialEffect, 0, len(e.List)), Whole: e.Whole(), Digest: e.Digest,
	}
	for i := range e.List {
		described.List = append(described.List, l.describeEffect(&e.List[i]))
	}
	for _, a := range e.Refused {
		described.Refused = append(described.Refused, umpire.TrialAttempt(a))
	}
	return described
}

func (l *Layer) describeEffect(e *Effect) umpire.TrialEffect {
	entry := &e.After
	if e.Kind == Deleted {
		entry = &e.Before
	}
	return umpire.TrialEffect{
		Kind: e.Kind, Path: e.Path, From: e.From, Mode: entry.Type, Size: entry.Size,
		Link: entry.Link, LeadsOut: l.LeadsOut(e), SameAs: entry.SameAs,
	}
}
