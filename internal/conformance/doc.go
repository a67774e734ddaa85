// Package conformance runs a coding agent against a model that plays a script, with umpire
// in front of it, and tells what became of each call:
//
//	subject := conformance.Subject{Driver: conformance.FindDriver("codex"), Program: codex, Umpire: umpire}
//	row, err := subject.Examine(ctx, &conformance.Cells[0])
//
// The agent is the real program. It has a home and a project of its own below one folder,
// a key that is worth nothing, and, where the system allows it, no network but the
// loopback: see [Isolate].
//
// A [Driver] is what is particular to an agent: how it is started on the scripted model,
// how its hook is registered, and what its tools are called. A [Cell] is one question
// about it, such as what becomes of a call when the hook is killed.
package conformance
