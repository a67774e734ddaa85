package cli

const serveLong = `Runs the gate: agents hand in their calls, what asks is held until you answer, and
what happened is kept on a timeline. Where it runs, the hooks of agents go through
it; without it they decide alone and hand questions to the agent's own prompt.

It listens on a socket in ~/.umpire/state that only you can reach, or on an address
of this machine; any other address needs --allow-remote, and something in front of
it that encrypts. Two credentials lie beside the socket: agent.token may hand in
calls, person.token may also answer and change rules. Neither is ever printed.

What it stores is masked where it holds secrets, and the originals are sealed with
the key in seal.key beside it. Several gates may share a PostgreSQL database; they
need the same seal.key.

When it is ready it writes "umpire: ready on ADDRESS". An interrupt or SIGTERM lets
what is under way end, and exits with 0. Calls that wait are kept.`

const serveExample = `  umpire serve
  umpire serve --listen 127.0.0.1:7575
  umpire serve --store postgres://umpire@db/umpire`

const notifyLong = `A gate that runs can tell you elsewhere that a call waits, and that it was answered: on
a phone by a server of ntfy, and by webhooks. The key notify of ~/.umpire/config.yaml
says where notices go; a project cannot set it.

  notify:
    ntfy:
      server: https://ntfy.example.org
      topic: a-name-that-nobody-guesses
      replies: another-such-name    # deny and cancel come back by buttons
      token_file: ntfy              # holds a token, in ~/.umpire/keys/notify
    webhooks:
      - url: https://hooks.example.org/umpire
        secret_file: hook           # signs what is sent
    commands: false                 # true: notices say what the call is about
    after: 5s                       # so long a call waits before there is a notice

A notice has the tool, its risk and the name of the project. umpire status says how
sending goes. Through the server only deny and cancel come back, once for each notice.

With relay_trusted: true, approvals for once do too. Whoever runs that server can then
approve: it has to be your own, reached by https, with a token.`

const pairLong = `Shows a code that a phone's camera scans, to open the console at the address of the key
console. The link works once, within a minute, on one phone, which stays signed in for
half a day. Codes are shown here, so leave this open.

With ntfy, or where the key console is not set, the app of ntfy scans the code on a phone
with Android, to subscribe to the topic of the key notify; the words are to be typed into
the app elsewhere. On a server that wants a password or a token, the app asks for it.

With --name, what the phone answers is recorded with that name, and so is a passkey that
it registers.

Anyone who has the code can sign in or subscribe, so it is shown to a person at a terminal and
nowhere else.`

const pendingLong = `Lists the calls that wait for a person, the one that has waited longest first: those
of this project, or with --all-projects of every project.`

const approveLong = `Lets a call that waits run. ID is the request's id or its beginning, or the id of
the call.

The whole card is shown first: who asks, each part of the call with its risk and
why, the paths that leave the project, and what the scope would allow from then on.

  once      this call only
  session   the same command, or the same tool inside the project, until the
            session ends
  project   writes a rule into .umpire/permissions.json of the project
  global    writes a rule into permissions.json in ~/.umpire

A rule is the narrowest: the very command, the one path, the host. --width says more:

  subcommand  the same subcommand, with options and targets of no higher consequence
  folder      everything below the folder; one outside the project is for reading, for
              the session, or for the project and at most 30 days
  parent      everything below the folder that holds the workspace, for reading
  tool        every use of the tool, on every file

No rule stands for a force push, for deleting a tree, or for an interpreter.

Then you confirm on the terminal: with "y" where the risk is low or medium and the
scope is once or session, else with a code that is made up for this card. What was
typed before the card stood there for a moment does not count.

An answer needs a person. It is refused in a process that an agent started, without
a terminal, and for a call that was answered already: the first answer stands. A
call of critical risk is never asked about, so it cannot be approved.

A script answers with --token-file ~/.umpire/state/person.token. Whoever can read
that file can answer in your name: keep it from agents, which a sandbox does and
a user of their own does. An agent that runs as you, without a sandbox, can get at
everything that you can get at.`

const approveExample = `  umpire approve 4k7m
  umpire approve 4k7m --scope session
  umpire approve 4k7m --scope session --width folder --expires 8h
  umpire approve 4k7m --scope project --rule 'Bash(npm test:*)'`

const denyLong = `Refuses a call that waits. The agent is told so, with the REASON if there is one, and
goes on: it may try something else. The other calls of the same message still run.
The same call in the same turn is refused again without a question.

ID is the request's id or its beginning, or the id of the call. The card is shown
first and you confirm with "y"; see umpire approve --help for scripts.`

const denyExample = `  umpire deny 4k7m
  umpire deny 4k7m use the staging database instead`

