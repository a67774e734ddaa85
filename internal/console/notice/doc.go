// Package notice tells people elsewhere that a call waits for them, and that it was answered.
//
//	n, err := notice.Start(notice.Config{Gate: gate, Notify: conf.Notify, Secrets: dir})
//	defer n.Close()
//
// Notices go to a server of ntfy, by its JSON form of publishing, to webhooks, as signed JSON, and
// to browsers that have subscribed on a page of the console, by Web Push. A notice has the tool,
// its risk and the name of the project; it includes the command or path only if the person allows
// that. All of it is made safe to show, and nothing of it is markup or an address.
//
// A Notifier reads the timeline, as any watcher does, and so never delays a call or an answer. Each
// target has a separate queue of 64 notices; a notice that does not fit is dropped and counted. A
// notice is tried six times, with growing pauses, and no longer once its question was answered.
// Redirects are not followed: notices and tokens go only to the configured addresses.
//
// Answers come back by a topic of replies to which buttons publish one-time tokens. The server
// reads them, so they deny and cancel. A token that approves is made only for a server that the
// person trusts, and for a command that the notice shows whole.
//
// The state of sending is written to a file, a Report, which other commands show.
package notice
