package cli

const rootShort = "Decides every tool call of an AI coding agent: allow, ask or deny"

const rootLong = `umpire decides every tool call of an AI coding agent, by what the call would
really do: allow it, ask you, or deny it.`

const helpEnd = `umpire help COMMAND explains one. umpire help --all lists the others.
Topics: umpire help exit-codes, modes, order.`

const statusLong = `Shows the project of this folder, the mode and where it is set, and each rule file:
its state, how many of its rules are in force, and its errors as FILE:LINE:COLUMN.

  ok         its rules are in force
  missing    the file does not exist
  untrusted  its deny and ask rules are in force, its allow rules and hooks are not
  degraded   it is broken: its last good rules apply, or stricter ones

It also shows the sessions of this project and whether one waits for you, for what
and at which risk; whether a gate runs, and where; and where the timeline is stored.`

const configLong = `Shows every key with the value in force and where it comes from: the default, your
config.yaml in ~/.umpire, or .umpire/config.yaml of the project. A project's file
comes with a clone, so it can only make a setting stricter; umpire ignores the
rest, with a remark.`

const modesTopic = `The mode decides calls to which no rule, grant or built-in knowledge applies:

  default  safe calls run, the rest asks
  auto     remembered answers decide, known danger is denied, the rest asks
  ask      everything asks, reads too, unless a rule allows it
  reject   nothing asks: calls that are neither safe nor allowed are denied
  plan     only reads run, the rest is recorded as planned; see umpire sessions mode --help
  bypass   nothing asks; needs --allow-bypass

In every mode, even bypass, umpire denies calls that would destroy a system, a home
or a disk, and applies deny rules. Files that control umpire or other agents ask,
and so do commands without a sandbox.

The flag --mode overrides the key "mode" in config.yaml.`

const orderTopic = `umpire breaks a call down into accesses: programs it starts, paths it reads, writes
or deletes, hosts it reaches. The first row that matches an access decides it, and
the call gets the strictest verdict of its accesses. "umpire check --explain" shows
the rows that matched.

   1  malformed input, or a tool the profile does not list   deny
   2  suffix limit of the profile                            deny
   3  critical risk, forbidden path                          deny; nothing overrides it
   4  deny rule                                              deny
   5  plan mode, and not a read                              deny
   6  control file                                           ask; each approval is for once
   7  ask rule, of people or about secrets                   ask
  15  a command that would run without a sandbox             ask; no rule or mode overrides it
  16  a rule file that may deny or ask cannot be read        ask; no rule or mode overrides it
   8  bypass mode                                            allow
  18  your autonomy level lets it run                        allow
   9  outside the project, no path rule or grant             ask, or deny if so configured
  10  safe or low risk, mode not ask                         allow
  11  allow rule                                             allow
  12  grant                                                  allow
  13  allowAll                                               allow
  17  code of the project, without a sandbox                 ask, unless the clone's code is trusted
  14  the mode                                               ask or deny

Anything umpire can't work out asks: a command it can't parse, a variable whose value
is known only when the command runs. An error never allows a call.`