const cancelLong = `Refuses a call that waits and stops the agent's turn: nothing of the same message
starts any more. The agent waits for your next message.

The card is shown first and you confirm with "y"; see umpire approve --help.`

const watchLong = `Shows the questions of all sessions and agents on the terminal, with the card of each,
and has you answer them with the keys of umpire chat. It works over SSH.

  j k       the next and the last question that waits
  y s p g   allow: once, for the session, as a rule of the project, as a rule everywhere
  w         allow more: a subcommand, a folder or the tool
  n c       deny, with a reason if you like; cancel: deny and stop the turn
  t         try it first, where the card offers it; else the timeline, as T
  e v d     explain, raw input, diff
  u f       take back what a call changed; only the project of this card, and back
  ? q       all keys; leave, and what waits keeps waiting

No key approves before all that asks was on the screen, and words answer nothing. What
is risky, or lasts beyond the session, needs the code that the card shows, as with
umpire approve. The terminal rings when a question comes; with --notify it also tells
the desktop, where it can (OSC 9 or OSC 777), without the command. The key watch.notify
sets which: bell, desktop or off.

With --plain, where there is no terminal, and in a process that an agent started,
it shows what waits in this project, and then what happens, until it is interrupted,
and answers nothing. With --json every event is a line of JSON.`

const consoleLong = `Asks the running gate to open its console on a free port of this machine, and shows a
link to it. The link works once, within a minute, in one browser of yours; that browser
stays signed in for half a day at most, also when you close it.

An answer that needs a code on the command line needs one in the browser, too: an
approval of high risk, for the project or for good. Codes are shown here, so leave this
open. An interrupt ends it; the page goes on working.

It needs a person: it is refused in a process that an agent started, and shows the link
and the codes on a terminal only. Do not sign in a browser that an agent drives.

Where several people use this account, --name says who the browser is signed in for: the
timeline, cards and notices have that name with what it answers. It is a label and
grants nothing; without it they have the name of the account.`

const sessionsLong = `Lists the sessions of this project, the latest activity first; with --all-projects
those of every project. A session belongs to the project in which it was opened.`

const sessionsEndLong = `Ends a session for good: what waits in it is denied, what has not started does not
start. ID may be the beginning of one in this project. It needs a person.`

const sessionsDeleteLong = `Ends a session and deletes it, with its calls, answers and grants. What happened stays
on the timeline. ID may be the beginning of one in this project. It needs a person.`

const timelineLong = `Shows the calls of this project, one a line with the newest last: when, what became of
the call, its tool, its command or path as typed, and why it was asked about or denied.
--all-projects shows those of every project. Secrets were masked before they were stored.

--events shows every event instead; --json, --detail, --follow and --after do so too. The
numbers of events grow and have gaps; --after goes on from one. The events of a session
that was deleted stay: name its whole id, with --all-projects.`

const timelineVerifyLong = `Finds what was changed, removed or put in on the timeline. Names each break by its
number and its session, and ends with 1 when there is one.

Three things are compared. Every event bears the hash of the one before it in its
session. A gate records where each session ended, signed, in ~/.umpire/checkpoints:
a session, its last events or a whole store that is known and gone is a break. With
--since, the events up to a checkpoint that umpire timeline head printed must be what
they were.

The first two show damage, and changes by somebody who cannot write ~/.umpire. A
program that runs as you can write both the store and the record, and make them
agree. Only a checkpoint that you copied elsewhere finds that, for what happened
before it.

Deleting a session keeps its events, so it is not a break. A pruned session is counted
and is not a break if an event of the timeline says so, signed with the key of this
installation or with one that --key names. If you put an older store in place yourself,
remove the record that ~/.umpire/checkpoints holds of it.`

const timelinePruneLong = `Removes whole sessions with their events: those in which nothing has happened for as
long as the key retention or --older-than says. A session stays while a call of it waits
or runs, a trial of it is not settled, or a session of a sub-agent belongs to it. A gate
does the same once an hour, for sessions of up to 5,000 events.

Each removal appends the signed event EventsPruned, which says what was removed. umpire
timeline verify accepts exactly these removals, and counts them. A checkpoint from
before still finds any other change.

A removal cannot be undone. An agent that resumes a removed session starts without its
old approvals.`

const timelineHeadLong = `Prints what the timeline is now, as one line: how many events and sessions there are,
and a hash over where each of them ends. It is signed with a key of this installation
in ~/.umpire/keys, which lies apart from the store.

Copy it to where no program on this machine can write: another machine, a mail to
yourself, a printer. umpire timeline verify --since CHECKPOINT tells later whether the
past up to there is still the same.

The copy proves that events before it were not changed, removed or put in since. It
proves nothing of later events, of the order of events in different sessions, or that
everything that happened was ever written. The signature proves which installation
made the line: nobody without its key could make it up, and a program that runs as you
can read the key.`
