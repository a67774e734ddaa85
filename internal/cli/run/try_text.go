package run

// longTry is the long help of `umpire try`.
const longTry = `Runs a command in a trial, where nothing it does is real, shows its changes, and asks
whether to keep or discard them.

The command sees your project, and changes copies of files beside the project. It
writes nowhere else; umpire lists its attempts to do so. Then you see every file that
it created, changed, deleted or moved.

  k  keep     exactly the changes shown become real; umpire undo undoes them
  d  diff     shows the changes line by line
  x  discard  it never happened

The command reaches the hosts that you listed (umpire autonomy --reach), and asks you
about others: this time, in this project, everywhere, or not. If it failed without one,
you can run it again with the hosts that it wanted (key n, or --reach). You cannot undo
what it sends. See docs/network.md.

One argument is a line for bash, several are a program and its arguments. umpire does
not run a command that a rule denies. The exit code is the command's own, or 2 if it
was denied, 3 if the trial waits, and 125 if a trial is not possible.

If nobody can be asked, the trial waits: umpire try --list, and then umpire try keep
or umpire try discard. umpire keeps nothing if the same files have changed meanwhile.

A trial holds back files and nothing else: time passes, and programs that the command
started end with the trial. See docs/trial.md.`

const tryExample = `  umpire try -- ./scripts/migrate.sh --apply
  umpire try -- 'npm install left-pad && npm test'
  umpire try --diff --discard -- rm -rf src
  umpire try --reach registry.example.com -- npm install left-pad
  umpire try --list`

const showLong = `Shows the changes of a waiting trial: without an ID, of the only one in this project.
With --diff it shows them line by line.`

const keepLong = `Keeps the changes that a waiting trial has shown: all of them, or nothing if one of the
files has changed since the trial began. Without an ID it is the only trial of this
project. "umpire undo" undoes them.

Only a person can keep changes.`

const discardLong = `Removes a waiting trial and all its changes. Without an ID it is the only one of this
project.`

// undoLong is the long help of `umpire undo`.
const undoLong = `Undoes the changes kept last in this project, or those of ID: a trial that was kept, or
a call that wrote files. The files get back their content, mode, owner and time, and
created files are removed. umpire undoes all of the changes or none.

--since undoes all changes kept in this project since a time, the latest first. It stops
at the first one that it cannot undo, and lists those undone until then.

Later changes by others are not lost. umpire merges those of a text by line; if it
cannot, it names the files and does nothing. --only undoes the other files. An undo can
itself be undone, by its ID.

If the project of a change is gone or was replaced, umpire cannot undo the change; other
projects work as before. --list names it and --forget removes it; the record of a call
goes by itself after undo.max_age.

umpire keeps the old files for seven days, and up to two gibibytes: undo.max_age and
undo.max_size change that.

Only a person can undo changes.`

const undoExample = `  umpire undo
  umpire undo --list
  umpire undo --since 10m
  umpire undo --only src/main.go
  umpire undo trial-1234`
