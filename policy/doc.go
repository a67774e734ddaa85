// Package policy decides calls: from rules, a mode, grants and what is known
// about a call it makes one [umpire.Decision]. It reads nothing, runs nothing
// and knows no clock, so the same arguments always give the same decision.
//
// Most people need two calls:
//
//	p, err := policy.New(rules, policy.Options{Root: root, Home: home})
//	q := policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: mode, Now: now}}
//	decision := policy.Decide(p, q)
//
// # Order of decision
//
// Every access of a call is judged by the rows below. The first row that
// speaks settles the access, the others are kept as reasons, and the call gets
// the strictest verdict of its accesses.
//
//	 1  malformed input, or a tool the profile does not list   deny
//	 2  suffix limit of the profile                            deny
//	 3  critical risk, forbidden path                          deny, lifted by nothing
//	 4  deny rule                                              deny
//	 5  plan mode, and not a read                              deny
//	 6  control file                                           ask, lifted once at a time
//	 7  ask rule, of people or about secrets                   ask
//	15  a command that would run without a sandbox             ask, lifted by no rule or mode
//	16  a rule file that may deny or ask cannot be read        ask, lifted by no rule or mode
//	 8  bypass mode                                            allow
//	18  what the person's autonomy lets run                    allow
//	 9  outside the project, no path rule or grant             ask, or deny if so configured
//	10  safe or low risk, mode not ask                         allow
//	11  allow rule                                             allow
//	12  grant                                                  allow
//	13  allowAll                                               allow
//	17  code of the project that no sandbox holds              ask, unless the clone's code is trusted
//	14  the mode                                               ask or deny
//
// A question of rows 6 and 7 does not shield from a refusal further down: an
// ask rule never permits what was denied without it.
//
// A once or session grant stands before rows 7, 9 and 14, a once grant before
// row 6 too. An access in doubt is never allowed by rows 10, 11 and 13, and by
// row 12 only for the exact command.
//
// Row 18 speaks of what lies outside before row 9, and of the rest behind row 13. It
// allows no access in doubt, and nothing in mode ask. See [Autonomy].
//
// The built-in ask rules about secrets yield to an allow rule that a person wrote
// for just such a path: Read(.env.test) lifts one, Read(**) does not.
//
// # Rules
//
// A rule names a tool and at most one match. The short form is how people type
// it:
//
//	Bash(npm test:*)            commands that begin with these words
//	Read(~/go/pkg/mod/**)       paths; so are LS, Glob, Grep, Write, Edit, Delete
//	WebFetch(domain:pkg.go.dev) hosts; *.go.dev are its subdomains
//	mcp__github__*              tools by name
//	*                           everything
//
// Rules for Read, LS, Glob and Grep judge every read, rules for Write and Edit
// every write, rules for WebFetch every host, whichever tool makes the access.
// [Validate] says what is wrong with a rule; [CheckExamples] holds it to its
// own examples.
package policy
