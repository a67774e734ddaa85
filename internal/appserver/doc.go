// Package appserver stands between an editor and Codex, which the editor drives through codex
// app-server, and has umpire judge what Codex asks about.
//
//	proxy := appserver.Proxy{Editor: editor, Codex: codex, Judge: judge}
//	err := proxy.Run(ctx)
//
// Questions about commands, files, the network, more rights and tools of MCP servers are judged. All
// other messages are forwarded byte for byte, in their order, in both directions.
//
//   - What umpire knows to be safe is accepted once, never for the session; what it refuses is
//     declined, so that the turn goes on. All else goes to the editor's dialog as it came.
//   - What would be typed into a program that runs is declined, and so is a program that waits
//     for such input outside of Codex's sandbox: Codex tells nobody what is typed.
//   - A question that Codex takes back is answered by nobody. The editor is not told of the end
//     of a question that it has not seen.
//   - A request of an unknown kind is refused, since the editor's answer might allow something by
//     default.
//   - A message of Codex that two readers could read as two different things is not forwarded.
//   - When one side ends, the other side is closed, and what waits is answered by nobody.
package appserver
