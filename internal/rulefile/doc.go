// Package rulefile finds, reads, layers, watches, trusts and writes rule files.
//
// Most callers need two calls. [Layers] names the files that may hold rules and
// [Load] reads them into one immutable [Set]; [Watch] does the same and keeps
// the set current. [Writer] adds and removes rules.
//
// Guarantees:
//
//   - A missing file is an empty list. A file that becomes invalid keeps its last
//     good rules and has health [HealthDegraded]. A file that was never valid has no
//     rules, and [Set.Degraded] tells the caller to ask unless a call is safe.
//   - A rule with an error never allows. A faulty allow rule is dropped; for a
//     faulty deny or ask rule the whole tool asks, and the file is degraded.
//   - A file in the project comes with a clone: its deny and ask rules apply at
//     once, its allow rules sleep until the [Trust] ledger, which lies outside
//     the project, has the file's exact content.
//   - The location of a file decides the source of its rules, never the content.
//   - Writing keeps every comment, every unknown key and every byte that is not
//     part of the rule at hand.
//
// [LoadPrograms] reads what a person knows of programs, in files of umpire's own
// folder.
//
// The files are described field by field in docs/rules.md and docs/programs.md.
package rulefile
