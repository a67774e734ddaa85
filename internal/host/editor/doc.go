// Package editor stands between an editor and a coding agent, and has umpire judge the agent's actions.
//
//	proxy := editor.ACPProxy{Editor: editor, Agent: agent, Judge: judge}
//	err := proxy.Run(ctx)
//
// [ACPProxy] is for agents that speak the Agent Client Protocol, [CodexProxy] for Codex, which an editor drives
// through codex app-server. Requests that act are judged. All other messages are forwarded byte for byte, in
// their order, in both directions.
//
//   - An ambiguous message of the agent, which two readers could understand differently, is
//     not forwarded.
//   - When one side ends, the other side is closed, and waiting requests stay unanswered.
//
// # Agent Client Protocol
//
// The agent's requests session/request_permission, fs/* and terminal/create are judged.
//
//   - A question of the agent is answered with an option that it offered, found by its kind:
//     allow_once or reject_once, never one that allows or rejects always. If umpire has no
//     answer, the question goes to the editor as it came.
//   - fs/* and terminal/create are things that the editor does without a question. If umpire
//     has no answer, it asks its own question in the editor.
//   - A request that a person allowed in a question may run once, if the request that follows
//     is exactly the same.
//
// # Codex
//
// Questions about commands, files, the network, more rights and tools of MCP servers are judged.
//
//   - A call known to be safe is accepted once, never for the session. A refused call is
//     declined, and the turn continues. All other questions go to the editor's dialog as they came.
//   - Input typed into a running program is declined, and so is a program that waits for such
//     input outside of Codex's sandbox: Codex does not report the typed text.
//   - A question that Codex withdraws stays unanswered. The editor is not told of the end
//     of a question that it has not seen.
//   - A request of an unknown kind is refused, because the editor's answer might allow something by
//     default.
package editor
