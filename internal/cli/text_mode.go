package cli

import "github.com/umpirehq/umpire/internal/view"

const modeLong = `Shows the mode of a session: the latest one of this project, or the one that --session
names. With a MODE it switches it, from the session's next call on. Other sessions keep
theirs; a new one of this project begins with what was chosen last, if that was default,
auto or ask. See umpire help modes.

The mode bypass has to be permitted when the session begins: umpire run --allow-bypass.
In auto mode, allow rules that would allow everything have no say; they are listed.

In plan mode only reads run, and what else the agent wants to do is noted as planned. It
leaves plan mode by asking you (its tool ExitPlanMode), or by you with --leave-plan: then
the mode before is back, and the planned files may be changed without a further
question. One that was changed by somebody else since it was planned asks again, and so
does everything that was not planned.

Switching needs a person.`

const modeExample = `  umpire mode
  umpire mode plan
  umpire mode --leave-plan
  umpire mode auto --session s4k7m`

// chineseMode are the texts of `umpire mode` in 简体中文.
var chineseMode = view.Catalogue{
	modeLong: `显示一个会话的模式：本项目最近的会话，或 --session 指定的会话。给出 MODE 则从该会话的下一次
调用起切换。其他会话不变；本项目的新会话以最近选定的模式开始（default、auto 或 ask）。
见 umpire help modes。

bypass 模式必须在会话开始时获准：umpire run --allow-bypass。
在 auto 模式中，会允许一切的允许规则不起作用，并会列出。

在 plan 模式中只执行读取，代理想做的其他事记为计划。代理通过询问你（其工具 ExitPlanMode）离开
计划模式，或由你用 --leave-plan 离开：随后恢复之前的模式，计划中的文件可以修改而不再询问。
计划之后被他人改动的文件会再次询问，未列入计划的一切也会询问。

切换需要由人来做。`,
	"Show or switch a session's mode, or leave plan mode":                        "显示或切换会话的模式，或离开计划模式",
	"the session `ID` (default: the latest of this worktree)":                    "会话 `ID`（默认：本工作树最近的会话）",
	"`on` or off: allow what no rule and no guard asks about, in this workspace": "`on` 或 off：在本工作区允许没有规则或保护询问的一切",
	"go back to the mode before, and let the planned files be changed":           "回到之前的模式，并允许修改计划中的文件",
	"session %s is in mode %s\n":                                                 "会话 %s 的模式是 %s\n",
	"session %s is in mode %s now\n":                                             "会话 %s 的模式现在是 %s\n",
	"the mode before was %s\n":                                                   "之前的模式是 %s\n",
	"planned":                                                                    "计划",
	"may be changed without a further question":                                  "可以修改而不再询问",
	"was changed since it was planned, and asks":                                 "在计划之后被改动，会再次询问",
	"too broad for auto mode, and without a say in it":                           "对 auto 模式过于宽泛，在其中不起作用",
	"has its say again":                                                          "重新起作用",
	"switching the mode":                                                         "切换模式",
	"Leaves plan mode: the planned files may be changed from then on":            "离开计划模式：此后可以修改计划中的文件",
}
