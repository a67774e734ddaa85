package cli

import (
	"github.com/umpirehq/umpire/internal/cli/doctor"
	"github.com/umpirehq/umpire/internal/cli/hook"
	"github.com/umpirehq/umpire/internal/cli/register"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseHook are the texts of hook, init and doctor in 简体中文.
var chineseHook = view.Catalogue{
	"Answer another agent's permission question": "回答其他代理的权限询问",
	hook.Help: `从标准输入读取代理的询问，并用该代理自己的格式把回答写到标准输出。
代理会自行启动它：见 umpire init。

读不懂或无法判定的，一律拒绝。`,
	"auto: hold where an inbox is open or no terminal is, else native, the agent's own prompt; or hold; or native": "auto：有收件箱打开或没有终端时保留，否则按 native 交给代理自己的提示；也可写 hold 或 native",
	"the agent's own settings folder; init writes it where the person has set another than the usual one":          "代理自己的设置目录；用户设置了非默认位置时由 init 写入",
	"umpire's own folder; init writes it, and the environment then does not count":                                 "umpire 自己的目录；由 init 写入，此时环境变量不起作用",
	"deny by itself after this time; init writes it 5s below the agent's own limit":                                "超过此时间自行拒绝；init 写入的值比代理的时限少 5 秒",
	"unknown agent": "未知的代理",
	"known agents":  "已知的代理",

	"Register umpire with an agent": "在代理中登记 umpire",
	register.Help: `把 umpire 的钩子写入代理的设置并显示改动。文件的其余内容保持不变，重复执行与执行一次相同。

不给出 AGENT 时，列出已知的代理以及找到了什么。`,
	"whose settings: user or project":   "谁的设置：user 或 project",
	"show the change and write nothing": "只显示改动，不写入",
	"take the registration back":        "撤销登记",
	"nothing to change":                 "无需改动",
	"registered in":                     "已登记于",
	"not registered":                    "未登记",
	"speaks the marker protocol: let it start `umpire hook muse`": "使用标记协议：让它启动 `umpire hook muse`",
	"Claude Code does not ask umpire any more":                    "Claude Code 不再询问 umpire",
	register.RemarkNoVersion:                                      "PATH 中没有 claude，版本未知：钩子无法启动时不会阻止调用；安装后请再次执行 umpire init claude",
	register.RemarkOldVersion:                                     "此版本的 Claude Code 在钩子无法启动时仍会执行调用；请更新后再次执行 umpire init claude",
	register.RemarkProjectScope:                                   "文件中写有本机的路径；提交之前请三思",

	"Prove that the gate works": "证明闸门有效",
	doctor.Help: `检查 umpire 自己的文件和代理的设置，然后完全按代理的方式启动已登记的钩子：
毁坏系统的调用必须被拒绝，无害的调用必须被允许。这些调用都不会真正执行。

退出码 0：一切正常（可有警告）。1：有检查失败。`,
	"write JSON": "输出 JSON",

	"install umpire elsewhere, then umpire init claude":                           "把 umpire 装到别处，然后执行 umpire init claude",
	"put claude on PATH and run umpire doctor again":                              "把 claude 加入 PATH，然后再次执行 umpire doctor",
	"update Claude Code, then umpire init claude":                                 "更新 Claude Code，然后执行 umpire init claude",
	"read it, then umpire trust":                                                  "阅读之后执行 umpire trust",
	"set HOME or UMPIRE_HOME":                                                     "设置 HOME 或 UMPIRE_HOME",
	"remove it, or start claude with --settings and a file that sets it to false": "删除它，或用 --settings 指定一个将其设为 false 的文件来启动 claude",
}
