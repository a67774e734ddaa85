package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// harmlessEnv are the environment variables that change how programs print or build, but not
// what they run. Any other variable asks when given to a command, because lists of dangerous
// names have always turned out to be too short. A name that ends in _ matches all names with
// that prefix.
const harmlessEnv = "LC_ LANG LANGUAGE TZ TERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS LINES " +
	"CI DEBUG VERBOSE NODE_ENV RUST_BACKTRACE RUST_LOG GOOS GOARCH GOARM GOMAXPROCS GO111MODULE CGO_ENABLED GOGC " +
	"GODEBUG GOTRACEBACK PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED " +
	"PYTHONWARNINGS POSIXLY_CORRECT GREP_COLORS LS_COLORS CARGO_TERM_COLOR GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT " +
	"PYTHONFAULTHANDLER PYTHONNOUSERSITE PYTHONSAFEPATH PYTEST_DISABLE_PLUGIN_AUTOLOAD CARGO_INCREMENTAL " +
	"CARGO_NET_OFFLINE RUST_TEST_THREADS LOG_LEVEL OMP_NUM_THREADS TOKENIZERS_PARALLELISM CUDA_VISIBLE_DEVICES " +
	"AWS_REGION AWS_DEFAULT_REGION AWS_DEFAULT_OUTPUT DOTNET_NOLOGO HOMEBREW_NO_AUTO_UPDATE GH_NO_UPDATE_NOTIFIER " +
	"GH_PROMPT_DISABLED PIP_DISABLE_PIP_VERSION_CHECK TIME_STYLE BLOCKSIZE BLOCK_SIZE QUOTING_STYLE " +
	"DOTNET_CLI_TELEMETRY_OPTOUT NEXT_TELEMETRY_DISABLED"

// harmlessValues are values of other variables that remove a program, or name one that only
// prints.
const harmlessValues = "PAGER=cat GIT_PAGER=cat GH_PAGER=cat MANPAGER=cat BAT_PAGER=cat SYSTEMD_PAGER=cat " +
	"AWS_PAGER=cat PAGER= GIT_PAGER= GH_PAGER= SYSTEMD_PAGER= AWS_PAGER= GOWORK=off GOPROXY=off GOTOOLCHAIN=local " +
	"RAILS_ENV=test RACK_ENV=test MIX_ENV=test APP_ENV=test RUSTFLAGS=-Dwarnings RUSTFLAGS=-Awarnings RUSTFLAGS="

// harmlessGoFlags are flags for go that only choose tests or change the form of the output.
const harmlessGoFlags = "-mod=vendor -mod=readonly -buildvcs=false -trimpath -race -v -short"

// harmlessValue reports whether an assignment is one of harmlessValues, or has only such flags.
func harmlessValue(name string, value word) bool {
	switch {
	case !value.known():
		return false
	case name == "RUSTFLAGS" &&
		scan.HasField("warnings", strings.TrimPrefix(strings.TrimPrefix(value.text, "-D "), "-A ")):
		return true
	case name == "GOFLAGS":
		return !slices.ContainsFunc(strings.Fields(value.text), func(flag string) bool {
			name, _, _ := strings.Cut(flag, "=")
			return !scan.HasField(harmlessGoFlags, flag) && !scan.HasField("-tags -count -p -timeout -run", name)
		})
	}
	return scan.HasField(harmlessValues, name+"="+value.text)
}

// shellEnv are the variables that affect later commands of the same shell even if they are not
// exported again, because the shell itself obeys them or every session exports them.
const shellEnv = "PATH IFS ENV BASH_ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 SHELLOPTS BASHOPTS CDPATH GLOBIGNORE FPATH " +
	"ZDOTDIR HOME SHELL PAGER EDITOR VISUAL BROWSER MANPAGER LESSOPEN LESSCLOSE LESS NODE_OPTIONS NODE_PATH " +
	"PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT RUBYLIB RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH " +
	"GOFLAGS GOPROXY GOROOT GOPATH TMPDIR XDG_CONFIG_HOME KUBECONFIG DOCKER_HOST HTTP_PROXY HTTPS_PROXY ALL_PROXY " +
	"http_proxy https_proxy all_proxy LD_ DYLD_ GIT_ SSH_ NPM_CONFIG_ npm_config_ CARGO_ RUSTC RUSTC_ BASH_ HIST " +
	"HISTFILE NULLCMD READNULLCMD PS3 PROMPT PROMPT2 PROMPT3 PROMPT4 RPROMPT RPS1 RPS2 SPROMPT POSTEDIT STTY FCEDIT " +
	"TEXTDOMAIN TEXTDOMAINDIR"

