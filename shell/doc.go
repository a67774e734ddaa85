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
// The text is parsed with mvdan.cc/sh as bash. The knowledge of programs is data: the tables
// in the files programs_FAMILY.go, with the code that judges what a table cannot say. A row
// says what a program does with its arguments and why that has its risk; the comments above
// it are examples, which a test runs. A program without a row, an option that its row does
// not accept, a word known only at run time: each is reported with a risk or a doubt, and
// never passed over. A person's own [Knowledge] is used in addition to the tables.
//
// Parse never panics, and its time and memory are bounded for every input: a linear
// guard stands before the parser, whose depth has no limit.
package shell
