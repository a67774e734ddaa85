package cli

import "github.com/umpirehq/umpire/internal/view"

const serveLong = `Runs the gate: agents hand in their calls, what asks is held until you answer, and
what happened is kept on a timeline. Where it runs, the hooks of agents go through
it; without it they decide alone and hand questions to the agent's own prompt.

It listens on a socket in ~/.umpire/state that only you can reach, or on an address
of this machine; any other address needs --allow-remote, and something in front of
it that encrypts. Two credentials lie beside the socket: agent.token may hand in
calls, person.token may also answer and change rules. Neither is ever printed.

What it stores is masked where it holds secrets, and the originals are sealed with
the key in seal.key beside it. Several gates may share a PostgreSQL database; they
need the same seal.key.

When it is ready it writes "umpire: ready on ADDRESS". An interrupt or SIGTERM lets
what is under way end, and exits with 0. Calls that wait are kept.`

const serveExample = `  umpire serve
  umpire serve --listen 127.0.0.1:7575
  umpire serve --store postgres://umpire@db/umpire`

const pendingLong = `Lists the calls that wait for a person, the one that has waited longest first: those
of this project, or with --all of every project.`

const approveLong = `Lets a call that waits run. ID is the request's id or its beginning, or the id of
the call.

The whole card is shown first: who asks, each part of the call with its risk and
why, the paths that leave the project, and what the scope would allow from then on.

  once      this call only
  session   the same command, or the same tool inside the project, until the
            session ends
  project   writes a rule into .umpire/permissions.json of the project
  global    writes a rule into permissions.json in ~/.umpire

A rule is the narrowest: the very command, the one path, the host. --width says more:

  subcommand  the same subcommand, with options and targets of no higher consequence
  folder      everything below the folder; one outside the project is for reading, for
              the session, or for the project and at most 30 days
  tool        every use of the tool, on every file

No rule stands for a force push, for deleting a tree, or for an interpreter.

Then you confirm on the terminal: with "y" where the risk is low or medium and the
scope is once or session, else with a code that is made up for this card. What was
typed before the card stood there for a moment does not count.

An answer needs a person. It is refused in a process that an agent started, without
a terminal, and for a call that was answered already: the first answer stands. A
call of critical risk is never asked about, so it cannot be approved.

A script answers with --token-file ~/.umpire/state/person.token. Whoever can read
that file can answer in your name: keep it from agents, which a sandbox does and
a user of their own does. An agent that runs as you, without a sandbox, can get at
everything that you can get at.`

const approveExample = `  umpire approve 4k7m
  umpire approve 4k7m --scope session
  umpire approve 4k7m --scope session --width folder --expires 8h
  umpire approve 4k7m --scope project --rule 'Bash(npm test:*)'`

const denyLong = `Refuses a call that waits. The agent is told so, with the REASON if there is one, and
goes on: it may try something else. The other calls of the same message still run.
The same call in the same turn is refused again without a question.

ID is the request's id or its beginning, or the id of the call. The card is shown
first and you confirm with "y"; see umpire approve --help for scripts.`

const denyExample = `  umpire deny 4k7m
  umpire deny 4k7m use the staging database instead`

const cancelLong = `Refuses a call that waits and stops the agent's turn: nothing of the same message
starts any more. The agent waits for your next message.

The card is shown first and you confirm with "y"; see umpire approve --help.`

const watchLong = `Shows what waits for you, and then what happens, as it happens, until you interrupt
it. On a terminal the questions stay at the bottom; elsewhere every event is a line,
with --json a line of JSON.`

const sessionsLong = `Lists the sessions of this project, the latest activity first; with --all-projects
those of every project. A session belongs to the project in which it was opened.`

const sessionsEndLong = `Ends a session for good: what waits in it is denied, what has not started does not
start. ID may be the beginning of one in this project. It needs a person.`

const sessionsDeleteLong = `Ends a session and deletes it, with its calls, answers and grants. What happened stays
on the timeline. ID may be the beginning of one in this project. It needs a person.`

const timelineLong = `Shows what was asked, decided and run in this project, in order; with --all-projects
in every project. Secrets were masked before it was written. Numbers grow and have
gaps; --after goes on from one. The events of a session that was deleted stay: name
its whole id, with --all-projects.`

