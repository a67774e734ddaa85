package cli

import (
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseChat are the texts of `umpire chat` in 简体中文.
var chineseChat = view.Catalogue{
	"Talk with the built-in agent, and answer its questions where they come up": "与内置代理对话，并就地回答它的询问",
	run.ChatLong: `在终端上与内置代理对话。它的话随到随显示，它的调用连同结果一起显示；需要询问时，卡片就出现在对话中，
你按一个键即可回答。底部一行显示权限的状态。

  y s p g   允许：本次、本会话、作为项目规则、作为全局规则
  n c       拒绝（可附原因）；取消：拒绝并停止本轮
  e v d     说明、原始输入、差异
  j k Y     下一个和上一个等待的调用；允许所有同级风险的调用一次
  Tab       在有调用等待时写消息：消息会排队
  Esc       停止代理正在做的事

卡片显示片刻之前输入的内容不算回答，对着卡片输入的词会成为消息，回车从不表示批准。按 Up 取回以前写过的内容。/help 列出各命令：/status /mode /resume /sessions /fork
/timeline /rules /agents /plan /exit-plan /help /quit。

使用 --plain、在功能有限的终端（TERM=dumb）上，或设置了 ACCESSIBLE=1 时，按行对话，不用颜色和光标移动。
使用 --json 时，事件写到标准输出，其他内容写到标准错误。遵从 NO_COLOR。

它供人使用：由代理启动的进程会被拒绝。一切在发生时即被保存；--continue 从离开或被杀死之处继续。`,
	"line by line, without colours and cursor movements, for screen readers": "按行显示，不用颜色和光标移动，供屏幕阅读器使用",
	"session %s can be gone on with: %s":                                     "会话 %s 可以继续：%s",
	"the turn was cancelled":                                                 "本轮已取消",
	"denied because nobody answered in time: %d":                             "因无人及时回答而被拒绝：%d",
}
