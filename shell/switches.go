package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A switch is a variable such as SLOW=1, whose value can name neither a program nor a file. The
// code of a project may behave differently with it, but cannot do more than without it.

const (
	switchValues = "0 1 2 3 true false yes no on off debug info warn error test development local"
	// notSwitches are parts of the names of variables that choose programs, options or files, or
	// make code change more than it otherwise would.
	notSwitches = "PATH HOME SHELL PAGER EDITOR VISUAL BROWSER COMMAND CMD EXEC EXE BIN PROGRAM WRAPPER LAUNCHER " +
		"HOOK HOOKS PLUGIN PLUGINS PRELOAD LIBRARY LIB OPTIONS OPTS OPT ARGS FLAGS CONFIG CONF RC FILE DIR ROOT " +
		"PREFIX SCRIPT STARTUP INIT ENV INSPECT DEBUGGER BREAKPOINT PROXY REGISTRY INDEX URL HOST SERVER UNSAFE " +
		"INSECURE VERIFY REJECT ALLOW TRUST UPDATE WRITE FIX FORCE RECORD SNAPSHOT SNAPSHOTS GOLDEN OVERWRITE " +
		"DELETE DROP RESET CLEAN DEPLOY PUBLISH PUSH UPLOAD RELEASE APPLY PRODUCTION PROD LIVE OUT OUTPUT " +
		"DEPENDENCIES BLESS ACCEPT REGEN GENERATE REGENERATE SAVE PURGE WIPE DESTROY MIGRATE SEED"
	// toolVariables begin the names of variables that compilers and interpreters obey.
	toolVariables = "LD DYLD GIT GO CGO CARGO RUST RUSTC RUSTUP RUSTDOC NPM YARN PNPM NODE DENO BUN PYTHON PIP " +
		"UV POETRY PYTEST PERL PERL5 RUBY GEM BUNDLE RAILS JAVA JDK MAVEN MVN GRADLE PHP COMPOSER DOTNET MSBUILD " +
		"NUGET SSH BASH ZSH DOCKER KUBE AWS GOOGLE AZURE GCC CC CXX CPP AR AS FC MAKE MALLOC GLIBC LC PS4 XDG " +
		"ELECTRON TMPDIR TERM CPATH"
)

// isSwitch reports whether an assignment before a command is a switch.
func isSwitch(name string, value word) bool {
	if !value.known() || !scan.HasField(switchValues, value.text) || isListed(shellEnv, name) || secretName(name) ||
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	first, _, _ := strings.Cut(name, "_")
	for tool := range strings.FieldsSeq(toolVariables) {
		if first == tool || (len(tool) > 2 || tool == "GO") && strings.HasPrefix(first, tool) {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "_") {
		for long := range strings.FieldsSeq(notSwitches) {
			if part == long || len(long) > 3 && strings.HasSuffix(part, long) {
				return false
			}
		}
	}
	return true
}

// passesOn are the programs that only start another one, with the variables that they have.
const passesOn = "env timeout time nice nohup stdbuf ionice setsid command"

// settleSwitches lowers the risk of the switches that are given to code of the project, or to
// Go's compiler.
func settleSwitches(w *walker) {
	for _, at := range w.switches {
		for i := at + 1; i < len(w.accesses); i++ {
			command := &w.accesses[i]
			plain := command.Doubt == "" && umpire.Low.AtLeast(command.Risk)
			if command.Table == environmentTable || plain && scan.HasField(passesOn, command.Table) {
				continue
			}
			if plain && (command.Code || command.Table == "go build" || command.Table == "go vet") {
				a := &w.accesses[at]
				a.Risk, a.Code, a.Dirs = umpire.Safe, command.Code, command.Dirs
			}
			break
		}
	}
}
