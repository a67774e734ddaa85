// Package early asks the gate before the rest of umpire-hook is initialised.
//
// It does so in its init function, which is unusual. Main runs only after the tables of the shell,
// the rules and the hosts are made, and making them takes as long as asking the gate. Go initialises
// a package as soon as its imports are initialised; among several that are ready, it takes the one
// whose path sorts first. This package imports little, so most others come later. If they came
// first, the answer would be the same, only slower. Only umpire-hook imports this package, and with
// arguments other than a hook's it does nothing.
//
// If the gate answers at once, the process ends here with that answer. Otherwise main continues with
// what [Attempt] has read and sent: see [relay.Attempt].
package early

import (
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// Attempt is the attempt that the init function made. Main uses its Dir, Nonce, Runner and Profile
// as well.
var Attempt = relay.Attempt{
	Getenv: os.Getenv, Patience: relay.Patience,
	Runner: func() string { return process.Host(os.Getppid()) },
}

func init() {
	Attempt.Profile, _ = process.StartProfile(os.Getenv, "umpire-hook") // a hook must not fail because of it
	Attempt.Args = os.Args[1:]
	Attempt.Nonce = strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
	if dir, err := os.Getwd(); err == nil {
		Attempt.Dir = dir
	}
	if answer, answered := Attempt.Ask(); answered {
		code := answer.Print(os.Stdout, os.Stderr)
		Attempt.Profile.End(process.AnswerWritten)
		os.Exit(code)
	}
}
