package cli

const serveLong = `Runs the gate: agents submit their calls to it, it holds the calls that ask until you
answer, and it records everything on a timeline. Hooks use the gate while it runs;
without it they decide alone and leave questions to the agent's own prompt.

It listens on a socket in ~/.umpire/state that only you can reach, or on an address
of this machine; any other address needs --allow-remote, and an encrypting proxy
in front. Two credentials are kept beside the socket: agent.token can submit calls,
person.token can also answer and change rules. umpire never prints either.

The gate masks secrets in its store, and seals the originals with seal.key, a key
beside it. Several gates can share a PostgreSQL database; they need the same seal.key.

When it is ready it writes "umpire: ready on ADDRESS". On an interrupt
or SIGTERM it finishes the requests in progress and exits with 0. Waiting calls stay.`

const serveExample = `  umpire serve
  umpire serve --listen 127.0.0.1:7575
  umpire serve --store postgres://umpire@db/umpire`

const notifyLong = `A running gate can notify you elsewhere when a call waits and when it is answered: on a
phone through an ntfy server, and through webhooks. The key notify of
~/.umpire/config.yaml sets the targets; a project cannot set it.

  notify:
    ntfy:
      server: https://ntfy.example.org
      topic: a-name-that-nobody-guesses
      replies: another-such-name    # buttons for deny and cancel
      token_file: ntfy              # holds a token, in ~/.umpire/keys/notify
    webhooks:
      - url: https://hooks.example.org/umpire
        secret_file: hook           # signs the messages
    commands: false                 # true: notices name the command or path
    after: 5s                       # how long a call waits before a notice

A notice shows the tool, its risk and the name of the project. umpire status shows whether
sending works. From a notice you can only deny or cancel, once each.

With relay_trusted: true you can also approve once. The operator of that server can then
approve too, so it must be your own, use https and require a token.`

const pairLong = `Shows a code: scan it with a phone's camera to open the console at the address of the key
console. The link works once and expires in a minute; the phone stays signed in for 12
hours. Codes are shown here, so leave this open.

With ntfy, or if the key console is not set, scan the code with the ntfy app on Android to
subscribe to the topic of the key notify; on other phones, type the words into the app. If
the server wants a password or a token, the app asks for it.

With --name, the phone's answers and any passkey that it registers are recorded with that
name.

Anyone with the code can sign in or subscribe, so umpire shows it only to a person at a
terminal.`

const pendingLong = `Lists the calls that wait for a person, the longest wait first: those of this project,
or of every project with --all-projects.`

const approveLong = `Approves a waiting call. ID is the request's id or a prefix of it, or the call's id.

umpire first shows the whole card: the agent, each part of the call with its risk
and the reason, the paths outside the project, and the calls the scope would allow.

  once      this call only
  session   the same command, or the same tool inside the project, until the
            session ends
  project   writes a rule into .umpire/permissions.json of the project
  global    writes a rule into permissions.json in ~/.umpire

A rule covers exactly this command, path or host. --width makes it wider:

  subcommand  the same subcommand, with options and targets of no higher consequence
  folder      everything below the folder; outside the project for reading only, and
              for the session, or for the project for at most 30 days
  parent      everything below the folder that holds the workspace, for reading
  tool        every use of the tool, on every file

No rule can cover a force push, the deletion of a tree, or an interpreter.

Then you confirm on the terminal: with "y" if the risk is low or medium and the scope
is once or session, otherwise with a code made for this card. umpire ignores anything
typed before the card has been visible for a moment.

Only a person can answer: umpire refuses a process that an agent started, and one
without a terminal. The first answer counts; later ones are refused. A call of
critical risk never asks, so you cannot approve it.

A script answers with --token-file ~/.umpire/state/person.token. Any program that
can read this file can answer in your name, so keep it from agents: run them in a
sandbox, or as their own user. An agent that runs as you, without a sandbox, can read
everything you can read.`

const approveExample = `  umpire approve 4k7m
  umpire approve 4k7m --scope session
  umpire approve 4k7m --scope session --width folder --expires 8h
  umpire approve 4k7m --scope project --rule 'Bash(npm test:*)'`

const denyLong = `Denies a waiting call. The agent gets the REASON, if you give one, and continues: it
may try something else. The other calls of the same message still run. If the agent
repeats the call in the same turn, umpire denies it without asking.

ID is the request's id or a prefix of it, or the call's id. umpire shows the card
first, and you confirm with "y"; see umpire approve --help for scripts.`

const denyExample = `  umpire deny 4k7m
  umpire deny 4k7m use the staging database instead`

const cancelLong = `Denies a waiting call and stops the agent's turn: no other call of the same message
starts. The agent waits for your next message.

umpire shows the card first, and you confirm with "y"; see umpire approve --help.`

