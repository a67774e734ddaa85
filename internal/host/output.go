package host

import "github.com/umpirehq/umpire/internal/relay"

// What an agent asked and what it is told, as they travel between the hook's process and the gate.
type (
	Question = relay.Question
	Output   = relay.Output
)

// exitBlock is the exit code that hook clients read as "do not run this".
const exitBlock = 2
