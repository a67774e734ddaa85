// Package conformance plays every question about a host's behaviour with the real agent behind umpire, and
// without it. The outcomes make the table of docs/hosts.md:
//
//	subject := conformance.Subject{Driver: conformance.FindDriver("codex")}
//	subject.Program, subject.Umpire = codex, umpire
//	row, err := subject.Examine(ctx, &conformance.Cells[0])
//
// It extends [drive], with which users try an agent. A [Driver] adds what the lab knows about an agent: where
// npm installs it, the options of its modes, and its other tools. A [Cell] is one question about it, such as
// the outcome of a call when the hook is killed.
package conformance
