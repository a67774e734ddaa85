// Package host knows the agents of other vendors that ask umpire before they run a call: how each
// of them writes its questions and reads answers, the meaning of its modes, and its own tools and
// folders. Each agent is a [Host], one row of a table.
//
// A Front is the process that an agent starts for every call. It reads one question. If a gate is
// running, it forwards the question unchanged over a Line; otherwise its own Responder decides. The
// gate also has a Responder, which stores its decisions and holds questions for a person. Both ends
// give the same bytes.
//
//	front := host.Front{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ...}
//	code, known := front.Answer(ctx, "claude", "--deadline", "595s")
//
// [Answer] turns a decision into the reply to an agent in its mode. umpire never makes an agent
// looser: it says Allow only if a call is known to be safe or a person approved it. It has no
// opinion only if the agent runs the call in this mode anyway, or asks by itself, and nothing on
// the list in [Answer] is at stake.
//
// Agents run a call when a hook crashes, is late, or answers in a way they do not know. So an
// answer contains only documented fields, standard output is one line of JSON or nothing, and a
// failure of umpire itself is a denial in the agent's own words. The zero Decision denies. Tool
// names are mapped by a table and never guessed.
//
// The front is started once for every call. To start fast, this package imports little: no HTTP, no
// YAML, no database.
package host
