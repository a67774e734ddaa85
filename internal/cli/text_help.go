package cli

const rootShort = "Decides every tool call of an AI coding agent: allow, ask or deny"

const rootLong = `umpire decides every tool call of an AI coding agent, by what the call would
really do: allow it, ask you, or deny it.`

const helpEnd = `umpire help COMMAND explains one. umpire help --all lists the others.
Topics: umpire help exit-codes, modes, order.`

const statusLong = `Shows which project this folder belongs to, the mode and where it comes from, and
every place where rules may stand: whether the file is there, sound and trusted,
how many of its rules hold, and what is wrong with it as FILE:LINE:COLUMN.

  ok         its rules hold
  missing    there is no such file
  untrusted  its deny and ask rules hold, its allow rules and hooks sleep
  degraded   it is broken: its last good rules hold, or more caution than that

Then how the sessions of this project stand: whether one waits for you, for what
and at which risk, how many there are; and whether a gate runs, where, and where
what happens is kept.`

const configLong = `Shows every key with the value in force and where it comes from: the default, your
config.yaml in ~/.umpire, or .umpire/config.yaml of the project. A project's file
comes with a clone, so there only what is tighter counts; the rest is ignored,
with a remark.`

const modesTopic = `A mode says what happens where no rule, grant or built-in knowledge speaks:

  default  safe calls run, the rest asks
  auto     remembered answers decide, known danger is denied, the rest asks
  ask      everything asks, reads too, unless a rule allows it
  reject   nothing asks: what is not safe or allowed is denied
  plan     only reads run, the rest is noted as planned; see umpire sessions mode --help
  bypass   nothing asks; needs --allow-bypass

In every mode, bypass too, what would destroy a system, a home or a disk is
denied, deny rules hold, and files that control umpire or other agents ask. So do
commands without a sandbox.

The flag --mode goes before the key "mode" of config.yaml.`

const orderTopic = `What a call would do is taken apart into accesses: programs it starts, paths it
reads, writes or deletes, hosts it reaches. Each is judged by these rows; the
first that speaks settles it, and the call gets the strictest verdict of its
accesses. "umpire check --explain" shows the rows that spoke.

   1  malformed input, or a tool the profile does not list   deny
   2  suffix limit of the profile                            deny
   3  critical risk, forbidden path                          deny, lifted by nothing
   4  deny rule                                              deny
   5  plan mode, and not a read                              deny
   6  control file                                           ask, lifted once at a time
   7  ask rule, of people or about secrets                   ask
  15  a command that would run without a sandbox             ask, lifted by no rule or mode
  16  a rule file that may deny or ask cannot be read        ask, lifted by no rule or mode
   8  bypass mode                                            allow
  18  what the person's autonomy lets run                    allow
   9  outside the project, no path rule or grant             ask, or deny if so configured
  10  safe or low risk, mode not ask                         allow
  11  allow rule                                             allow
  12  grant                                                  allow
  13  allowAll                                               allow
  17  code of the project that no sandbox holds              ask, unless the clone's code is trusted
  14  the mode                                               ask or deny

What cannot be known asks: a command that cannot be read, a variable that only
running would tell. An error never allows.`
