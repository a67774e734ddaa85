package try

// long is the long help of `umpire try`.
const long = `Runs a command where nothing that it does is real, shows what it did, and asks
whether to keep or discard it.

The command sees your project and changes a copy of what it touches, which lies
beside the project. It has no network, and writes nowhere else: what it tries is
listed. Then you see every file that it created, changed, deleted or moved.

  k  keep     exactly what is shown becomes real; umpire undo takes it back
  d  diff     shows the changes line by line
  x  discard  it never happened

A command that failed because it wanted the network can be run again with it (key n,
or --network). That is a trial as well, but what the command sends is sent.

One argument is a line for bash, several are a program and its arguments. A command
that a rule denies is not run. The exit code is the command's own, or 2 when it was
denied, 3 when a trial waits, and 125 where no trial can be had.

Where nobody can be asked the trial waits: umpire try --list, and then umpire try
keep or umpire try discard. Nothing is kept when somebody has changed the same
files meanwhile.

A trial holds files back, and nothing else: time passes, and a program that was
started ends with the trial. docs/trial.md tells the rest.`

const tryExample = `  umpire try -- ./scripts/migrate.sh --apply
  umpire try -- 'npm install left-pad && npm test'
  umpire try --diff --discard -- rm -rf src
  umpire try --network -- npm install left-pad
  umpire try --list`

const showLong = `Shows what a trial that waits would change: without an ID, the only one of this
project. With --diff line by line.`

const keepLong = `Makes real what a trial that waits has shown: all of it, or nothing when somebody
has changed one of the files since it began. Without an ID it is the only trial of
this project. "umpire undo" takes it back.

Keeping needs a person.`

const discardLong = `Removes a trial that waits, with all that it wrote. Without an ID it is the only one
of this project.`

// undoLong is the long help of `umpire undo`.
const undoLong = `Takes back what was kept last in this project, or what ID names: a trial that was kept,
or a call that wrote files. They get their content, mode, owner and time back, and what
was created goes. All of it is taken back, or nothing.

--since takes back all that was kept in this project since a time, the latest first. It
stops at the first that cannot be taken back, and says what was taken back until then.

Later changes by others are not lost: those of a text are merged by line, and where
that cannot be done the files are named and nothing is done. --only takes back the
others. An undo can itself be undone, by its ID.

A change whose project is gone or was replaced cannot be taken back. Other projects
work as before. --list names it and --forget removes it; after undo.max_age a call's
record goes by itself.

The old files are kept for seven days, and up to two gibibytes: undo.max_age and
undo.max_size change that.

Taking back needs a person.`

const undoExample = `  umpire undo
  umpire undo --list
  umpire undo --since 10m
  umpire undo --only src/main.go
  umpire undo trial-1234`
