package cli

import (
	"github.com/umpirehq/umpire/internal/cli/check"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseFlags are the usages of flags in 简体中文. The word in backquotes is the
// name of the value.
var chineseFlags = view.Catalogue{
	check.UnheldFlag: "按宿主来判定：宿主运行命令时不用 umpire 的沙箱",
	"trust the code of this clone: its tests, scripts and tool settings":                   "信任此克隆的代码：测试、脚本和工具设置",
	"with --code: trust it no more":                                                        "与 --code 一起：不再信任",
	"decide a call of the tool `NAME` instead of a command":                                "判定工具 `NAME` 的调用，而不是一条命令",
	"the tool's input, a `JSON` object":                                                    "工具的输入，一个 `JSON` 对象",
	"read one call per line, write one decision per line":                                  "每行读取一次调用，每行写出一个判定",
	"the working `DIR` of the call (default: this one)":                                    "调用的工作目录 `DIR`（默认：当前目录）",
	"the `DIR` that tells the project (default: that of the call)":                         "用来确定项目的目录 `DIR`（默认：调用的目录）",
	"`MODE`: default, auto, ask, reject, plan or bypass (default: from the configuration)": "`MODE`:default、auto、ask、reject、plan 或 bypass（默认：取自配置）",
	"permit the mode bypass":                                                               "准许使用 bypass 模式",
	"nobody can answer: what would ask is denied":                                          "无人可以回答：本应询问的一律拒绝",
	"also obey the rules in `FILE`; may be repeated":                                       "同时遵守 `FILE` 中的规则；可重复给出",
	"allow these `RULES`, in short form: Read,'Bash(npm test:*)'":                          "允许这些规则 `RULES`，用简写：Read,'Bash(npm test:*)'",
	"count `DIR` as inside the project; may be repeated":                                   "把 `DIR` 视为项目之内；可重复给出",
	"show every row that spoke, for every access":                                          "显示每个访问的每一条起作用的行",

	"also list the rules that are part of umpire":                            "同时列出 umpire 内置的规则",
	"`TEXT` that is shown as the reason":                                     "作为原因显示的文字 `TEXT`",
	"a `CALL` the rule must match; may be repeated":                          "规则必须匹配的调用 `CALL`；可重复给出",
	"a `CALL` the rule must not match; may be repeated":                      "规则不得匹配的调用 `CALL`；可重复给出",
	"`WHEN` it ends: 2027-01-01, an RFC 3339 time, or a duration such as 8h": "何时 `WHEN` 失效：2027-01-01、RFC 3339 时间，或 8h 这样的时长",
	"the rule's `ID` (default: made from the rule)":                          "规则的编号 `ID`（默认：由规则生成）",
	"`SCOPE`: project or global":                                             "范围 `SCOPE`:project 或 global",
	"`SCOPE`: project or global (default: where the rule is)":                "范围 `SCOPE`:project 或 global（默认：规则所在之处）",
	"show the rules and write nothing":                                       "只显示规则，不写入",
	"let them sleep again":                                                   "让它们重新休眠",
	"only show what would start to allow":                                    "只显示哪些规则将开始允许",

	"let the shell `COMMAND` judge instead of umpire":                  "由 shell 命令 `COMMAND` 代替 umpire 判定",
	"how the hook is asked: claude, umpire or jsonl (default: claude)": "如何询问钩子：claude、umpire 或 jsonl（默认：claude）",
	"the working `DIR` of the commands (default: an empty project)":    "命令的工作目录 `DIR`（默认：一个空项目）",
	"count what is wrong by `FIELD`: class":                            "按 `FIELD` 统计错误：class",
	"show up to `N` wrong verdicts of each kind":                       "每一类最多显示 `N` 个错误判定",
	"fail when more than `N` lines of a file are falsely allowed":      "一个文件中误放行超过 `N` 行时失败",
	"fail when more than `P` per cent of a file's safe lines ask":      "一个文件的安全行中询问的超过百分之 `P` 时失败",
	"judge with your rules and configuration too":                      "判定时也使用你的规则和配置",
}
