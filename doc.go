// Package umpire defines the vocabulary of a permission system for AI coding agents. A [Call]
// by a model has effects, each an [Access] with a [Risk]. Rules and a [Mode] determine the
// [Decision], whose [Verdict] is allow, ask or deny.
//
// The types here have no behaviour beyond their text forms. To decide a call as a library, find
// the bounds of the project with package place, gather the facts of the call, resolve its
// paths, and pass all of it to package policy:
//
//	bounds, err := place.Open(dir, place.Options{Home: home})
//	facts, err := policy.FactsOf(call, bounds.Env())
//	bounds.ResolveAll(&facts)
//	q := policy.Query{Call: call, Facts: facts}
//	q.Mode, q.Now = umpire.ModeDefault, time.Now()
//	return policy.Decide(rules, q), nil
//
// The example shows the whole function.
//
// The zero value always refuses: an unset Verdict is Deny, an unset Risk is Critical, an unset
// Mode is ModeReject.
package umpire
