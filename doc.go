// Package umpire holds the words of a permission system for AI coding agents:
// a [Call] by a model would do certain things, its [Access] list, each with a
// [Risk]; rules and a [Mode] say what follows; the answer is a [Decision], whose
// [Verdict] is allow, ask or deny.
//
// The types here carry no behaviour beyond naming themselves. To decide a call
// as a library, find the bounds of the project with package place, gather the
// facts of the call, resolve its paths, and hand all of it to package policy:
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
// Everywhere the zero value refuses: an unset Verdict is Deny, an unset Risk is
// Critical, an unset Mode is ModeReject.
package umpire
