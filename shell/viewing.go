package shell

import "github.com/umpirehq/umpire"

// viewing are the programs that print files and folders.
var viewing = []program{
	{names: "cat", risk: umpire.Safe, why: "prints files", args: "read…", lax: true, out: copies},
	{names: "head", risk: umpire.Safe, why: "prints the beginning of files", args: "read…", opts: []option{
		{names: "-qvz --quiet --silent --verbose --zero-terminated"}, {names: "-0123456789"}, {names: "-n= --lines= -c= --bytes="}, aboutItself,
	}, out: passes},
	{names: "ls", risk: umpire.Safe, why: "lists folders", args: "read…", lax: true, out: passes},
}

// copies is what a program prints that passes on all that it reads.
func copies(u *use, in flow) flow {
	if len(u.operands) == 0 && len(u.given) == 0 {
		return in
	}
	return passes(u, in)
}

// passes is what a program prints that passes on the lines it reads.
func passes(u *use, in flow) flow {
	if len(u.operands) == 0 {
		return filtered(in, u.program0())
	}
	return printed(u.program0())
}
