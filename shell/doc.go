// Package shell parses a command line and returns the effects of running it.
//
//	accesses := shell.Parse("cd src && sort -o out.txt in.txt", shell.Env{Dir: "/p", Home: "/home/u"})
//
// gives one [umpire.Access] for every program that would start, every path that would be read,
// written or deleted, and every host that would be reached, through lists, pipes,
// substitutions, functions, loops, here-documents and wrappers such as sudo, env, xargs and
// find -exec. Parse runs nothing and does not look at the disk: paths are as written, made
// absolute, and may still lead through links.
//
// The text is parsed with mvdan.cc/sh as bash. The knowledge of programs is data: the tables in
// the files programs_FAMILY.go, with the code for judgements that a table cannot express. A row
// states the effects of a program's arguments and the reason for its risk; the comments above
// it are examples, which a test runs. Parse reports a program without a row, an option that its
// row does not accept, and a word known only at run time, each with a risk or a doubt, and
// never ignores one. A person's own [Knowledge] extends the tables.
//
// Parse never panics, and its time and memory are bounded for every input: a linear guard
// protects the parser, whose depth has no limit.
package shell