// shellOwned are the variables that the shell sets by itself. The values that the line gives
// them are irrelevant.
const shellOwned = "_ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASHPID PPID UID EUID GROUPS " +
	"BASH_COMMAND BASH_SUBSHELL BASH_ARGV0 BASH_ARGC BASH_ARGV BASH_LINENO BASH_SOURCE BASH_VERSINFO BASH_REMATCH " +
	"FUNCNAME DIRSTACK HISTCMD PIPESTATUS OPTARG OPTIND OLDPWD REPLY MAPFILE COPROC status pipestatus argv match " +
	"MATCH"

// unchangeable are readonly variables: on an assignment bash drops the rest of the line.
const unchangeable = "BASHOPTS BASH_VERSINFO EUID PPID SHELLOPTS UID"

// integers are variables that a shell keeps as numbers: it evaluates their values as
// arithmetic. The first line is bash's, the last one mksh's, and the others are zsh's.
const integers = "OPTIND SECONDS RANDOM SRANDOM LINENO HISTCMD BASHPID BASH_SUBSHELL EPOCHSECONDS EPOCHREALTIME " +
	"LINES COLUMNS HISTSIZE SAVEHIST KEYTIMEOUT LISTMAX LOGCHECK MAILCHECK TMOUT TTYIDLE SHLVL FUNCNEST ERRNO " +
	"DIRSTACKSIZE BAUD UID GID EUID EGID PPID status MBEGIN MEND CURSOR REPORTTIME REPORTMEMORY TRY_BLOCK_ERROR " +
	"TRY_BLOCK_INTERRUPT ZSH_SUBSHELL " +
	"USER_ID KSHUID KSHGID KSHEGID PGRP PIPESTATUS"

// zshHooks are functions that zsh calls by itself.
const zshHooks = "chpwd precmd preexec periodic zshaddhistory zshexit command_not_found_handler " +
	"command_not_found_handle TRAPEXIT TRAPDEBUG TRAPZERR TRAPERR TRAPINT TRAPTERM TRAPHUP TRAPCHLD TRAPUSR1 " +
	"TRAPUSR2 TRAPALRM TRAPPIPE TRAPQUIT TRAPWINCH TRAPCONT"

// zshTables are zsh's arrays that define the meaning of names. bash does not have them.
const zshTables = "path fpath cdpath manpath module_path aliases galiases saliases functions builtins commands " +
	"reswords nameddirs options modules chpwd_functions precmd_functions preexec_functions periodic_functions " +
	"zshexit_functions zshaddhistory_functions dis_aliases dis_galiases dis_saliases dis_functions dis_builtins " +
	"dis_reswords"

// isListed reports whether a list of names and prefixes contains name.
func isListed(list, name string) bool {
	for entry := range strings.FieldsSeq(list) {
		if entry == name || strings.HasSuffix(entry, "_") && strings.HasPrefix(name, entry) {
			return true
		}
	}
	return false
}

// walkPrefixes walks `A=b command`.
func walkPrefixes(w *walker, s *state, assigns []*syntax.Assign, command []word) {
	for _, a := range assigns {
		v := expandAssigned(w, s, a)
		doubtNumber(w, s, a.Name.Value, v.words)
		switch _, function := s.functions[command[0].text]; {
		case !v.array && namesOwnModules(a.Name.Value, v.first()) && testsPython(command):
		case function: // a later command of its body may obey it
			emitEnvironment(w, a.Name.Value, v.first())
		default:
			judgePrefix(w, a.Name.Value, v.first())
		}
		if _, ok := s.vars[a.Name.Value]; ok { // a function or eval sees the new value
			giveVariable(w, s, a.Name.Value, unknownValue())
		}
	}
}

// judgePrefix judges one variable given to a command.
func judgePrefix(w *walker, name string, value word) {
	if harmlessValue(name, value) || isListed(harmlessEnv, name) && !leadsElsewhere(name, value) {
		return
	}
	at := len(w.accesses)
	if emitEnvironment(w, name, value); len(w.accesses) > at && isSwitch(name, value) {
		w.switches = append(w.switches, at)
	}
}

// leadsElsewhere reports whether the value of a harmless variable names a file to load, or a
// class of warnings from a module to load.
func leadsElsewhere(name string, value word) bool {
	if name == "PYTHONWARNINGS" {
		return !value.known() || strings.Contains(value.text, ".")
	}
	return strings.HasPrefix(strings.TrimPrefix(value.text, ":"), "/") || strings.Contains(value.text, "../")
}

