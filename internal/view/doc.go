// Package view is what people are shown: safe text, the card of a question, and every
// message in their language.
//
//	c := view.New(pending, session, text, now, false)
//	fmt.Print(c.Whole())
//	c.Reach(umpire.Answer{Scope: umpire.ScopeProject}) // what an approval would cover
//
// A card shows all of a question, since an answer is bound to what was shown; every face
// shows the same card. Calls, models and repositories wrote what it says, so that nothing
// is shown raw: Visible writes as an escape what a terminal would obey or a person would
// not see.
//
//	text := *catalogue.Language{"deny": "拒绝"}
//	text.Of("deny")
//	text.Reason(decision.Reason)
//
// English is the key of a Catalogue. A text without a translation stays English, so a
// catalogue may be nil. What machines read is never translated.
package view
