// Package umpire holds the words of a permission system for AI coding agents:
// a [Call] by a model would do certain things, its [Access] list, each with a
// [Risk]; rules and a [Mode] say what follows; the answer is a [Decision], whose
// [Verdict] is allow, ask or deny.
//
// The types here carry no behaviour beyond naming themselves. To decide a call
// as a library, read a command line with package shell and hand the facts to
// package policy:
//
//	facts := policy.FactsOf(call, shell.Env{Dir: dir, Home: home})
//	decision := policy.Decide(rules, policy.Query{Call: call, Facts: facts, Mode: umpire.ModeDefault})
//
// Everywhere the zero value refuses: an unset Verdict is Deny, an unset Risk is
// Critical, an unset Mode is ModeReject.
package umpire
