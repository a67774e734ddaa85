// Package drive runs a coding agent against a model that plays a script, with umpire in front
// of it, and reports the outcome of each call:
//
//	subject := drive.Subject{Driver: drive.FindDriver("codex"), Program: codex, Umpire: umpire}
//	row, err := subject.Examine(ctx, &drive.Cells[0])
//
// The agent is the real program. It has a private home and project below one folder, a worthless
// key, and, if the system allows it, no network but the loopback: see [Isolate].
//
// A [Driver] holds the particulars of an agent: how it is started on the scripted model, how its
// hook is registered, and the names of its tools. A [Cell] is one question about it, such as the
// outcome of a call when the hook is killed.
package drive
