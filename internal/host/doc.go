// Package adapter turns the bytes of other agents into umpire's words and
// decisions back into their bytes. One file, or one family of files, per agent:
//
//	claude*.go  Claude Code: hook payloads and answers, and its settings file
//	muse.go     the marker protocol
//
// Every function is pure: bytes and values in, bytes and values out. Reading
// stdin, keeping a deadline and writing files belong to the caller.
//
// # What the answers promise
//
// Agents run a call when a hook crashes, is late or answers in a way they do
// not know. So an answer never holds a field beyond the documented ones,
// stdout is one line of JSON or nothing, a denial says no in every way that the
// agent listens to, and [FailClaude] and [FailMuse] turn a failure of our own
// into a denial. The zero Decision denies.
//
// Tool names are mapped by a table and never guessed. A name that the table
// does not hold stays as it is, and umpire judges it as a tool it knows nothing of.
package adapter
