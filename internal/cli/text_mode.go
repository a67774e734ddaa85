package cli

const modeLong = `Shows the mode of a session: this project's latest, or the one given by --session. With a
MODE it switches the session to it from the next call on. Other sessions keep their mode. A
new session of this project starts in the mode you chose last, if that was default, auto or
ask. See umpire help modes.

To use the mode bypass, permit it when the session begins: umpire run --allow-bypass. In
auto mode, rules that allow everything are ignored; they are listed.

In plan mode only reads run, and umpire records the agent's other calls as planned. Plan
mode ends when the agent asks you (its tool ExitPlanMode) and you approve, or when you pass
--leave-plan. Then the mode before is back, the planned files may be changed without a
further question, and each command shown whole on the card runs once. A file that has
changed since it was planned asks again, and so does every unplanned call.

Only a person can switch the mode.`

const modeExample = `  umpire sessions mode
  umpire sessions mode plan
  umpire sessions mode --leave-plan
  umpire sessions mode auto --session s4k7m`
