package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// builtins are the commands of the shell itself, as of bash 5.2.
var builtins = []program{
	// safe: echo hello
	// asks: echo x > /etc/motd
	{names: "echo", risk: umpire.Safe, why: "prints its arguments", style: bare, check: printsSecrets, out: echoes},
	// safe: printf '%s\n' a b
	// asks: printf -v PATH ./bin
	{names: "printf", risk: umpire.Safe, why: "prints its arguments", style: bare, check: checkPrintf, out: printfs},
	// safe: true
	// asks: true > /etc/x
	{names: "true false : times", risk: umpire.Safe, why: "steers the shell", style: bare},
	// safe: exit 1
	// asks: exit 'a[$(x)]'
	{names: "exit return break continue logout", each: true, risk: umpire.Safe, why: "steers the shell", style: bare,
		check: checkLeave},
	// safe: wait
	// asks: wait -n -p 'a[$(./x)]'
	{names: "wait", risk: umpire.Safe, why: "waits for what runs behind", style: bare, check: func(u *use) {
		for _, operand := range u.operands {
			judgeIndexedName(u, operand)
			delete(u.s.vars, strings.TrimPrefix(operand.text, "-p"))
		}
	}},
	// safe: shift
	// asks: shift > ../x
	{names: "shift", risk: umpire.Safe, why: "moves the positional parameters", style: bare, check: func(u *use) {
		checkLeave(u)
		u.s.args = nil // the previous arguments are already recorded
	}},
	// safe: test -f a
	// asks: test -v 'a[$(./x)]'
	{
		names: "test [", risk: umpire.Safe, why: "compares", style: bare,
		check: func(u *use) {
			for i, operand := range u.operands {
				judgeIndexedName(u, operand)
				const compare = "-eq -ne -lt -le -gt -ge"
				if i > 0 && scan.HasField(compare, u.operands[i-1].text) ||
					i+1 < len(u.operands) && scan.HasField(compare, u.operands[i+1].text) {
					noteArithmetic(u, operand)
				}
				if operand.foreign && operand.split {
					u.doubt = "words that are not known before it runs may be a test that runs code"
				}
			}
		},
	},
	// safe: pwd
	// asks: pwd > ../x
	{
		names: "pwd", risk: umpire.Safe, why: "prints the working directory",
		about: aboutItself, opts: []option{{flags: "-L -P --logical --physical"}}, args: "none", out: printsDir,
	},
	// safe: cd src && ls
	// asks: cd .. && rm x
	{names: "cd chdir pushd", risk: umpire.Safe, why: "changes the working directory of the shell", style: bare,
		check: checkCd, args: "data…"},
	// safe: popd
	// asks: popd && rm x
	{names: "popd dirs", risk: umpire.Safe, why: "changes the working directory of the shell", style: bare,
		check: func(u *use) { u.s.dirs = nil }},
	// safe: set -euo pipefail
	// asks: set
	{names: "set", risk: umpire.Safe, why: "sets options of the shell", style: bare, check: checkSet},
	// safe: unset x
	// asks: unset PATH
	{names: "unset", risk: umpire.Safe, why: "forgets variables", style: bare, check: checkUnset},
	// safe: read -r line < a
	// asks: mapfile -C ./x a < b
	{names: "read readarray mapfile getopts", risk: umpire.Safe, why: "reads into variables", style: bare,
		check: checkRead},
	// safe: type ls
	// safe: type -a ls
	// asks: type --no-such
	{names: "type", risk: umpire.Safe, why: "tells where a program is",
		opts: []option{{flags: "-a -p -t -P -f -s -S -m -w"}}},
	// safe: which -a ls
	// asks: which --no-such
	{names: "which", risk: umpire.Safe, why: "tells where a program is", about: aboutItself, opts: []option{
		{flags: "-a -s -p -m -v -w -S --all --skip-alias --skip-functions --skip-dot --skip-tilde --tty-only " +
			"--read-alias -i"},
	}},
	// safe: where ls
	// asks: where --no-such
	{names: "where", risk: umpire.Safe, why: "tells where a program is", opts: []option{{flags: "-w -p -m -s -S -x"}}},
	// safe: whereis ls
	// asks: whereis -B /etc ls
	{names: "whereis", risk: umpire.Safe, why: "tells where a program is",
		about: aboutItself, opts: []option{{flags: "-a -b -m -q -s -l -u -g"}}},
	// asks: hash -p ./x ls
	// safe: hash
	// asks: hash -p ./evil ls
	{
		names: "hash", risk: umpire.Safe, why: "tells where a program is",
		opts:  []option{{flags: "-l -t -d -r"}, {values: "-p", does: asks, consequence: lost, why: startsAnother}},
		check: checkHash,
	},
	// safe: jobs -l
	// safe: jobs -l
	// asks: jobs -x ./evil
	{names: "jobs", risk: umpire.Safe, why: "prints what the shell does", opts: []option{{flags: "-l -p -n -r -s"}},
		check: changesLimits},
	// safe: umask
	// asks: umask 000
	{names: "umask", risk: umpire.Safe, why: "prints what the shell does", opts: []option{{flags: "-p -S"}},
		check: changesLimits},
	// asks: ulimit -c unlimited
	// safe: ulimit -c
	// asks: ulimit -c unlimited
	// safe: ulimit -a
	// asks: ulimit -c unlimited
	{names: "ulimit", risk: umpire.Safe, why: "prints what the shell does",
		opts: []option{
			{flags: "-H -S -a -b -c -d -e -f -i -k -l -m -n -p -q -r -s -t -u -v -x -P -R -T"},
		}, check: changesLimits},
	// safe: eval 'ls -l'
	// asks: eval "$X"
	{names: "eval", risk: umpire.Safe, why: "runs its arguments as shell code", style: leading, args: "shell",
		check: keepsState},
	// asks: source ./env.sh
	// asks: . ./env.sh
	{names: "source .", risk: umpire.Medium, consequence: lost, why: "runs a file in this shell", style: leading,
		args: "script data…"},
	// safe: exec ls
	// asks: exec -a ls ./x
	{
		names: "exec", risk: umpire.Safe, why: "runs a command in place of the shell", style: leading, args: "command",
		opts: []option{
			{flags: "-c -l"}, {values: "-a", does: asks, consequence: lost, why: "gives the program another name"},
		},
	},
	// safe: command -v git
	// asks: command ./x
	{names: "command", risk: umpire.Safe, why: "runs a command past functions", style: leading,
		opts: []option{{flags: "-p"}, {flags: "-v -V"}}, check: checkCommand},
	// safe: builtin cd src
	// asks: builtin eval ./evil
	{names: "builtin", risk: umpire.Safe, why: "runs a command past functions", style: leading, check: checkCommand},
	// safe: trap 'echo done' EXIT
	// asks: trap ./x DEBUG
	{names: "trap", risk: umpire.Safe, why: "sets what runs at a signal", style: leading, check: checkTrap,
		opts: []option{{flags: "-l -p"}}},
	// safe: alias
	// asks: alias ls=./x
	{names: "alias", risk: umpire.Safe, why: "gives a command another name", style: bare, check: checkAlias},
	// safe: shopt -s nullglob
	// asks: enable -f ./x.so x
	{names: "unalias enable shopt", risk: umpire.Safe, why: "changes what names and syntax mean", style: bare,
		check: checkShopt},
	// asks: bind -x '"a":./x'
	// asks: complete -C ./x ls
	// safe: compgen -A function
	// asks: compgen -W '$(./x)'
	// asks: compgen -C ./x
	// safe: bind -l
	// asks: bind -f x
	// asks: fc -l -10
	// asks: fc -e vi
	// asks: fc -s
	// safe: caller
	// safe: complete -p
	// asks: complete -C ./x ls
	{names: "bind complete compgen compopt fc disown suspend caller", risk: umpire.Medium, consequence: reversible,
		why: "works on the interactive shell", style: bare, check: checkListing},
	// safe: help cd
	// asks: help > /etc/x
	{names: "help", risk: umpire.Safe, why: "prints help", style: bare},
	// asks: history 5
	// asks: history -c
	{names: "history", risk: umpire.Medium, consequence: reversible, why: printsHistory, style: bare},
	// asks: zmodload zsh/net/tcp
	{names: "autoload zmodload noglob emulate zle bindkey vared", risk: umpire.Medium, consequence: lost,
		why: "means something only to zsh", style: bare},
}