const timelineVerifyLong = `Finds what was changed, removed or put in on the timeline. Names each break by its
number and its session, and ends with 1 when there is one.

Three things are compared. Every event bears the hash of the one before it in its
session. A gate records where each session ended, signed, in ~/.umpire/checkpoints:
a session, its last events or a whole store that is known and gone is a break. With
--since, the events up to a checkpoint that umpire timeline head printed must be what
they were.

The first two show damage, and changes by somebody who cannot write ~/.umpire. A
program that runs as you can write both the store and the record, and make them
agree. Only a checkpoint that you copied elsewhere finds that, for what happened
before it.

Deleting a session keeps its events, so it is not a break. If you put an older store
in place yourself, remove the record that ~/.umpire/checkpoints holds of it.`

const timelineHeadLong = `Prints what the timeline is now, as one line: how many events and sessions there are,
and a hash over where each of them ends. It is signed with a key of this installation
in ~/.umpire/keys, which lies apart from the store.

Copy it to where no program on this machine can write: another machine, a mail to
yourself, a printer. umpire timeline verify --since CHECKPOINT tells later whether the
past up to there is still the same.

The copy proves that events before it were not changed, removed or put in since. It
proves nothing of later events, of the order of events in different sessions, or that
everything that happened was ever written. The signature proves which installation
made the line: nobody without its key could make it up, and a program that runs as you
can read the key.`

