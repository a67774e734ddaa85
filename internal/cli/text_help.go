package cli

const rootShort = "Decides every tool call of an AI coding agent: allow, ask or deny"

const rootLong = `umpire decides every tool call of an AI coding agent, by what the call would
really do: allow it, ask a person, or deny it.

Commands to begin with:

  umpire demo                      watch an agent's calls being decided
  umpire check -- rm -rf build     what would be decided, and why
  umpire init claude               let umpire decide for Claude Code
  umpire doctor                    prove that it does

After that, "umpire rules add allow 'Bash(make:*)'" settles a question for good,
and "umpire status" shows which rules hold here.`

const rootExample = `  umpire check -- 'git push --force origin main'
  umpire rules add deny 'Edit(*.lock)' --scope project
  umpire help exit-codes`

const checkLong = `Decides a call without running anything, and says why.

A command is given after "--": as one argument, which is taken as the line a
shell would read, or as several words, which stay words. Any other tool is named
by --tool, with its --input. The working directory counts: what lies outside of
the project asks.

The exit code is the verdict: 0 allow, 2 deny, 3 ask; 4 is wrong usage.

With --stdin every line is a call, {"id","tool","input"} or {"id","command"},
with "cwd", "agent" and "session_id" if you like. Every line gets one line back,
in the same order, at once; a line that is no call is denied with the reason code
"invalid". Rule files may change meanwhile: the next call is decided by them.`

const checkExample = `  umpire check -- npm test
  umpire check --explain -- 'cd src && rm -rf build | tee log'
  umpire check --tool Write --input '{"path":"a.txt"}' --json
  umpire check --mode auto --allowed-tools Read,'Bash(npm test:*)' -- npm test
  echo '{"id":"c1","command":"ls"}' | umpire check --stdin`

const rulesLong = `A rule allows, asks about or denies what a call would do. Rules stand in files
that you can read and review: .umpire/permissions.json in the project, and
permissions.json in ~/.umpire for all projects.

  Bash(npm test:*)            commands that begin with these words
  Read(~/go/pkg/mod/**)       paths; so are LS, Glob, Grep, Write, Edit, Delete
  WebFetch(domain:pkg.go.dev) hosts
  mcp__github__*              tools by name
  *                           everything

Deny beats ask, ask beats allow, wherever the rules stand. A command line is
judged part by part, and an allow rule has to cover every part. A rule for
reading judges every read, "cat" too; so do rules for writing and for hosts.

Changing rules needs a person: it is refused in a process that an agent started.`

const rulesExample = `  umpire rules list
  umpire rules add allow 'Bash(npm test:*)' --scope project
  umpire rules add deny 'Edit(*.lock)' --scope global --description "lock files are made, not written"
  umpire rules remove tests`

const rulesListLong = `Lists the rules that hold here, the project's first, then the global ones, then
the administrator's. Rules that sleep for want of trust, or that are lost in a
broken file, are not listed; a remark tells of them.`

const rulesAddLong = `Adds a rule to umpire's own rule file of a scope: "project" is
.umpire/permissions.json in this project, "global" is yours for all projects.

ACTION is allow, ask or deny. RULE is the short form; see umpire rules --help.
Examples are kept with the rule and checked whenever the file loads: a rule that
fails its own examples never allows.`

const rulesAddExample = `  umpire rules add allow 'Bash(go test:*)'
  umpire rules add allow 'Bash(make:*)' --expires 8h --description "this evening only"
  umpire rules add ask 'Bash(git push:*)' --scope global
  umpire rules add allow 'Bash(npm test:*)' --example 'npm test -- -u' --not-example 'npm testify'`

const rulesRemoveLong = `Removes every rule with the ID from umpire's own rule files: the project's, or
else the global one. "umpire rules list" shows the ids.`

const rulesTestLong = `Holds every rule to its own examples and says which fail, for the files that
count here or for the FILES that are named. Rules that sleep are tested too. The
exit code is 4 when a rule fails.`

const rulesLintLong = `Reads the rule files that count here, or the FILES that are named, and writes
everything that is wrong as FILE:LINE:COLUMN: what. Keys that are not known are
named with the nearest known one. The exit code is 4 when there is anything.`

const rulesImportLong = `Copies the rules of another tool's file into umpire's own rule file of a scope.
What cannot be kept exactly is named and left out; it never becomes wider.

FORMAT is claude (settings.json or permissions.yml, by the file's name),
claude-settings, claude-yaml, muse or umpire. To keep reading the other file
instead of copying it, list it under rules.also_read in config.yaml.`

const trustLong = `A project's rule files come with a clone. Their deny and ask rules hold at once,
their allow rules and hooks only after you have trusted the file: exactly this content
of it, recorded outside of the project. When the file changes, they sleep again.
What umpire itself writes there stays trusted.

Shows what starts to allow and which programs would run, and trusts it. It needs a person.

With --code it is about the code of the clone: tests, builds, scripts and checkers run
what the project says. In umpire's own sandbox they run unasked. An agent that runs its
commands by itself is asked about them until you have trusted the code. What you trust
is every file that names code, as it is now, and the commit; it ends when such a file
changes or appears, and when HEAD moves by anything but a commit made here.`

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
  plan     only reads run, the rest is noted as planned; see umpire mode --help
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
   9  outside the project, no path rule or grant             ask, or deny if so configured
  10  safe or low risk, mode not ask                         allow
  11  allow rule                                             allow
  12  grant                                                  allow
  13  allowAll                                               allow
  17  code of the project that no sandbox holds              ask, unless the clone's code is trusted
  14  the mode                                               ask or deny

What cannot be known asks: a command that cannot be read, a variable that only
running would tell. An error never allows.`
