// Package view renders text for people: safe text, the card of a question, and every
// message in their language.
//
//	c := view.New(pending, session, home, text, now, false)
//	fmt.Print(c.Whole())
//	c.Reach(umpire.Answer{Scope: umpire.ScopeProject}) // what an approval would cover
//
// A card shows all of a question because an answer is bound to the shown text, and every
// interface shows the same card. The text comes from calls, models and repositories, so
// none of it is shown raw: Visible escapes characters that a terminal would interpret or
// a person would not see.
//
//	text := catalogue.Find("zh-CN")
//	text.Of("deny")
//	text.Reason(decision.Reason)
//
// The English text is the key of a translation. A text without a translation stays
// English, and a nil Language is English. Machine-readable output is never translated.
package view
