// Written by `umpire init opencode`; `umpire init opencode --undo` takes it away.
// Before each call it asks umpire. Whatever goes wrong here stops the call.
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

export const Umpire = async ({ directory, worktree }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask({
      hook: "tool.execute.before", tool: input.tool, sessionID: input.sessionID, callID: input.callID,
      args: output.args, directory, worktree,
    })
    if (answer.trim() !== "") {
      const { args } = JSON.parse(answer)
      if (args) output.args = Object.assign(output.args, args)
    }
  },
})
