package host

import "github.com/umpirehq/umpire/internal/host/relay"

// Questions and answers as they travel between the hook's process and the gate.
type (
	Question = relay.Question
	Output   = relay.Output
)

// exitBlock is the exit code that hook clients interpret as a denial.
const exitBlock = 2
