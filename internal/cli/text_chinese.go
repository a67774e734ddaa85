package cli

import "github.com/umpirehq/umpire/internal/view"

// chinese is 简体中文.
var chinese = view.Catalogue{
	rootShort: "判定 AI 编码代理的每一次工具调用：允许、询问或拒绝",
	"Usage:":  "用法：", "Aliases:": "别名：", "Examples:": "示例：", "Available Commands:": "命令：", "Additional Commands:": "其他命令：",
	"Global Flags:": "通用选项：", "Flags:": "选项：", "Additional help topics:": "其他主题：", "show this help": "显示本说明",
	`Use "{{.CommandPath}} [command] --help" for more information about a command.`: `用 "{{.CommandPath}} [command] --help" 查看某个命令的说明。`,
	rootLong: `umpire 判定 AI 编码代理的每一次工具调用，依据是该调用真正会做什么：允许它、询问人，或拒绝它。

从这些命令开始：

  umpire demo                      观看代理的调用如何被判定
  umpire check -- rm -rf build     会如何判定，以及原因
  umpire init claude               让 umpire 为 Claude Code 判定
  umpire doctor                    证明它确实在判定

之后，"umpire rules add allow 'Bash(make:*)'" 可以一劳永逸地解决一个问题，
"umpire status" 显示此处生效的规则。`,

	// Decisions.
	"rule":                         "规则",
	"in doubt":                     "无法确定",
	"the whole call":               "整个调用",
	"Tool classified as safe":      "该工具属于安全类",
	"Allowed by bypass mode":       "bypass 模式允许",
	"Allowed once by user":         "用户允许一次",
	"Allowed for this session":     "本次会话内允许",
	"All tools allowed (allowAll)": "已允许所有工具（allowAll）",
	"Medium risk is set to run":    "配置允许中等风险",
	"To settle this for next time, narrowest first:":                                    "下次不再询问，可添加规则（范围从小到大）：",
	"In brackets: rows that would have spoken later. umpire help order lists all rows.": "括号内的行排在后面，未起作用。全部行见 umpire help order。",
	"ACCESS": "访问", "RISK": "风险", "KNOWN FROM": "依据", "ROW": "行", "VERDICT": "判定", "WHY": "原因",

	// Rules and trust.
	"SOURCE": "来源", "ID": "编号", "ACTION": "动作", "RULE": "规则", "DESCRIPTION": "说明", "FILE": "文件",
	"added %s to %s\n": "已将 %s 添加到 %s\n",
	"the rules of %s are off: see umpire rules lint": "%s 中的规则未生效：见 umpire rules lint",
	"already there: %s in %s\n":                      "已存在：%s（%s）\n",
	"it covers commands that begin with %q":          "适用于以 %q 开头的命令",
	"it covers calls of %s on files that match %q":   "适用于对文件调用 %s，文件匹配 %q",
	"it covers calls of %s to %s":                    "适用于 %s 访问 %s 的调用",
	"it covers every call of every tool":             "适用于所有工具的每次调用",
	"it covers exactly the command %q":               "只适用于命令 %q",
	"it covers every command":                        "适用于所有命令",
	"it covers every call of %s":                     "适用于 %s 的每次调用",
	"it covers %s":                                   "适用于 %s",
	"this rule allows every tool":                    "此规则允许所有工具",
	"umpire knows no tool called %q":                 "umpire 不认识名为 %q 的工具",
	"; did you mean %q?":                             "；是否想写 %q？",
	"%q is still denied: %s":                         "%q 仍会被拒绝：%s",
	"%q still asks: %s":                              "%q 仍会询问：%s",
	"add it also when it looks like a slip":          "看起来像误写时也照样添加",
	"removed %s from %s\n":                           "已将 %s 从 %s 删除\n",
	"%s would allow:\n":                              "%s 将会允许：\n",
	"%s would run, as you:\n":                        "%s 将会以你的身份运行：\n",
	"nothing to trust: no allow rule and no hook of this project's files sleeps": "无需信任：本项目的文件中没有休眠的允许规则或钩子",
	"trusted %s as it is now\n":                  "已信任 %s 的当前内容\n",
	"trusted the code of %s as it is now (%s)\n": "已信任 %s 的代码的当前内容（%s）\n",
	"%d file that names code":                    "%d 个指定代码的文件", "%d files that name code": "%d 个指定代码的文件",
	"the code of %s is not trusted any more\n": "不再信任 %s 的代码\n",
	"the code of %s was not trusted\n":         "%s 的代码原本就未被信任\n",
	"the code of %s is not trusted\n":          "%s 的代码未被信任\n",
	"the code of %s is trusted\n":              "%s 的代码已被信任\n",
	"the trust in the code of %s has ended:\n": "对 %s 的代码的信任已失效：\n",
	"%s is not trusted any more\n":             "不再信任 %s\n",
	"%s is degraded: see umpire status":        "%s 已损坏：见 umpire status",
	"%s: %s; see umpire trust --show":          "%s：%s；见 umpire trust --show",
	"%d allow rule asleep":                     "%d 条允许规则休眠", "%d allow rules asleep": "%d 条允许规则休眠",
	"it sleeps with the file's other allow rules until you run umpire trust": "运行 umpire trust 之前，它与该文件的其他允许规则一样休眠",
	"%d examples hold, %d rules fail, %d rules have no examples\n":           "%d 个示例成立，%d 条规则失败，%d 条规则没有示例\n",
	"nothing is wrong":    "没有问题",
	"FAIL":                "失败",
	"%s imported into %s": "已将 %s导入 %s",
	"left out: %s\n":      "未采用：%s\n",

	// Status.
	"project": "项目", "root": "根目录", "worktree": "工作树", "main": "主工作树", "working directory": "工作目录",
	"mode": "模式", "permission state": "权限状态", "gate": "闸门", "no gate is running": "没有运行中的闸门", "note": "备注",
	"health missing": "不存在", "health ok": "正常", "health degraded": "已损坏", "health untrusted": "未信任",
	"rule files": "规则文件", "%d rules": "%d 条规则", "%d rule": "%d 条规则", "%d hook": "%d 个钩子", "%d hook asleep": "%d 个钩子休眠",
	"rules.off can switch it off": "可用 rules.off 关闭", "switched off by rules.off": "已由 rules.off 关闭",
	"until %s": "至 %s", "expired %s": "已于 %s 失效", "%d asleep": "%d 条休眠", "%d hooks": "%d 个钩子", "hooks": "钩子", "%d hooks asleep": "%d 个钩子休眠",
	"A deny or ask rule may be missing, so every call asks until the file is mended.": "可能缺少拒绝或询问规则：修复该文件之前，每次调用都会询问。",
	"Allow rules or hooks sleep: umpire trust --show":                                 "有允许规则或钩子休眠：umpire trust --show",
	"KEY": "键", "VALUE": "值", "MEANS": "含义",

	// Help.
	"Where to begin:": "从这里开始：", "Rules:": "规则：", "Looking:": "查看：",
	"Decide one call, or a stream of calls, and say why":                                        "判定一次或一串调用，并说明原因",
	"List, add, remove and test rules":                                                          "列出、添加、删除和测试规则",
	"List the rules that hold here":                                                             "列出此处生效的规则",
	"Add a rule: allow, ask or deny":                                                            "添加规则：允许、询问或拒绝",
	"Remove a rule":                                                                             "删除规则",
	"Hold every rule to its own examples":                                                       "用每条规则自带的示例检验它",
	"Say what is wrong in the rule files, and where":                                            "指出规则文件中的问题及位置",
	"Copy the rules of another tool's file":                                                     "复制其他工具的规则",
	"Let the allow rules and hooks of this project's files hold":                                "让本项目文件中的允许规则和钩子生效",
	"Show the project, the mode and the health of the rule files":                               "显示项目、模式和规则文件的状态",
	"Show the configuration in force, and where each value comes from":                          "显示生效的配置及其来源",
	"Shows the version, the commit it was built from, the Go release and the platform.":         "显示版本、构建所用的提交、Go 版本和平台。",
	"umpire check --stdin ends with 0 when all lines were read; each line has its own verdict.": "读完所有行后 umpire check --stdin 以 0 结束；每一行有自己的判定。",
	"Show which umpire this is":                                                                 "显示版本",
	"What the exit codes mean":                                                                  "退出码的含义",
	"What happens where no rule speaks":                                                         "没有规则时如何处理",
	"How a call is decided, row by row":                                                         "逐行说明如何判定",
	"next":                                                                                      "下一步",
	"run it yourself, in a terminal that no agent started":                                      "请在不是由代理启动的终端里亲自运行",
	"Every command ends with one of these codes:":                                               "每个命令以下列退出码之一结束：",
	"done, or the call is allowed":                                                              "完成，或调用被允许",
	"something went wrong":                                                                      "出错",
	"the call is denied":                                                                        "调用被拒绝",
	"the call asks a person, or nobody answered in time":                                        "需要人来决定，或无人及时回答",
	"wrong usage or broken configuration":                                                       "用法错误或配置损坏",
	"the gate cannot be reached":                                                                "无法连接闸门",
	"the state of things refuses it: needs a person, not trusted, resolved already":             "状态不允许：需要由人操作、未被信任或已有结论",
	"write JSON": "输出 JSON",
}
