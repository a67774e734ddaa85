package cli

const modeLong = `Shows the mode of a session: the latest one of this project, or the one that --session
names. With a MODE it switches it, from the session's next call on. Other sessions keep
theirs; a new one of this project begins with what was chosen last, if that was default,
auto or ask. See umpire help modes.

The mode bypass has to be permitted when the session begins: umpire run --allow-bypass.
In auto mode, allow rules that would allow everything have no say; they are listed.

In plan mode only reads run, and what else the agent wants to do is noted as planned. It
leaves plan mode by asking you (its tool ExitPlanMode), or by you with --leave-plan: then
the mode before is back, the planned files may be changed without a further question,
and each command that the card shows whole runs once. A file that has changed since it
was planned asks again, and so does everything that was not planned.

Switching needs a person.`

const modeExample = `  umpire sessions mode
  umpire sessions mode plan
  umpire sessions mode --leave-plan
  umpire sessions mode auto --session s4k7m`
