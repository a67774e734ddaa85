// Written by `umpire setup opencode`; `umpire setup opencode --undo` takes it away.
// It asks umpire before each call. Whatever goes wrong here stops the call.
import { spawn } from "node:child_process"

const command = {{words}}

function ask(question) {
  return new Promise((resolve, reject) => {
    const hook = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    let out = "", err = ""
    hook.stdout.on("data", (data) => { out += data })
    hook.stderr.on("data", (data) => { err += data })
    hook.on("error", (error) => reject(new Error("umpire cannot be started: " + error.message)))
    hook.on("close", (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(err.trim() || "umpire did not answer"))
    })
    hook.stdin.on("error", () => {})
    hook.stdin.end(JSON.stringify(question))
  })
}

const mode = process.argv.includes("--auto") ? "auto" : ""

export const Umpire = async ({ client, directory }) => {
  const calls = new Map()
  // What a person approved in umpire, as it was then, by the call that it is about.
  const approved = new Map()
  const keyOf = (session, call) => session + " " + call
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask({
        hook: "tool.execute.before", sessionID: input.sessionID, callID: input.callID, directory, mode,
        tool: input.tool, args: output.args,
      })
      if (answer.trim() !== "") {
        const said = JSON.parse(answer)
        if (said.decision === "deny") throw new Error(said.reason || "denied by umpire")
        if (said.args) Object.assign(output.args, said.args)
        if (said.approved === true) {
          approved.set(keyOf(input.sessionID, input.callID), { args: output.args, was: JSON.stringify(output.args) })
        }
      }
      calls.set(input.callID, output.args)
    },
    // opencode may ask about a call after this plugin: its person has settings of their own. A question about
    // the very call that a person approved is answered with "once". All others are left alone, and so is one
    // about a call that another plugin has changed since.
    event: async ({ event }) => {
      if (event.type !== "permission.asked") return
      const { id, sessionID, tool } = event.properties
      const call = tool && approved.get(keyOf(sessionID, tool.callID))
      if (!call || JSON.stringify(call.args) !== call.was) return
      await client.postSessionIdPermissionsPermissionId({
        path: { id: sessionID, permissionID: id }, query: { directory }, body: { response: "once" },
      }).catch(() => {})
    },
    "tool.execute.after": async (input, output) => {
      approved.delete(keyOf(input.sessionID, input.callID))
      const args = calls.get(input.callID) ?? input.args ?? {}
      calls.delete(input.callID)
      await ask({
        hook: "tool.execute.after", sessionID: input.sessionID, callID: input.callID, directory,
        tool: input.tool, args, output: String(output.output ?? ""),
      }).catch(() => {})
    },
  }
}
