package shell

import "github.com/umpirehq/umpire"

// interpreters run code. Shell code is walked; code of other languages is not
// known, and asks.
var interpreters = []program{
	{names: "sh bash dash ash zsh ksh mksh rbash", risk: umpire.Safe, why: "runs shell code", style: leading, args: "script data…", check: checkShell, opts: []option{
		{names: "-euvxnfhamBCEHPTkptD"}, {names: "-c", why: "runs its first operand"}, {names: "-s"},
		{names: "-l --login -i --rcfile= --init-file=", does: obeys, why: "obeys the shell's start-up files"},
		{names: "-o= -O="}, {names: "--norc --noprofile --posix --restricted --verbose"}, aboutItself,
	}},
	{names: "fish csh tcsh pwsh powershell nu elvish xonsh cmd", risk: umpire.Medium, why: "runs code of another shell", style: leading, args: "code…", opts: []option{{names: "--version -v", does: shows}}},
	{names: "python python3 python2 pypy pypy3", risk: umpire.Medium, why: "runs Python code", style: leading, args: "script data…", opts: []option{
		{names: "--version -V --help -h", does: shows}, {names: "-uBEIsSqOxbdivPRW= -X="},
		{names: "-c= -m=", does: asks, why: "runs Python code"},
	}},
	{names: "node nodejs bun-node", risk: umpire.Medium, why: "runs JavaScript code", style: leading, args: "script data…", opts: []option{{names: "--version -v --help -h --v8-options", does: shows}}},
	{names: "deno", risk: umpire.Medium, why: "runs JavaScript code", style: leading, opts: []option{{names: "--version -V --help -h", does: shows}}},
	{names: "ruby irb", risk: umpire.Medium, why: "runs Ruby code", style: leading, args: "script data…", opts: []option{{names: "--version -v --help -h", does: shows}}},
	{names: "perl", risk: umpire.Medium, why: "runs Perl code", style: leading, args: "script data…", opts: []option{{names: "--version -v --help -h", does: shows}}},
	{names: "php", risk: umpire.Medium, why: "runs PHP code", style: leading, args: "script data…", opts: []option{{names: "--version -v --help -h --ini -i -m", does: shows}}},
	{names: "lua luajit tclsh expect osascript Rscript R julia ghci scala groovy swift elixir iex erl octave gnuplot m4", risk: umpire.Medium, why: "runs code", style: leading, args: "code…", opts: []option{{names: "--version --help", does: shows}}},
	{names: "java", risk: umpire.Medium, why: "runs Java code", style: words, args: "code…", opts: []option{{names: "-version --version -help --help", does: shows}}},
}

// checkShell judges a shell: -c code is walked, a script file is not known, and
// without either the standard input is the code.
func checkShell(u *use) {
	if u.got("-i", "-l") != nil {
		u.raise(umpire.Medium, "obeys the shell's start-up files")
	}
	switch {
	case u.got("-c") != nil:
		u.inlineCode()
	case u.got("-s") != nil || len(u.operands) == 0:
		u.operands = nil
		u.stdinCode()
	}
}

func (u *use) inlineCode() {
	if len(u.operands) == 0 {
		return
	}
	code, args := u.operands[0], u.operands[1:]
	u.operands = nil
	s, in := u.s.clone(), u.in
	s.functions = newState(u.w.env).functions
	s.vars = newState(u.w.env).vars
	s.args = append([]word{}, args[min(1, len(args)):]...)
	u.then(func() { u.w.code(s, code, in) })
}

// stdinCode walks what comes through the pipe as code.
func (u *use) stdinCode() {
	switch u.in.kind {
	case flowText:
		s, text := u.s.clone(), u.in.text
		u.then(func() { u.w.code(s, lit(text), flow{}) })
	case flowRemote:
		u.raise(umpire.High, "runs what was downloaded from the network")
		u.doubt = "the code is not known before it runs"
	case flowNone:
		u.raise(umpire.Medium, "starts an interactive shell")
	case flowForeign, flowPaths:
		u.raise(umpire.Medium, "runs what "+orElse(u.in.from, "the pipe")+" prints")
		u.doubt = "the code is not known before it runs"
	}
}
