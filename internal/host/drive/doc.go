// Package drive runs an installed coding agent against a model that plays a script, with umpire in front
// of it, and reports the outcome of each call:
//
//	subject := drive.Subject{Agent: drive.FindAgent("codex"), Program: codex, Umpire: umpire}
//	outcome, err := subject.Try(ctx, &drive.Cases[0])
//
// The agent is the real program. It has a private home and project below one folder, a worthless
// key, and, if the system allows it, no network but the loopback: see [Isolate].
package drive
