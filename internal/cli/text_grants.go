package cli

import "github.com/umpirehq/umpire/internal/view"

const grantsLong = `Lists what you approved in this project beside the rules: grants for one call or for a
session, answers that auto mode remembers, and allowAll, with who gave it, how old it is,
when it ends and how often it was used. Rules are in umpire rules list.

umpire grants revoke takes one back, or all with --all: from then on the calls ask again.
allowAll is switched with umpire mode --allow-all on or off.`

const grantsExample = `  umpire grants
  umpire grants list --json
  umpire grants revoke --all`

// chineseGrants are the texts of `umpire grants` in 简体中文.
var chineseGrants = view.Catalogue{
	grantsLong: `列出你在本项目中除规则之外批准过的一切：针对一次调用或一个会话的授权、auto 模式记住的回答，
以及“全部允许”，并显示由谁授予、多久以前、何时结束、用过几次。规则见 umpire rules list。

umpire grants revoke 收回一项，加 --all 收回全部：此后这些调用会再次询问。
“全部允许”用 umpire mode --allow-all on 或 off 切换。`,
	"List what you approved beside the rules, and take it back": "列出除规则之外批准过的内容，并可收回",
	"List the grants of this project":                           "列出本项目的授权",
	"Take a grant back, or all of them":                         "收回一项授权，或全部收回",
	"take back every grant of this project":                     "收回本项目的所有授权",
	"nothing is granted beside the rules":                       "除规则之外没有授权",
	"looking at the grants":                                     "查看授权",
	"revoking a grant":                                          "收回授权",
	"want the ID of one grant, or --all":                        "需要一项授权的 ID，或 --all",
	"revoked %s: %s\n":                                          "已收回 %s：%s\n",
	"what no rule and no guard asks about":                      "没有规则或保护询问的一切",
	"GRANT":                                                     "授权", "KIND": "种类", "COVERS": "范围", "ENDS": "结束", "USES": "使用", "GIVEN BY": "授予者",
	"grant once": "一次", "grant session": "会话", "grant project": "项目", "grant global": "全局", "grant remembered": "记住的回答",
	"grant allow_all": "全部允许", "grant code": "代码",
	"tests, scripts and tool settings of this clone": "此克隆的测试、脚本和工具设置",
	"grants": "授权", "%d grant": "%d 项授权", "%d grants": "%d 项授权", "ALLOW ALL is on": "已开启“全部允许”",
	"exactly this": "完全相同", "this subcommand, with options and targets of no higher consequence": "同一子命令，选项和目标的后果不更高",
	"everything below the folder": "目录之下的一切", "every use of the tool, on every file": "该工具的每次使用，每个文件",
	"the worst `CONSEQUENCE` that it allows: none, reversible, outward or lost":     "允许的最坏后果 `CONSEQUENCE`：none、reversible、outward 或 lost",
	"`shown` allows options that the rule does not name only where they do no more": "`shown` 只在规则未写出的选项作用不更大时才允许",
}
