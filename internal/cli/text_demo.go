package cli

import (
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseDemo are the texts of `umpire demo` in 简体中文.
var chineseDemo = view.Catalogue{
	"Watch an agent's calls being decided, in a throw-away project": "在一次性的项目中观看代理的调用如何被判定",
	run.DemoLong: `在临时目录中建立一个小的 git 仓库，让内置代理在其中工作。它的模型按脚本回复；工具、闸门和时间线都是真的。
第一条消息中有安全的调用、一个需要询问的调用，以及一个会删除主目录的调用：全部等待你的回答，然后按顺序执行，
最后一个被拒绝。

不读写临时目录之外的任何东西，结束时删除该目录。`,
	run.DemoCompiled: "由 go run 启动：首次启动需要编译一到四分钟，之后几秒内即可开始。",
	run.DemoIntro: `按脚本回复的模型在 %s 中工作。
一条消息中只要有一个调用需要询问，整条消息都会等待。`,
	run.DemoNext: `下一步：
  umpire init claude            把 umpire 放在 Claude Code 之前
  umpire check -- COMMAND       查看命令如何判定
  umpire help order             了解原因`,
	"approve what asks, once each, instead of asking you":  "对需要询问的逐个批准一次，不询问你",
	"leave the project and its timeline where they are":    "保留项目及其时间线",
	"approved by --yes: %s":                                "由 --yes 批准：%s",
	"What the timeline has of it:":                         "时间线上的记录：",
	"It stays in %s; umpire finds it with UMPIRE_HOME=%s.": "保留在 %s；设置 UMPIRE_HOME=%s 后 umpire 可以找到它。",
}
