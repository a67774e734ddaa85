// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now
// Written by `umpire setup amp`; `umpire setup amp --undo` takes it away.
// It asks umpire before each call. Whatever goes wrong here stops the call.
import { spawn } from "node:child_process"

const command = {{words}}

function ask(question: unknown): Promise<string> {
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

export default function (amp: any) {
  amp.on("tool.call", async (event: any) => {
    try {
      const answer = await ask({
        hook: "tool.call", thread: event.thread?.id ?? "", toolUseID: event.toolUseID, cwd: process.cwd(),
        tool: event.tool, input: event.input,
      })
      const said = answer.trim() === "" ? {} : JSON.parse(answer)
      if (said.decision === "deny") throw new Error(said.reason || "denied by umpire")
      return { action: "allow" }
    } catch (error) {
      return { action: "reject-and-continue", message: String(error instanceof Error ? error.message : error) }
    }
  })
}
