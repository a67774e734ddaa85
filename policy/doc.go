// Package policy decides calls: it combines rules, a mode, grants and the facts of a call into
// one [umpire.Decision]. It reads no files, runs no programs and uses no clock, so the same
// arguments always give the same decision.
//
// Most people need two calls:
//
//	p, err := policy.New(rules, policy.Options{Root: root, Home: home})
//	q := policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: mode, Now: now}}
//	decision := policy.Decide(p, q)
//
// # Order of decision
//
// Every access of a call is judged by the rows below. The first row that applies settles the
// access, the others are kept as reasons, and the call gets the strictest verdict of its
// accesses.
//
//	 1  malformed input, or a tool the profile does not list   deny
//	 2  suffix limit of the profile                            deny
//	 3  critical risk, forbidden path                          deny; nothing overrides it
//	 4  deny rule                                              deny
//	 5  plan mode, and not a read                              deny
//	 6  control file                                           ask; each approval is for once
//	 7  ask rule, of people or about secrets                   ask
//	15  a command that would run without a sandbox             ask; no rule or mode overrides it
//	16  a rule file that may deny or ask cannot be read        ask; no rule or mode overrides it
//	 8  bypass mode                                            allow
//	18  your autonomy level lets it run                        allow
//	 9  outside the project, no path rule or grant             ask, or deny if so configured
//	10  safe or low risk, mode not ask                         allow
//	11  allow rule                                             allow
//	12  grant                                                  allow
//	13  allowAll                                               allow
//	17  code of the project, without a sandbox                 ask, unless the clone's code is trusted
//	14  the mode                                               ask or deny
//
// A question of rows 6 and 7 does not prevent a refusal further down: an ask rule never permits
// a call that would be denied without it.
//
// A once or session grant comes before rows 7, 9 and 14, a once grant before row 6 too. Rows
// 10, 11 and 13 never allow an access in doubt; row 12 does only for the exact command.
//
// Row 18 decides paths outside before row 9, and everything else after row 13. It allows no
// access in doubt, and nothing in mode ask. See [Autonomy].
//
// The built-in ask rules about secrets yield to a person's allow rule for such a path:
// Read(.env.test) lifts one, Read(**) does not.
//
// # Rules
//
// A rule names a tool and at most one match. People type it in its short form:
//
//	Bash(npm test:*)            commands that begin with these words
//	Read(~/go/pkg/mod/**)       paths; so are LS, Glob, Grep, Write, Edit, Delete
//	WebFetch(domain:pkg.go.dev) hosts; *.go.dev are its subdomains
//	mcp__github__*              tools by name
//	*                           everything
//
// Rules for Read, LS, Glob and Grep judge every read, rules for Write and Edit every write, and
// rules for WebFetch every host, whichever tool makes the access. [Validate] returns an error
// for a malformed rule; [CheckExamples] tests a rule against its own examples.
package policy