const watchLong = `Shows the questions of all sessions and agents on the terminal, each with its
card. You answer with the keys of umpire chat. It works over SSH.

  j k       next and previous question
  y s p g   allow: once, for the session, as a rule of the project, as a rule everywhere
  w         allow more: a subcommand, a folder or the tool
  n c       deny, with an optional reason; cancel: deny and stop the turn
  t         try it first, if the card offers it; otherwise the timeline, like T
  e v d     explain, raw input, diff
  u f       undo the changes of a call; show only this card's project, or all
  ? q       all keys; quit, while questions keep waiting

You can approve only after every part that asks was on the screen, and only with a single
key. Risky approvals, and any that outlast the session, need the code on the card, as with
umpire approve. The terminal rings for a new question; with --notify it also shows a desktop
notification if it can (OSC 9 or OSC 777), without the command. The key watch.notify selects
bell, desktop or off.

With --plain, without a terminal, and in a process that an agent started, it only shows
the waiting calls of this project, and then new events until you interrupt it. With
--json it writes every event as a line of JSON.`

const consoleLong = `Asks the running gate to open its console on a free port of this machine, and shows a
link to it. The link works once and expires in a minute; your browser stays signed in for
12 hours at most, even if you close it.

An answer that needs a code on the command line needs one in the browser too: an
approval of high risk, for the project or for all projects. Codes are shown here, so
leave this open. Ctrl-C ends it; the page keeps working.

Only a person can do this: umpire refuses a process that an agent started, and shows the
link and the codes on a terminal only. Do not sign in a browser that an agent drives.

If several people use this account, --name gives the person's name for this browser: the
timeline, cards and notices show it with each answer. It is a label and grants nothing;
without it they show the name of the account.`

const sessionsLong = `Lists the sessions of this project, the latest activity first; with --all-projects
those of every project. A session belongs to the project in which it was opened.`

const sessionsEndLong = `Ends a session for good: umpire denies its waiting calls and starts no others. ID may be
a prefix of an id in this project. Only a person can do this.`

const sessionsDeleteLong = `Ends a session and deletes it, with its calls, answers and grants. Its events stay
on the timeline. ID may be a prefix of an id in this project. Only a person can do this.`

const timelineLong = `Shows the calls of this project, one per line, the newest last: the time, the outcome, the
tool, the command or path as typed, and why umpire asked or denied it.
--all-projects shows those of every project. Secrets were masked before they were stored.

--events shows every event instead, and so do --json, --detail, --follow and --after. Event
numbers grow and have gaps; --after continues from one. The events of a deleted session
stay: to see them, give its whole id and --all-projects.`

const timelineVerifyLong = `Finds events on the timeline that were changed, removed or inserted. It names each break
by its number and its session, and exits with 1 if there is one.

It makes three checks. Every event contains the hash of the event before it in its
session. A gate signs where each session ended, and records this in ~/.umpire/checkpoints:
if a recorded session, its last events or the whole store is gone, that is a break. With
--since, the events up to a checkpoint from umpire timeline head must be unchanged.

The first two checks find damage, and changes by anyone who cannot write ~/.umpire. A
program that runs as you can change both the store and the record so that they agree.
Only a checkpoint that you copied elsewhere reveals that, for the events before it.

Deleting a session keeps its events, so it is not a break. A pruned session is counted,
and is not a break if an event on the timeline records it, signed with the key of this
installation or one given by --key. If you restored an older store yourself, remove its
record from ~/.umpire/checkpoints.`

const timelinePruneLong = `Removes whole sessions with their events after the inactive time set by the key retention
or by --older-than. A session stays while one of its calls waits or runs, one of its trials
is not settled, or it has a sub-agent's session. A gate does the same once an hour, for
sessions of up to 5,000 events.

Each removal appends the signed event EventsPruned, which lists the removed events. umpire
timeline verify accepts exactly these removals, and counts them. An earlier checkpoint
still reveals any other change.

A removal cannot be undone. An agent that resumes a removed session starts without its
old approvals.`

const timelineHeadLong = `Prints a checkpoint of the timeline in one line: the number of events and sessions, and
a hash over the end of each session. It is signed with a key of this installation in
~/.umpire/keys, apart from the store.

Copy it to a place that no program on this machine can write: another machine, a mail to
yourself, a printer. Later, umpire timeline verify --since CHECKPOINT tells whether the
events up to it are unchanged.

The copy proves that no event before it was changed, removed or inserted since. It proves
nothing about later events or the order of events in different sessions, nor that every
event was ever written. The signature proves which installation made the line: it cannot
be forged without the key, but a program that runs as you can read the key.`
