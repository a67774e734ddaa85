package cli

import (
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseRun are the texts of `umpire run` in 简体中文.
var chineseRun = view.Catalogue{
	config.OnlyTightens:        "%s:%d：忽略 %s：项目只能收紧",
	config.OnlyTightensManaged: "%s:%d：忽略 %s：它由 %s 设定，你只能收紧",
	config.NotEnforced:         "%s：没有强制执行闸门：umpire 只记录并警告，只拒绝极危险、禁止或格式错误的调用",
	config.LimitsNothing:       "%s:agents.%s.editableFileSuffixes 中没有一项是有效的后缀，因此可编辑所有文件",
	config.NeverMatches:        "%s:%q（agents.%s.editableFileSuffixes）不匹配任何文件：后缀从最后一个点开始",
	"It would change:":         "将要作出的更改：",
	"all tools":                "所有工具", "no tools": "没有工具", "every suffix": "不限制后缀", "for every write": "适用于所有写入",
	"decide as for this `PROFILE` of the configuration's agents (default: main's suffixes alone)": "按配置中 agents 的这个 `PROFILE` 判定（默认：只按 main 的后缀）",
	"MCP server %q is left out: %v":                                                              "MCP 服务器 %q 不可用：%v",
	"MCP server %q has ended: %s":                                                                "MCP 服务器 %q 已结束：%s",
	"tool %q of MCP server %q is left out: %v":                                                   "已略去 MCP 服务器的工具（%q，服务器 %q）：%v",
	"tools %q and %q of MCP server %q have one name, %s: neither can be called":                  "工具 %q 和 %q（MCP 服务器 %q）同名 %s：两者都不能调用",
	"MCP tool %s is described otherwise than when it was last called, so that it is asked about": "MCP 工具 %s 的描述与上次调用时不同，因此需要询问",
	"MCP tool %s is asked about the next time, too: %v":                                          "MCP 工具 %s 下次仍需询问：%v",
	"every MCP tool is asked about: %v":                                                          "所有 MCP 工具都需要询问：%v",
	"MCP tool %s is not run any more: %v":                                                        "MCP 工具 %s 不再执行：%v",
	"Give the built-in agent a task; every call goes through the gate":                           "给内置代理一个任务；每次调用都经过闸门",
	run.Long: `给内置代理一个任务，一直运行到没有更多的事可做。每次工具调用都经过闸门：先判定，执行前先保存，
需要询问时一直保持等待。同一条消息中的调用按顺序执行，在全部判定之前都不执行。

由谁回答：
  有闸门在运行（umpire serve）    回答闸门的人：umpire pending、umpire approve
  没有闸门，但有终端              你，就在此处
  两者都没有                      无人：本应询问的一律拒绝，并告知模型

助手的话写到标准输出，每次调用在标准错误中占一行。使用 --json 时，标准输出改为会话的事件，每行一个 JSON 对象。

一切在发生时即被保存。被中断的运行可用 --continue 或 --session ID 继续：执行过的不会再次执行；无法得知某个调用
是否执行过时，会询问你。用 --session ID 指定的会话正在等待，
或由其他进程运行时，给它的 TASK 会排队。

模型由 --model 或代理配置中的 model 指定：
  anthropic:NAME    Anthropic 的模型；密钥为 ANTHROPIC_API_KEY，服务器为 ANTHROPIC_BASE_URL
  openai:NAME       OpenAI 的模型；密钥为 OPENAI_API_KEY。设有 OPENAI_BASE_URL 时，为使用
                    Chat Completions 的服务器；openai-responses:NAME 和 openai-chat:NAME
                    不论服务器为何都指定接口
  script:FILE       不用模型：按脚本回复
密钥不会传给代理所执行的命令。

--model script:FILE 按脚本回复：一个由轮次组成的 JSON 数组，每个为 {"text", "calls": [{"id", "tool", "input"}],
"delay_ms"}，均可省略，每轮回复一次请求；超出末尾后回复 "done"。

代理完成时退出码为 0，途中你拒绝过调用时也是；因无人可问而拒绝了调用，或你取消了本轮时为 2；仍有调用在等待，
或无人及时回答时为 3；没有可继续的内容，或会话不可用时为 6。`,

	"the `MODEL` to ask: anthropic:NAME, openai:NAME, or script:FILE":                          "要询问的模型 `MODEL`:anthropic:NAME、openai:NAME 或 script:FILE",
	"how hard the model is to think: low, medium or high (`EFFORT`; default: the model's own)": "模型思考的力度 `EFFORT`:low、medium 或 high（默认：由模型自定）",
	"the reply broke off; the model is asked again":                                            "回复中断，正在重新询问模型",
	"append every request to the model to `FILE`, one JSON object a line":                      "把发给模型的每次请求追加到 `FILE`，每行一个 JSON 对象",
	"run as this `PROFILE` of the configuration's agents (default: main)":                      "以配置中 agents 的这个 `PROFILE` 运行（默认：main）",
	"continue the latest session of this worktree":                                             "继续本工作树最近的会话",
	"continuing session %s in %s":                                                              "继续会话 %s，目录：%s",
	"go on with the session `ID`":                                                              "继续会话 `ID`",
	"begin a session with the conversation of the session `ID`, without its grants":            "以会话 `ID` 的对话开始一个新会话，不带其授权",
	"permit continuing a session of another project":                                           "准许继续其他项目的会话",
	"write the session's events as lines of JSON, and nothing else":                            "把会话的事件写成 JSON 行，不写其他内容",
	"ending %s, which still runs in the background: %s":                                        "结束仍在后台运行的 %s:%s",
	"queued: session %s waits for answers first (umpire pending): %d":                          "已排队：会话 %s 先要等待回答（umpire pending）：%d",
	"queued: session %s is run by %s":                                                          "已排队：会话 %s 正由 %s 运行",
	"waiting for answers (umpire pending): %d":                                                 "正在等待回答（umpire pending）：%d",
	"the task is queued; waiting for answers first: %d":                                        "任务已排队；先要等待回答：%d",
	"Type %s and Enter: ":                                                                      "输入 %s 并按回车：",
	"ok":                                                                                       "完成", "error": "出错", "timeout": "超时", "indeterminate": "结果未知",
}
