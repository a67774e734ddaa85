// Package hostcall answers the questions of agents that run their calls themselves
// and ask about each by starting a hook: Claude Code, and the marker protocol.
//
// It has two ends. A [Front] is the process that the agent starts. It reads one
// question, and where a gate runs it hands the question on as it came, by a [Line];
// otherwise a [Desk] of its own decides. The gate has a [Desk] too, which stores
// what it decides and holds what a person is asked. Both ends give the same bytes.
//
//	front := hostcall.Front{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ...}
//	code, known := front.Answer(ctx, "claude", "--deadline", "595s")
//
// Agents run a call when their hook crashes, is late or babbles. So whatever goes
// wrong becomes a denial in the agent's own words: one line on stdout, a reason on
// stderr, exit 2. A gate that is there and fails denies; only one that is not there
// leaves the decision to the front.
//
// The front is started once for every call, so that this package imports little:
// no HTTP, no YAML, no database.
package hostcall
