package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// renameVerb returns the arguments with a command's present name, and tells a person of it.
// Programs that start umpire by a former name get no remark.
func renameVerb(to io.Writer, text *catalogue.Language, args []string) []string {
	at := 0
	if len(args) > 1 && args[0] == "help" {
		at = 1
	}
	if len(args) == 0 {
		return args
	}
	former, rest := args[at], args[at+1:]
	present := policy.PresentVerb(former)
	switch {
	case present == "":
		return args
	case former != "init" || at > 0 || namesAgent(rest):
	case slices.Contains(rest, "--undo"):
		present += " claude"
	default:
		present += " --list" // it wrote nothing without an agent
	}
	if at == 0 && !strings.HasPrefix(present, "proxy ") {
		fmt.Fprintf(to, text.Of("umpire: `umpire %s` is now `umpire %s`")+"\n", former, present)
	}
	return slices.Concat(args[:at], strings.Fields(present), rest)
}

// namesAgent reports whether the arguments of init hold an agent.
func namesAgent(args []string) bool {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || args[i-1] != "--scope") {
			return true
		}
	}
	return false
}
