package cli

import "github.com/umpirehq/umpire/internal/view"

const chatLong = `Talks with the built-in agent on the terminal. What it says is shown as it comes in, its
calls with their results, and when a call asks, its card stands in the conversation and
you answer with one key. The line at the bottom says how the permissions stand.

  y s p g   allow: once, for the session, as a rule of the project, as a rule everywhere
  n c       deny, with a reason if you like; cancel: deny and stop the turn
  e v d     explain, raw input, diff
  j k Y     next and last call that waits; allow all of the same risk once
  Tab       write a message while a call waits: it is queued
  Esc       stop what the agent does

What was typed before a card stood there for a moment answers nothing, a word that is typed
at a card becomes a message, and Enter never approves. Up calls back what was written. /help lists the commands: /status /mode /resume /sessions /fork /timeline /rules
/agents /plan /exit-plan /help /quit.

With --plain, on a terminal that can do little (TERM=dumb), or with ACCESSIBLE=1, it
talks line by line, without colours and cursor movements. With --json the events go to
standard output and everything else to standard error. NO_COLOR is honoured.

It is for a person: it is refused in a process that an agent started. Everything is
stored as it happens; --continue goes on where it was left or killed.`

const chatExample = `  umpire chat --model script:demo.json
  umpire chat --model script:demo.json "fix the tests"
  umpire chat --model script:demo.json --continue`

// chineseChat are the texts of `umpire chat` in 简体中文.
var chineseChat = view.Catalogue{
	"Talk with the built-in agent, and answer its questions where they come up": "与内置代理对话，并就地回答它的询问",
	chatLong: `在终端上与内置代理对话。它的话随到随显示，它的调用连同结果一起显示；需要询问时，卡片就出现在对话中，
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
