package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// commandWords are the fields of a shell tool that affect neither what runs nor where: text for
// a person, and the host's timeout.
var commandWords = []string{
	"command", "cmd", "description", "explanation", "reason", "title", "timeout", "timeout_ms", "timeoutMs",
	"run_in_background", "background", "is_background", "isBackground",
}

// unguarded are the fields with which a host disables its own sandbox for the call.
var unguarded = []string{"dangerouslyDisableSandbox", "dangerously_disable_sandbox"}

// commandAccesses parses the command line of a shell tool.
func commandAccesses(in strictjson.Object, env shell.Env) (accesses, guesses []umpire.Access, err error) {
	line, err := textOf(in, "command", "cmd")
	if err != nil {
		return nil, nil, err
	}
	other, err := textOf(in, "cmd")
	if err != nil {
		return nil, nil, err
	}
	accesses, guesses = shell.ParseCode(line, env)
	if other != "" && other != line {
		// If both fields are set, some agents run one and some the other.
		more, guessed := shell.ParseCode(other, env)
		accesses, guesses = append(accesses, more...), append(guesses, guessed...)
	}
	doubt := unreadCommand(in)
	for i := range accesses {
		if accesses[i].Doubt == "" {
			accesses[i].Doubt = doubt
		}
	}
	return accesses, guesses, nil
}

// unreadCommand names the fields that may change the effect of a command, or returns "". A
// folder, variables or another shell make it a different command from the judged one.
func unreadCommand(in strictjson.Object) umpire.Phrase {
	var names []string
	for name, raw := range in {
		if !slices.Contains(commandWords, name) && !emptyValue(string(raw)) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if slices.Contains(unguarded, names[0]) {
		return "the command would run without the sandbox of its host"
	}
	if name, err := in.Text("shell"); err == nil && name != "" && len(names) == 1 {
		return umpire.Say("it would run in the shell %q, which umpire cannot read", name)
	}
	return umpire.Say("the field %q may change what the command does, and is not known", names[0])
}

// emptyValue reports whether a JSON value is empty.
func emptyValue(raw string) bool {
	return slices.Contains([]string{"null", "false", `""`, "[]", "{}"}, raw)
}