// chineseGate are the texts of the gate's commands in 简体中文.
var chineseGate = view.Catalogue{
	"Calls that wait:": "等待中的调用：",

	"Run the gate": "运行闸门",
	serveLong: `运行闸门：代理提交调用，需要询问的调用会一直保持等待，直到你回答；发生过的一切都记录在时间线上。
闸门运行时，代理的钩子都通过它判定；没有闸门时，钩子自行判定，并把询问交给代理自己的提示。

它在 ~/.umpire/state 中的套接字上监听，只有你能访问；也可以监听本机地址；其他地址需要 --allow-remote,
并且前面要有加密的服务。套接字旁边有两个凭据：agent.token 可以提交调用，person.token 还可以回答和修改规则。
两者都不会被打印。

存储的内容中的密钥会被遮盖，原文用旁边 seal.key 中的密钥加密。多个闸门可以共用一个 PostgreSQL 数据库；
它们需要相同的 seal.key。

就绪时输出 "umpire: ready on ADDRESS"。中断或 SIGTERM 会让正在进行的操作完成，并以 0 退出。等待中的调用会保留。`,
	"listen on `ADDRESS`: unix:PATH or 127.0.0.1:PORT (default: the socket in ~/.umpire/state)":              "监听 `ADDRESS`:unix:PATH 或 127.0.0.1:PORT（默认：~/.umpire/state 中的套接字）",
	"keep sessions and the timeline in `STORE`: sqlite:PATH or postgres://... (default: in ~/.umpire/state)": "把会话和时间线保存在 `STORE`:sqlite:PATH 或 postgres://...（默认：~/.umpire/state 中）",
	"permit an address that other machines can reach, unencrypted":                                           "准许使用其他机器可以访问的、未加密的地址",

	"List the calls that wait for you":                            "列出等待你回答的调用",
	pendingLong:                                                   `列出等待人来回答的调用，等待最久的排在最前：默认只列本项目的，加 --all 列出所有项目的。`,
	"those of all projects, not of this one alone":                "所有项目的，而不只是本项目的",
	"show all that is known of each event, a line for each field": "显示每个事件的全部内容，每个字段一行",
	"nothing waits":                                               "没有等待中的调用",
	"AGE":                                                         "时长", "AGENT": "代理", "SESSION": "会话", "PROJECT": "项目", "CALL": "调用",

	"Let a call that waits run": "让等待中的调用执行",
	approveLong: `让等待中的调用执行。ID 是请求的编号或其开头，或调用的编号。

首先显示整张卡片：谁在请求、调用的每一部分及其风险和原因、离开项目的路径，以及该范围今后会允许什么。

  once      仅此一次
  session   会话结束之前：同一条命令，或项目之内的同一个工具
  project   把规则写入本项目的 .umpire/permissions.json
  global    把规则写入 ~/.umpire 中的 permissions.json

规则取最窄的形式：这条命令、这个路径、这台主机。--width 可以更宽：

  subcommand  同一子命令，选项和目标的后果不更高
  folder      目录之下的一切；项目之外的目录只能读取，限于会话，或限于项目且最多 30 天
  tool        该工具的每次使用，对每个文件

强制推送、删除整个目录、解释器都不会有规则。

然后在终端上确认：风险为低或中等且范围为 once 或 session 时输入 "y"，否则输入为这张卡片生成的代码。
卡片显示片刻之前输入的内容不算数。

回答需要由人进行。由代理启动的进程、没有终端、或已有回答的调用都会被拒绝：第一个回答有效。
致命风险的调用从不询问，因此无法批准。

脚本用 --token-file ~/.umpire/state/person.token 回答。能读取该文件者就能以你的名义回答：
不要让代理读到它，沙箱或单独的用户可以做到。以你的身份运行且没有沙箱的代理，可以接触你能接触的一切。`,
	"how far it reaches, `SCOPE`: once, session, project or global":                                      "适用范围 `SCOPE`:once、session、project 或 global",
	"the `RULE` that a wider scope stands for, in short form (default: the narrowest)":                   "较大范围所代表的规则 `RULE`，用简写（默认：最窄的）",
	"answer with the person's credential in `FILE` instead of on a terminal":                             "用 `FILE` 中人的凭据回答，而不是在终端上",
	"how much a wider scope covers, `WIDTH`: exact, subcommand, folder or tool (default: the narrowest)": "较大范围包含多少 `WIDTH`：exact、subcommand、folder 或 tool（默认：最窄的）",
	"no rule of this width can stand for this call, but a wider one can":                                 "这个宽度没有规则可以代表此调用，但更宽的可以",
	"write the batch as JSON": "以 JSON 输出该批次",

	"Refuse a call that waits; the agent reads the reason": "拒绝等待中的调用；代理会读到原因",
	denyLong: `拒绝等待中的调用。代理会得知，并读到 REASON（如果有），然后继续：它可以尝试别的办法。
同一条消息的其他调用仍会执行。同一轮中同样的调用会直接被拒绝，不再询问。

ID 是请求的编号或其开头，或调用的编号。首先显示卡片，然后输入 "y" 确认；脚本的用法见 umpire approve --help。`,
	"Refuse a call that waits, and stop the agent's turn": "拒绝等待中的调用，并停止代理的本轮",
	cancelLong: `拒绝等待中的调用并停止代理的本轮：同一条消息中的调用都不再开始。代理等待你的下一条消息。

首先显示卡片，然后输入 "y" 确认；见 umpire approve --help。`,

	"Watch questions and events as they come": "实时查看询问和事件",
	watchLong: `显示等待你回答的调用，然后实时显示发生的事情，直到你中断。
在终端上，询问保持在底部；否则每个事件一行，加 --json 则每行一个 JSON。`,
	"watching from event %d on":                                                                 "从事件 %d 之后开始查看",
	"write each event as one line of JSON":                                                      "每个事件输出为一行 JSON",
	"%d waits for an answer: umpire approve ID, umpire deny ID":                                 "%d 个等待回答：umpire approve ID、umpire deny ID",
	"no gate is running, so questions of Claude Code do not come here: umpire serve starts one": "没有运行中的闸门，Claude Code 的询问不会到这里：用 umpire serve 启动一个",
	"%d wait for an answer: umpire approve ID, umpire deny ID":                                  "%d 个等待回答：umpire approve ID、umpire deny ID",

	"List the sessions of this project, and end them": "列出本项目的会话，并可结束它们",
	sessionsLong:  `列出本项目的会话，最近活动的排在最前；加 --all-projects 列出所有项目的。会话属于打开它时所在的项目。`,
	"no sessions": "没有会话", "from project %s": "来自项目 %s",
	"STATE": "状态", "MODE": "模式", "WAITING": "等待", "ACTIVE": "活动", "FOLDER": "目录",
	"End a session: what waits is denied for good": "结束会话：等待中的调用被永久拒绝",
	sessionsEndLong:                        `永久结束会话：其中等待的调用被拒绝，尚未开始的不再开始。ID 可以是本项目中某个编号的开头。需要由人进行。`,
	"`TEXT` that is kept on the timeline":  "保存在时间线上的文字 `TEXT`",
	"Delete a session; its timeline stays": "删除会话；其时间线保留",
	sessionsDeleteLong: `结束会话并将其删除，包括它的调用、回答和授权。发生过的一切保留在时间线上。
ID 可以是本项目中某个编号的开头。需要由人进行。`,
	"ended %s\n":   "已结束 %s\n",
	"deleted %s\n": "已删除 %s\n",

	"Show what was asked, decided and run": "显示询问、判定和执行的记录",
	timelineLong: `按顺序显示本项目中询问、判定和执行过什么；加 --all-projects 显示所有项目的。
密钥在写入之前已被遮盖。编号递增且有间隔；--after 从某个编号之后继续。
已删除会话的事件仍然保留：给出其完整编号并加 --all-projects。`,
	"go on with what happens from now on":   "继续显示此后发生的事情",
	"only the session `ID`":                 "只显示会话 `ID`",
	"only events after the number `SEQ`":    "只显示编号 `SEQ` 之后的事件",
	"only the last `N` of them":             "只显示其中最后 `N` 个",
	"Find what was changed on the timeline": "查找时间线上的改动",
	timelineVerifyLong: `查找时间线上被更改、删除或插入的内容。按编号和会话列出每一处断裂；有断裂时以 1 结束。

比较三样东西。每个事件都带有其会话中前一个事件的哈希值。闸门把每个会话结束的位置签名后记录在
~/.umpire/checkpoints 中：已知的会话、其最后的事件或整个存储如果不见了，就是断裂。加 --since 时，
umpire timeline head 输出的检查点之前的事件必须与当时相同。

前两样能发现损坏，以及不能写入 ~/.umpire 的人所做的改动。以你的身份运行的程序可以同时改写存储和记录，
使两者一致。只有你复制到别处的检查点能发现这种改动，而且仅限于检查点之前发生的事情。

删除会话会保留其事件，因此不算断裂。如果你自己换上了较旧的存储，请删除 ~/.umpire/checkpoints 中它的记录。`,
	"compare with the `CHECKPOINT` that umpire timeline head printed": "与 umpire timeline head 输出的检查点 `CHECKPOINT` 比较",
	"Print a signed checkpoint of the timeline":                       "输出时间线的签名检查点",
	timelineHeadLong: `用一行输出时间线现在的样子：有多少事件和会话，以及每个会话结束位置的哈希值。
它用本安装的密钥签名，密钥在 ~/.umpire/keys 中，与存储分开。

请把它复制到本机程序无法写入的地方：另一台机器、发给自己的邮件、打印机。
以后 umpire timeline verify --since CHECKPOINT 会说明到那里为止的过去是否仍然相同。

这份副本证明在它之前的事件此后没有被更改、删除或插入。它不能证明之后的事件、不同会话的事件之间的顺序，
也不能证明发生过的一切都曾被写下。签名证明这一行由哪个安装产生，没有其密钥的人无法编造；
以你的身份运行的程序可以读取该密钥。`,
	"the timeline is not what it was: %d sessions are missing or changed; see umpire timeline verify": "时间线与已知的不同：%d 个会话缺失或被更改；见 umpire timeline verify",
	"nothing on the timeline was changed": "时间线上没有任何改动",

	"answer": "回答", "deny": "拒绝", "cancel, and stop the turn": "取消，并停止本轮", "approve (%s)": "批准（%s）",
	"Type %s and Enter to confirm, anything else to leave it: ": "输入 %s 并按回车确认，输入其他内容则不作回答：",
	"in a terminal": "（在终端中）",
	"approved":      "已批准", "denied": "已拒绝", "cancelled": "已取消", "by %s": "由 %s", "at %s": "于 %s",
	"%d of this message still wait": "本消息还有 %d 个等待",

	"the canaries' session could not be ended: %v": "无法结束测试会话：%v",

	// Status.
	"sessions": "会话", "%d open, %d in all": "%d 个打开，共 %d 个", "; the latest is in mode %s": "；最近的处于模式 %s", "store": "存储", "%d waits": "%d 个等待", "%d wait": "%d 个等待",
	"running on %s": "运行于 %s",
	"none on %s; each command opens the store for itself": "%s 上没有闸门；每个命令自行打开存储",
	"nothing is stored yet":                               "尚未保存任何内容",
}
