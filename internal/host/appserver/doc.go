// Package appserver stands between an editor and Codex, which the editor drives through codex
// app-server, and has umpire judge Codex's questions.
//
//	proxy := appserver.Proxy{Editor: editor, Codex: codex, Judge: judge}
//	err := proxy.Run(ctx)
//
// Questions about commands, files, the network, more rights and tools of MCP servers are judged. All
// other messages are forwarded byte for byte, in their order, in both directions.
//
//   - A call known to be safe is accepted once, never for the session. A refused call is
//     declined, and the turn goes on. All other questions go to the editor's dialog as they came.
//   - Input typed into a running program is declined, and so is a program that waits for such
//     input outside of Codex's sandbox: Codex does not report the typed text.
//   - A question that Codex takes back stays unanswered. The editor is not told of the end
//     of a question that it has not seen.
//   - A request of an unknown kind is refused, since the editor's answer might allow something by
//     default.
//   - A message of Codex that two readers could read as two different things is not forwarded.
//   - When one side ends, the other side is closed, and waiting questions stay unanswered.
package appserver
