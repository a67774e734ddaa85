// Package acp stands between an editor and a coding agent that speak the Agent Client Protocol, and
// has umpire judge the agent's actions.
//
//	proxy := acp.Proxy{Editor: editor, Agent: agent, Judge: judge}
//	err := proxy.Run(ctx)
//
// The agent's requests session/request_permission, fs/* and terminal/create are judged. All
// other messages are forwarded byte for byte, in their order, in both directions.
//
//   - A question of the agent is answered with an option that it offered, found by its kind:
//     allow_once or reject_once, never one that allows or rejects always. If umpire has no
//     answer, the question goes to the editor as it came.
//   - fs/* and terminal/create are things that the editor does without a question. If umpire
//     has no answer, it asks its own question in the editor.
//   - A request that a person allowed in a question may run once, if the request that follows
//     is exactly the same.
//   - An ambiguous message of the agent, which two readers could understand differently, is
//     not forwarded.
//   - When one side ends, the other side is closed, and waiting requests stay unanswered.
package acp