// aboutItself are the options that nearly every program has. It is a text instead of an option,
// because the compiler can then lay out the tables without copying at start-up.
const aboutItself = "--help --version"

// echoes returns the output of echo.
func echoes(u *use, _ flow) flow {
	words := u.operands
	for len(words) > 0 && (words[0].text == "-n" || words[0].text == "-e" || words[0].text == "-E") {
		words = words[1:]
	}
	text := joinWithBlanks(words)
	if text.open || strings.Contains(text.text, `\`) {
		return foreignFlow("echo")
	}
	return flow{kind: flowText, text: text.text + "\n"}
}

// checkPrintf judges printf -v, which assigns.
func checkPrintf(u *use) {
	printsSecrets(u)
	checkFormatNumbers(u)
	if len(u.operands) > 1 && (strings.HasPrefix(u.operands[0].text, "-v") ||
		u.operands[0].open && u.operands[0].text == "") {
		name := u.operands[1]
		if len(u.operands[0].text) > len("-v") {
			name = u.operands[0].cut(len("-v"))
		}
		noteHeldWords(u.w, u.operands...)
		noteUnknownVariable(u, name)
		if name.open || isListed(shellEnv, name.text) {
			u.raise(umpire.Medium, umpire.Say("sets %s, which can change what runs", name.display()))
		}
	}
}

// checkFormatNumbers judges arguments for numbers in a format: zsh and ksh evaluate them, and
// an index may run as code.
func checkFormatNumbers(u *use) {
	for _, operand := range u.operands[min(1, len(u.operands)):] {
		if name, index, found := operand.after("["); found && syntax.ValidName(name) && runsWhenEvaluated(index.text) {
			u.doubt = "the index of a variable may run as code"
		}
	}
}

// printfs returns the output of printf if its format has no verbs.
func printfs(u *use, _ flow) flow {
	if len(u.operands) == 0 {
		return foreignFlow("printf")
	}
	text := strings.ReplaceAll(u.operands[0].text, `\n`, "\n")
	if !u.operands[0].known() || strings.ContainsAny(text, `%\`) {
		return printsEach(u.operands)
	}
	return flow{kind: flowText, text: text}
}

// printsEach returns the output of printf with a format of one text at a time.
func printsEach(operands []word) flow {
	end, simple := map[string]string{"%s": "", `%s\n`: "\n", "%s ": " "}[operands[0].text]
	if !simple || !operands[0].known() || len(operands) == 1 {
		return foreignFlow("printf")
	}
	var b strings.Builder
	for _, operand := range operands[1:] {
		if !operand.known() || b.Len() > maxWordBytes {
			return foreignFlow("printf")
		}
		b.WriteString(operand.text + end)
	}
	return flow{kind: flowText, text: b.String()}
}

func printsDir(u *use, _ flow) flow {
	if len(u.s.dirs) != 1 {
		return foreignFlow("pwd")
	}
	return flow{kind: flowText, text: u.s.dirs[0] + "\n"}
}

// checkCd follows cd: it looks at the folder, and relative paths start there.
func checkCd(u *use) {
	target := word{}
	for _, operand := range u.operands {
		if operand.text == "--" || len(operand.text) == 2 && strings.Contains("-L -P -e -@", operand.text) {
			continue
		}
		target = operand
	}
	if len(u.operands) == 0 {
		target = homeOf(u.s, "")
	}
	several := len(u.operands) > 1 && target.text != u.operands[0].text // zsh replaces a part of the path
	u.operands = nil
	if several || strings.HasPrefix(target.text, "-") || strings.HasPrefix(target.text, "+") ||
		target.text == "" && !target.open {
		u.s.dirs, u.s.failed = nil, nil
		return
	}
	u.touchNow(umpire.KindRead, target, accessOf{table: u.table, why: "becomes the working directory"})
	u.s.enterFolder(target, u.w.env.IsDir)
}

// touchNow fixes the path of an access relative to the folder before the program changes it.
func (u *use) touchNow(kind umpire.AccessKind, target word, of accessOf) {
	s := u.s.clone()
	u.then(func() { u.w.path(s, kind, target, of) })
}

// checkSet judges `set -o name`, which can make the shell record or export.
func checkSet(u *use) {
	if len(u.operands) == 0 {
		u.askSecret(printsEnvironment)
	}
	for i, operand := range u.operands {
		if operand.text == "--" {
			u.s.args = append([]word{}, u.operands[i+1:]...)
			noteHeldWords(u.w, u.s.args...)
			return
		}
		if !operand.maybeOption() && !strings.HasPrefix(operand.text, "+") &&
			(i == 0 || u.operands[i-1].text != "-o" && u.operands[i-1].text != "+o") {
			noteHeldWords(u.w, u.operands[i:]...)
			u.s.args = nil
		}
		if strings.HasPrefix(operand.text, "-A") || strings.HasPrefix(operand.text, "+A") {
			u.raise(umpire.Medium, "sets an array of zsh")
		}
		if operand.open || strings.ContainsAny(operand.text, "ak") && strings.HasPrefix(operand.text, "-") &&
			!strings.HasPrefix(operand.text, "-o") {
			u.raise(umpire.Medium, "changes how the shell runs commands")
		}
		if (operand.text == "history" || operand.text == "allexport" || operand.text == "vi" ||
			operand.text == "emacs") && i > 0 {
			u.raise(umpire.Medium, "changes how the shell runs commands")
		}
	}
}

func checkUnset(u *use) {
	for _, operand := range u.operands {
		judgeIndexedName(u, operand)
		delete(u.s.vars, operand.text)
		if _, ok := u.s.functions[operand.text]; ok {
			u.s.functions[operand.text] = nil
		}
		if operand.open || isListed(shellEnv, operand.text) {
			u.raise(umpire.Medium, umpire.Say("forgetting %s can change what runs", operand.display()))
		}
	}
}

// checkRead records the variables that read sets: names from a file list stay below the list's
// folders.
func checkRead(u *use) {
	v := unknownValue()
	v.words[0].foreign = true
	if u.in.numbers {
		v = value{words: []word{numberWord()}}
	}
	if u.in.kind == flowPaths && len(u.in.dirs) == 1 {
		v = value{words: []word{
			{text: u.in.dirs[0].text, open: true, under: true, dashless: u.in.dirs[0].text != "",
				listed: u.in.dirs[0].listed},
		}}
	}
	arrays := scan.HasField("readarray mapfile", u.program0())
	for _, operand := range u.operands {
		if strings.HasPrefix(operand.text, "-") {
			arrays = arrays || strings.ContainsAny(operand.text, "aA")
			if strings.ContainsAny(operand.text, "C") {
				u.raise(umpire.Medium, "runs a callback")
			}
			continue
		}
		if operand.open || isListed(shellEnv, operand.text) && operand.text != "IFS" {
			u.raise(umpire.Medium, umpire.Say("sets %s, which can change what runs", operand.display()))
		}
		judgeIndexedName(u, operand)
		if arrays {
			isArray(u.w, operand.text)
		}
		giveVariable(u.w, u.s, operand.text, v)
	}
}

// noteUnknownVariable records that a variable gets an unknown value.
func noteUnknownVariable(u *use, name word) {
	judgeIndexedName(u, name)
	giveVariable(u.w, u.s, name.text, unknownValue())
}

// judgeIndexedName judges the name of a variable with an index, which the shell evaluates.
func judgeIndexedName(u *use, name word) {
	variable, index, element := name.after("[")
	if element {
		isArray(u.w, variable)
	}
	if runsWhenEvaluated(name.text) || evaluatesIn(u.w, u.s, index.text) {
		u.doubt = "the index of a variable may run as code"
	}
}

// noteArithmetic records an operand that zsh evaluates as arithmetic.
func noteArithmetic(u *use, operand word) {
	if operand.open && !operand.isNumber() {
		u.w.evaluated.unknown = true
		doubtEvaluation(u.w)
	}
}

// keepsState makes eval run in this shell instead of in a copy of it.
func keepsState(u *use) {
	words := u.takeOperands()
	if len(words) > 0 {
		s, in := u.s, u.in
		u.then(func() { u.w.walkCode(s, joinWithBlanks(words), in) })
	}
}

// checkCommand walks the command in this shell instead of in a copy of it, because `command cd
// x` changes folders. `command -v name` only looks.
func checkCommand(u *use) {
	words := u.takeOperands()
	if u.got("-v", "-V") != nil {
		u.why = "tells what a name means"
		return
	}
	s, in := u.s, u.in
	u.then(func() {
		defer u.w.openPart()()
		u.w.runProgram(s, words, in)
	})
}

func checkTrap(u *use) {
	if len(u.operands) == 0 || u.operands[0].text == "-" || u.operands[0].known() && u.operands[0].text == "" {
		return
	}
	action := u.operands[0]
	for _, signal := range u.operands[1:] {
		if !scan.HasField("EXIT INT TERM HUP QUIT 0 1 2 3 15 SIGINT SIGTERM SIGHUP SIGQUIT", signal.text) ||
			signal.open {
			u.raise(umpire.Medium, "runs code between the commands that follow")
		}
	}
	u.then(func() {
		u.w.trapped = true
		u.w.walkCode(u.s.atTrap(), action, flow{})
	})
}

// atTrap returns the state in which a trap's code runs: the line may have changed its variables
// since.
func (s *state) atTrap() *state {
	c := s.clone()
	for name := range c.vars {
		if name != "HOME" {
			c.vars[name] = unknownValue()
		}
	}
	return c
}

// checkAlias records that a name no longer means its table entry.
func checkAlias(u *use) {
	for _, operand := range u.operands {
		name, _, assigns := operand.after("=")
		if assigns {
			u.s.setFunction(name, nil)
			u.raise(umpire.Medium, umpire.Say("changes what %s means", name))
			_, code, _ := operand.after("=")
			u.then(func() { u.w.walkCode(u.s.clone(), code, flow{}) })
		} else if operand.open {
			u.raise(umpire.Medium, "changes what a name means")
		}
	}
}

func checkShopt(u *use) {
	for _, operand := range u.operands {
		if operand.open || !scan.HasField("-a -s -u -q -p -o", operand.text) &&
			!scan.HasField(harmlessShopts, operand.text) {
			u.raise(umpire.Medium, "changes what names and syntax mean")
		}
	}
}

const startsAnother = "makes a name start another program"

// checkHash judges NAME=PATH, which zsh remembers.
func checkHash(u *use) {
	for _, operand := range u.operands {
		if operand.open || strings.Contains(operand.text, "=") {
			u.raiseTo(umpire.Medium, lost, startsAnother)
		}
	}
}

// harmlessShopts are shell options that change neither the commands that run nor the files they
// read. dotglob is not harmless: with it, * matches .env.
const harmlessShopts = "nullglob globstar extglob nocaseglob nocasematch failglob pipefail inherit_errexit"

// checkListing allows commands of the interactive shell that only list: names that complete a
// word, key bindings, earlier commands, the call stack.
func checkListing(u *use) {
	accepted, number := "", false
	switch u.program0() {
	case "bind":
		accepted = "-l -p -P -v -V -s -S"
	case "complete", "compopt":
		accepted = "-p"
	case "compgen":
		accepted = "-a -b -c -d -e -f -g -j -k -s -u -v -A function alias builtin command keyword variable"
	case "fc":
		u.askSecret(printsHistory)
		return
	case "caller":
		number = true
	}
	for _, operand := range u.operands {
		if !operand.known() ||
			!scan.HasField(accepted, operand.text) && !(number && strings.Trim(operand.text, "-0123456789") == "") {
			return
		}
	}
	if len(u.operands) > 0 || u.program0() == "caller" {
		u.onlyShows("lists what the shell knows")
	}
}

// changesLimits judges commands that print a limit without an operand, and set it with one.
func changesLimits(u *use) {
	if len(u.operands) > 0 {
		u.raise(umpire.Medium, "changes what later commands may do")
	}
}
