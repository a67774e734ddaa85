// Package host knows the agents of other vendors that ask umpire before they run a call:
// how each of them writes its questions and reads answers, what its modes mean, and which
// tools and folders are its own. Each is a [Host] in a file of its own.
//
// A Front is the process that an agent starts for every call. It reads one question, and
// where a gate runs it hands the question on as it came, by a Line; otherwise a Responder of its
// own decides. The gate has a Responder too, which stores what it decides and holds what a person
// is asked. Both ends give the same bytes.
//
//	front := host.Front{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ...}
//	code, known := front.Answer(ctx, "claude", "--deadline", "595s")
//
// [Answer] takes a decision that is made and says what an agent is told in its mode. umpire
// never makes an agent looser: it says Allow only for what is known to be safe or a person
// approved, and has no opinion only where the agent runs the call in this mode anyway, or
// asks by itself, and nothing on the list in [Answer] is at stake.
//
// Agents run a call when a hook crashes, is late, or answers in a way they do not know. So
// an answer never holds a field beyond the documented ones, standard output is one line of
// JSON or nothing, and a failure of umpire's own is a denial in the agent's own words. The
// zero Decision denies. Tool names are mapped by a table and never guessed.
//
// The front is started once for every call, so that this package imports little: no HTTP,
// no YAML, no database.
package host
