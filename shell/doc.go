// Package shell reads a command line and says what running it would do.
//
//	accesses := shell.Parse("cd src && sort -o out.txt in.txt", shell.Env{Dir: "/p", Home: "/home/u"})
//
// gives one [umpire.Access] for every program that would start, every path that
// would be read, written or deleted, and every host that would be reached,
// through lists, pipes, substitutions, functions, loops, here-documents and
// wrappers such as sudo, env, xargs and find -exec. Nothing is run and nothing is
// looked up on disk: paths are as written, made absolute, and may still lead
// through links.
//
// The text is parsed with mvdan.cc/sh as bash. What a program does with its
// arguments is data: see the tables in this folder, one family a file. A program
// that has no table, an option that its table does not accept, a word that only
// running would tell: each is reported as such, with a risk or a doubt, and never
// passed over. A person's own [Knowledge] stands beside the tables. Parse never
// panics, and its time and memory are bounded for every input: a linear guard
// stands before the parser, whose depth has no limit.
package shell
