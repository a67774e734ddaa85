package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// movedVerbs are the former names of commands, which keep working.
var movedVerbs = map[string]string{
	"grants": "rules grants", "trust": "rules trust", "mode": "sessions mode",
	"pair": "console pair", "notify": "console notify",
	"init": "setup", "upgrade": "setup upgrade", "uninstall": "setup uninstall",
	"mcp": "proxy mcp", "acp": "proxy acp", "app-server": "proxy codex",
}

// renameVerb returns the arguments with a command's present name, and tells a person of it.
// Programs that start umpire by a former name are told nothing.
func renameVerb(a *app.App, args []string) []string {
	at := 0
	if len(args) > 1 && args[0] == "help" {
		at = 1
	}
	if len(args) == 0 || movedVerbs[args[at]] == "" {
		return args
	}
	old, now := args[at], movedVerbs[args[at]]
	rest := args[at+1:]
	if at == 0 && !strings.HasPrefix(now, "proxy ") {
		fmt.Fprintf(a.Stderr, a.Text.Of("umpire: `umpire %s` is now `umpire %s`")+"\n", old, now)
	}
	if old == "init" && at == 0 && !slices.ContainsFunc(rest, isWord) {
		switch {
		case slices.Contains(rest, "--undo"):
			now += " claude"
		case len(rest) == 0:
			now += " --list"
		}
	}
	return slices.Concat(args[:at], strings.Fields(now), rest)
}

func isWord(arg string) bool { return !strings.HasPrefix(arg, "-") }