// namesOwnModules reports whether a variable names modules of the project, for Python.
func namesOwnModules(name string, value word) bool {
	return name == "PYTHONPATH" && ownModules(value) || name == "DJANGO_SETTINGS_MODULE" && value.known() &&
		strings.Trim(strings.ToLower(value.text), "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}

// ownModules reports whether a value of PYTHONPATH names folders of the project.
func ownModules(value word) bool {
	if !value.known() || value.text == "" {
		return false
	}
	for dir := range strings.SplitSeq(value.text, ":") {
		if dir == "" || dir[0] == '/' || dir[0] == '~' || hasDots(dir) {
			return false
		}
	}
	return true
}

// hasDots reports whether a path has a ".." element.
func hasDots(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// testsPython reports whether a command runs the project's tests and loads its modules
// regardless of PYTHONPATH.
func testsPython(command []word) bool {
	if len(command) > 2 && command[0].known() && scan.HasField("python python3", command[0].text) &&
		command[1].known() &&
		command[1].text == "-m" {
		command = command[2:]
	}
	return len(command) > 0 && command[0].known() && scan.HasField("pytest unittest", command[0].text)
}

// judgeSetVariable judges a variable of the shell that is set by something other than an
// assignment.
func judgeSetVariable(w *walker, name string, value word) {
	if name != "" && isListed(shellEnv, name) {
		emitEnvironment(w, name, value)
	}
}

// emitEnvironment emits the access of a variable that may change the programs that run.
func emitEnvironment(w *walker, name string, value word) {
	w.emit(umpire.Access{
		Kind: umpire.KindExec, Program: name + "=", Args: []string{value.display()},
		Words: []string{name + "=" + value.ruleWord()}, Risk: umpire.Medium,
		Reason: umpire.Say("sets %s, which can change what runs", name), Table: environmentTable,
	})
}

// environmentTable is the Table of an access that sets a variable.
const environmentTable = "environment"

// walkAssignments walks `A=b` without a command, which sets variables of the shell.
func walkAssignments(w *walker, s *state, assigns []*syntax.Assign) {
	s.forgetOutcome()
	for _, a := range assigns {
		v := expandAssigned(w, s, a)
		name := a.Name.Value
		table := scan.HasField(zshTables, name) && (a.Array != nil || a.Index != nil || a.Append)
		if table || isListed(shellEnv, name) && (v.array || !harmlessValue(name, v.first())) {
			emitEnvironment(w, name, v.first())
		}
		giveVariable(w, s, name, v)
	}
	w.builtin("=", "sets a variable of the shell")
}

// giveVariable sets a variable. If that is not allowed, the shell drops the rest of the line,
// and the variable keeps its value.
func giveVariable(w *walker, s *state, name string, v value) {
	noteGivenWords(w, s, name, v.words)
	if v.array {
		isArray(w, name)
	}
	if s.vars[name].fixed || scan.HasField(unchangeable, name) {
		mayFail(w, s)
		w.doubt("", umpire.Say("%s must not be changed, so that the rest of the line may not run", name))
		return
	}
	s.vars[name] = v
}

// expandAssigned expands the value of an assignment.
func expandAssigned(w *walker, s *state, a *syntax.Assign) value {
	if a.Index != nil {
		walkIndex(w, s, a.Index)
		isArray(w, a.Name.Value)
	}
	if a.Array != nil {
		v := value{array: true}
		for _, elem := range a.Array.Elems {
			if elem.Index != nil {
				walkIndex(w, s, elem.Index)
				v.words = append(v.words, word{open: true, split: true}) // the order is not that of the text
			}
			if elem.Value != nil {
				v.words = append(v.words, w.expandFields(s, elem.Value)...)
			}
		}
		if a.Append {
			v.words = append(s.vars[a.Name.Value].words, v.words...)
		}
		return v
	}
	wd := w.expandOne(s, a.Value)
	if a.Append || a.Index != nil {
		noteGivenWords(w, s, a.Name.Value, []word{wd}) // the value contains it
		u := s.vars[a.Name.Value].or(unknownValue())
		u.words[0].foreign = u.words[0].foreign || wd.foreign
		u.fixed = false
		return u
	}
	return value{words: []word{wd}}
}

// walkDeclaration walks export, declare, local, readonly and typeset. All words are expanded
// before any is assigned.
func walkDeclaration(w *walker, s *state, cmd *syntax.DeclClause) {
	d := declaration{w: w, s: s, exports: cmd.Variant.Value == "export", fixes: cmd.Variant.Value == "readonly",
		set: map[string]value{}}
	for _, a := range cmd.Args {
		d.assignVariable(a)
	}
	d.makeArrays()
	for _, name := range slices.Sorted(maps.Keys(d.set)) {
		d.noteLocal(name)
		giveVariable(w, s, name, d.set[name])
		if cmd.Variant.Value == "local" && w.locals == nil {
			s.vars[name] = s.vars[name].or(value{}) // outside of a function bash refuses, and zsh does not
		}
	}
	d.makeReadonly()
	if d.doubt {
		w.doubt(cmd.Variant.Value, "declares something that is not known before it runs")
	}
	if secret := d.reveals(); secret != "" {
		w.emit(umpire.Access{Kind: umpire.KindExec, Program: cmd.Variant.Value, Words: []string{cmd.Variant.Value},
			Risk: umpire.Medium, Asks: umpire.CodeSecret, Reason: secret})
		return
	}
	w.builtin(cmd.Variant.Value, "declares variables of the shell")
}

// A declaration is one export or declare being walked.
type declaration struct {
	w       *walker
	s       *state
	exports bool
	fixes   bool // readonly, or -r
	arrays  bool // -a or -A
	prints  bool // -p: print the named variables
	// functions says that functions are printed instead of variables.
	functions bool
	doubt     bool
	names     []string
	set       map[string]value
}

func (d *declaration) assignVariable(a *syntax.Assign) {
	if a.Name == nil {
		d.readWord(d.w.expandOne(d.s, a.Value))
		return
	}
	d.names = append(d.names, a.Name.Value)
	if a.Naked && a.Index != nil {
		walkIndex(d.w, d.s, a.Index)
	}
	if a.Naked && !d.exports {
		d.noteLocal(a.Name.Value)
	}
	if !a.Naked {
		d.setVariable(a.Name.Value, expandAssigned(d.w, d.s, a))
	}
}

// readWord parses an option, or an assignment that was quoted.
func (d *declaration) readWord(wd word) {
	name, rest, assigns := wd.after("=")
	switch {
	case wd.known() && scan.HasField("-f -F", wd.text):
		d.functions = true
	case strings.HasPrefix(wd.text, "-") || strings.HasPrefix(wd.text, "+"):
		d.exports = d.exports || strings.Contains(wd.text, "x") && wd.text[0] == '-'
		d.fixes = d.fixes || strings.Contains(wd.text, "r") && wd.text[0] == '-'
		d.prints = d.prints || strings.Contains(wd.text, "p")
		d.arrays = d.arrays || strings.ContainsAny(wd.text, "aA")
		d.doubt = d.doubt || wd.open || strings.ContainsAny(wd.text, "nfilucT")
	case assigns && syntax.ValidName(name):
		d.setVariable(name, value{words: []word{rest}})
	case !wd.known() || !syntax.ValidName(wd.text):
		d.doubt = true
	}
}

func (d *declaration) setVariable(name string, v value) {
	d.names = append(d.names, name)
	harmless := isListed(harmlessEnv, name) && !leadsElsewhere(name, v.first())
	if (isListed(shellEnv, name) || d.exports && !harmless) && (v.array || !harmlessValue(name, v.first())) {
		emitEnvironment(d.w, name, v.first())
	}
	noteCompound(d.w, name, v)
	d.set[name] = v
}

// noteLocal records the value of a variable before a function made it local.
func (d *declaration) noteLocal(name string) {
	if _, noted := d.w.locals[name]; d.w.locals == nil || noted || d.exports {
		return
	}
	d.w.locals[name] = d.s.vars[name]
}

// forgetLocals reverts the local variables of a function. It is not always known whether they
// were set, so a changed variable becomes unknown.
func (s *state) forgetLocals(locals map[string]value) {
	for name, before := range locals {
		if v, ok := s.vars[name]; ok && !v.equal(before) {
			s.vars[name] = unknownValue()
		}
	}
}

// makeReadonly makes the named variables readonly.
func (d *declaration) makeReadonly() {
	if !d.fixes || d.prints {
		return
	}
	for _, name := range d.names {
		v, ok := d.s.vars[name]
		if !ok {
			v = unknownValue()
		}
		v.fixed = true
		d.s.vars[name] = v
	}
}

// reveals returns the reason if a secret is printed, or "". Without a name all variables are
// printed, and with -p the named ones.
func (d *declaration) reveals() umpire.Phrase {
	if d.functions {
		return ""
	}
	if len(d.names) == 0 && !d.doubt {
		return printsEnvironment
	}
	for _, name := range d.names {
		if d.prints && secretName(name) {
			return umpire.Say("prints the variable %s, which may hold a secret", name)
		}
	}
	return ""
}
