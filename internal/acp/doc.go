// Package acp stands between an editor and a coding agent that speak the Agent Client
// Protocol, and has umpire judge what the agent wants to do.
//
//	proxy := acp.Proxy{Editor: editor, Agent: agent, Judge: judge}
//	err := proxy.Run(ctx)
//
// The agent's requests session/request_permission, fs/* and terminal/create are judged. All
// other messages are forwarded byte for byte, in their order, in both directions.
//
//   - A question of the agent is answered with an option that it offered, found by its kind:
//     allow_once or reject_once, never one that allows or rejects always. Where umpire has no
//     answer, the question goes to the editor as it came.
//   - fs/* and terminal/create are things that the editor does without a question. Where umpire
//     has no answer, a question of umpire's own goes to the editor.
//   - What a person allowed in a question may be done once by the request that follows, if it
//     is exactly that.
//   - A message of the agent that two readers could read as two different things is not
//     forwarded.
//   - When one side ends, the other side is closed, and what waits is answered by nobody.
package acp
