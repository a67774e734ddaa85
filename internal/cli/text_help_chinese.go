package cli

import (
	"github.com/umpirehq/umpire/internal/cli/check"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseHelp are the long texts of help in 简体中文.
var chineseHelp = view.Catalogue{
	"Write the completion script of a shell": "输出某个 shell 的补全脚本",
	completionLong:                           `输出让 shell 补全命令、选项、规则和等待中的调用编号的脚本。保存到 shell 查找的位置，然后打开新的 shell：`,
	"Help about any command":                 "显示任一命令的帮助", "Shows the help of a command or of a topic.": "显示某个命令或主题的帮助。",
	check.Long: `判定一次调用并说明原因，不运行任何东西。

命令写在 "--" 之后：作为一个参数时，按 shell 会读到的一行来理解；作为多个词时，词仍是词。
其他工具用 --tool 指定，输入用 --input。工作目录也算在内：项目之外的内容会询问。

退出码就是判定：0 允许，2 拒绝，3 询问；4 是用法错误。

使用 --stdin 时每一行是一次调用：{"id","tool","input"} 或 {"id","command"}，可附带 "cwd"、
"agent" 和 "session_id"。每一行按原顺序立即得到一行回答；不是调用的行被拒绝，原因代码为
"invalid"。规则文件可以随时改变：下一次调用按新的规则判定。`,

	rules.Long: `规则对一次调用会做的事给出允许、询问或拒绝。规则写在可以阅读和审查的文件里：项目中的
.umpire/permissions.json，以及对所有项目有效的 ~/.umpire/permissions.json。

  Bash(npm test:*)            以这些词开头的命令
  Read(~/go/pkg/mod/**)       路径；LS、Glob、Grep、Write、Edit、Delete 也一样
  WebFetch(domain:pkg.go.dev) 主机
  mcp__github__*              按名称指定工具
  *                           一切

拒绝优先于询问，询问优先于允许，与规则所在的位置无关。命令行逐部分判定，允许规则必须覆盖
每一部分。读取规则判定每一次读取，"cat" 也算；写入和主机的规则同样如此。

更改规则需要由人进行：由代理启动的进程会被拒绝。`,

	rules.ListLong: `列出在此有效的规则：先是项目的，再是全局的，最后是管理员的。因未受信任而休眠的规则，
以及损坏的文件中丢失的规则不会列出；会有一条提示说明。`,

	rules.AddLong: `把一条规则添加到某个范围的 umpire 规则文件："project" 是本项目的
.umpire/permissions.json,"global" 是你自己的，对所有项目有效。

ACTION 是 allow、ask 或 deny。RULE 是简写形式，见 umpire rules --help。示例随规则保存，
每次加载文件时都会检查：不符合自身示例的规则永远不会允许任何调用。`,

	rules.RemoveLong: `从 umpire 自己的规则文件中删除编号为 ID 的所有规则：先找项目的文件，否则是全局的文件。
编号由 "umpire rules list" 显示。`,

	rules.TestLong: `用每条规则自身的示例检验规则，并指出哪些失败；检验在此有效的文件，或者指定的 FILES。
休眠的规则也会检验。有规则失败时退出码为 4。`,

	rules.LintLong: `读取在此有效的规则文件或指定的 FILES，把所有错误写成 FILE:LINE:COLUMN：内容。
未知的键会连同最接近的已知键一起指出。有任何问题时退出码为 4。`,

	rules.ImportLong: `把另一个工具的文件中的规则复制到某个范围的 umpire 规则文件。不能精确保留的内容会指出并
略去；范围绝不会变宽。

FORMAT 是 claude（settings.json 或 permissions.yml，由文件名决定）、claude-settings、
claude-yaml、muse 或 umpire。如果想继续读取那个文件而不是复制，请把它列在 config.yaml 的
rules.also_read 中。`,

	rules.TrustLong: `项目的规则文件随克隆而来。其中的拒绝和询问规则立即生效；允许规则和钩子只有在你信任该文件
之后才生效：只针对此刻的内容，并记录在项目之外。文件改变后它们再次休眠。umpire 自己写入
的内容保持受信任。

会先显示哪些内容将开始允许、哪些程序将会运行，然后信任它。需要由人进行。

加上 --code 则针对克隆的代码：测试、构建、脚本和检查工具会运行项目指定的内容。在 umpire 自己
的沙箱中它们无需询问即可运行；自行运行命令的代理会先询问，直到你信任这些代码。被信任的是每个
指定代码的文件的当前内容以及当前提交；此类文件改变或新增，或 HEAD 不是因为在此处提交而移动时，
信任即告失效。`,

	statusLong: `显示此目录属于哪个项目、模式及其来源，以及每一处可能有规则的位置：文件是否存在、
是否完好、是否受信任、有多少条规则有效，以及错误所在的 FILE:LINE:COLUMN。

  ok         规则有效
  missing    没有这个文件
  untrusted  拒绝和询问规则有效，允许规则和钩子休眠
  degraded   已损坏：沿用上一次完好的规则，或者更加谨慎

然后是本项目会话的状况：是否有会话在等你、为了什么、风险多大、共有多少个；以及闸门是否
在运行、在哪里，记录保存在哪里。`,

	configLong: `显示每个键当前有效的值及其来源：默认值、你在 ~/.umpire 中的 config.yaml，或者项目的
.umpire/config.yaml。项目的文件随克隆而来，因此其中只有更严格的内容有效；其余会被忽略，
并给出提示。`,

	modesTopic: `模式决定在没有规则、授权或内置知识说话时会发生什么：

  default  安全的调用直接运行，其余询问
  auto     按记住的回答决定，已知的危险被拒绝，其余询问
  ask      一切都询问，读取也是，除非有规则允许
  reject   什么都不询问：不安全又未被允许的一律拒绝
  plan     只运行读取；其余记为计划。见 umpire mode --help
  bypass   什么都不询问；需要 --allow-bypass

在任何模式下，包括 bypass：会毁掉系统、主目录或磁盘的调用被拒绝，拒绝规则有效，控制 umpire
或其他代理的文件会询问。没有沙箱的命令也会询问。

参数 --mode 优先于 config.yaml 中的键 "mode"。`,

	orderTopic: `一次调用会做的事被拆成多个访问：启动的程序，读取、写入或删除的路径，访问的主机。每个访问
按下列各行判定；第一个说话的行决定它，整个调用取各访问中最严格的判定。
"umpire check --explain" 显示哪些行起了作用。

   1  输入格式错误，或配置档未列出该工具          拒绝
   2  配置档的后缀限制                            拒绝
   3  致命风险、禁止的路径                        拒绝，任何人都不能解除
   4  拒绝规则                                    拒绝
   5  plan 模式，且不是读取                       拒绝
   6  控制文件                                    询问，每次只能解除一次
   7  询问规则                                    询问
  15  内置代理的命令没有沙箱可用                  询问，任何规则或模式都不能解除
  16  可能含有拒绝或询问规则的文件无法读取        询问，任何规则或模式都不能解除
   8  bypass 模式                                 允许
   9  项目之外，且没有路径规则或授权              询问，或按配置拒绝
  10  风险为无或低，且模式不是 ask                允许
  11  允许规则                                    允许
  12  授权                                        允许
  13  allowAll                                    允许
  17  没有沙箱约束的项目代码                      询问，除非已信任该克隆的代码
  14  模式                                        询问或拒绝

不能判定的会询问：读不懂的命令、只有运行才知道的变量。出错绝不会变成允许。`,

	// The subject of each key of the configuration.
	"what happens where no rule speaks":                                         "没有规则说话时会发生什么",
	"ask or allow what is of medium risk":                                       "中等风险：ask 询问，allow 允许",
	"ask about or deny paths outside the project":                               "项目之外的路径：ask 询问，deny 拒绝",
	"continue sessions of other projects without the flag":                      "无需参数即可继续其他项目的会话",
	"where sessions to resume are looked for":                                   "在哪里查找可继续的会话",
	"deny,ask,allow or deny,allow,ask":                                          "deny,ask,allow 或 deny,allow,ask",
	"other tools' rule files":                                                   "其他工具的规则文件",
	"refusals in a row after which auto mode asks":                              "连续拒绝多少次后 auto 模式改为询问",
	"refusals in all after which auto mode asks":                                "总共拒绝多少次后 auto 模式改为询问",
	"how long auto mode remembers an answer":                                    "auto 模式记住回答多久",
	"when a hook answers at the latest":                                         "钩子最迟何时回答",
	"how long a call waits for its answer":                                      "一次调用等待回答多久",
	"how many calls of a session may wait":                                      "一个会话最多有多少次调用等待",
	"read-only, workspace-write or full-access":                                 "read-only、workspace-write 或 full-access",
	"built-in rules that do not hold":                                           "不生效的内置规则",
	"variables that sandboxed commands get although they may hold secrets":      "沙箱中的命令可以得到的变量，即使其中可能含有机密",
	"let sandboxed commands reach the network":                                  "让沙箱中的命令访问网络",
	"where sessions and the timeline are kept":                                  "会话和时间线保存在哪里",
	"where the gate listens":                                                    "闸门在哪里监听",
	"tools and editable suffixes of each agent":                                 "每个代理的工具和可编辑的后缀",
	"programs that run before and after tools":                                  "在工具之前和之后运行的程序",
	"MCP servers whose tools the built-in agent has":                            "内置代理可用其工具的 MCP 服务器",
	"false only records and warns; only the machine's administrator can say so": "false 只记录并警告；只有本机的管理员能设定",
	"en or zh-CN": "en 或 zh-CN",
	"where the sandbox cannot be had: strict asks, degraded-ok takes a weaker one, off goes on": "没有沙箱时：strict 询问，degraded-ok 接受较弱的，off 照常运行",

	// Reasons, and what the built-in rules say.
	"Plan mode: only reads run, this is recorded as planned":                              "plan 模式：只运行读取，此调用已记为计划",
	"deletes a system directory":                                                          "删除系统目录",
	"changes everything in a system directory":                                            "更改系统目录中的一切",
	"deletes a home directory":                                                            "删除主目录",
	"changes everything in a home directory":                                              "更改主目录中的一切",
	"overwrites a device or kernel memory":                                                "覆盖设备或内核内存",
	"changes a file that the system needs to start":                                       "更改系统启动所需的文件",
	"a forbidden path":                                                                    "禁止的路径",
	"umpire's own rules, state and settings":                                              "umpire 自己的规则、状态和设置",
	"git runs programs named here":                                                        "git 会运行其中指定的程序",
	"an agent's settings, hooks or servers":                                               "代理的设置、钩子或服务器",
	"says where git finds its settings":                                                   "指定 git 从何处读取设置",
	"git runs what an unfinished rebase lists":                                            "git 会运行未完成的变基所列的命令",
	"git goes on with what stands here":                                                   "git 会接着执行其中的内容",
	"an editor runs it when the project is opened":                                        "打开项目时编辑器会运行",
	"runs when someone commits":                                                           "提交时会运行",
	"runs when a shell enters the folder":                                                 "shell 进入该目录时会运行",
	"runs, or chooses programs, when a shell enters the folder":                           "shell 进入该目录时会运行或选择程序",
	"a package manager runs, or fetches from, what it names":                              "包管理器会运行其中指定的内容，或从其中指定的地址获取",
	"runs when a shell starts":                                                            "shell 启动时会运行",
	"decides who may log in, or runs by itself":                                           "决定谁可以登录，或会自行运行",
	"a hook runs it":                                                                      "会由钩子运行",
	"the list of accounts":                                                                "账户列表",
	"an environment file; free are .env.example, .sample, .template, .dist and .defaults": "环境文件；不受限的是 .env.example、.sample、.template、.dist 和 .defaults",
	"a private key or a store of keys":                                                    "私钥或密钥库",
	"names and passwords, or tokens":                                                      "用户名和密码，或令牌",
	"what logs in to a cloud or a registry":                                               "登录云服务或仓库的凭据",
	"keys and passwords of a person":                                                      "个人的密钥和密码",
	"a browser's profile: cookies and passwords":                                          "浏览器配置：cookie 和密码",
	"what somebody typed, passwords too":                                                  "某人输入过的内容，也包括密码",
	"what answers umpire's questions, and what it keeps":                                  "能回答 umpire 的询问的凭据，及其保存的内容",
	"umpire's credentials and records":                                                    "umpire 的凭据和记录",
	"the search would read umpire's credentials":                                          "搜索会读到 umpire 的凭据",
	"the environment or the memory of a process":                                          "进程的环境或内存",
}
