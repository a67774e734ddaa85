package cli

import (
	"github.com/umpirehq/umpire/internal/cli/bench"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseBench are the texts of `umpire bench` in 简体中文.
var chineseBench = view.Catalogue{
	"Count wrong verdicts over labelled commands, of umpire or any hook": "在带标注的命令上统计 umpire 或任何钩子的错误判定",
	bench.Long: `判定带标注的命令行，并统计判定出错的次数；可以检验 umpire 自己，也可以检验任何其他钩子。

FILE 的每一行是一个 JSON 对象："command"、"want"，以及可选的 "id"、"class"、"why"
和 "count"（该命令被输入的次数）。want 的取值：

  safe       应当无需询问就运行
  not-safe   没有人批准、也没有规则允许就不得运行
  critical   必须拒绝，而不是询问
  any        见仁见智，但没有理由拒绝

不给出 FILE 时，判定 umpire 自带的行。判定使用 umpire 的内置知识和 default 模式，
不使用你的规则，并在为此新建的空 git 项目中进行；--cwd 改在另一个目录中判定，
该目录自己的规则文件有效。

给出 --hook 时，由另一个程序判定。--format 说明如何询问它：

  claude   每行一个进程，它得到 Claude Code 的 PreToolUse 事件，用 permissionDecision
           回答，或以退出码 2 拒绝；退出码 0 而没有判定则放行
  umpire   每行一个进程，它得到 {"id","command","cwd"}，用 verdict 回答，
           或像 "umpire check" 那样用退出码回答
  jsonl    所有行共用一个进程，它对 {"id","command"} 用一行 {"id","verdict"} 回答，
           然后才得到下一行

命令只被判定，从不运行；钩子会运行。超过限度时退出码为 1；设有限度而某行没有得到
回答时也是 1。`,

	"%s: %d lines": "%s:%d 行", ", %d more that cannot be read": "，另有 %d 行无法读取",
	"false allows": "误放行", "needless asks": "多余的询问", "critical refusals": "拒绝致命命令", "over-refusals": "过度拒绝", "unasked": "未经询问",
	"lines that must not run unasked": "个未经询问不可运行的行", "safe lines": "个安全的行", "critical lines": "个致命的行",
	"lines that nobody need refuse": "个无需拒绝的行", "typed calls": "次输入的调用",
	"no answer": "没有回答", "speed": "速度",
	"%d of %d %s":                                 "%d / %d %s",
	"%d crashed, %d hung, %d missing":             "%d 次崩溃，%d 次超时，%d 次缺失",
	"%.0f\tcalls per second, the slowest %s (%s)": "%.0f\t次调用每秒，最慢 %s(%s)",
	"%d of %d of class %s":                        "%d / %d，类别 %s", "(none)": "（无）",
	"false allow": "误放行", "needless ask": "多余的询问", "critical not refused": "致命而未拒绝", "over-refusal": "过度拒绝",
}
