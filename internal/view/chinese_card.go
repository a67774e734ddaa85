package view

import "github.com/umpirehq/umpire/internal/lang"

// Chinese are the texts of a card in 简体中文.
var Chinese = lang.Catalogue{
	"request": "请求", "%d of %d in this message": "本消息的第 %d 个,共 %d 个", "agent": "代理", "session": "会话",
	"mode %s": "模式 %s", "folder": "目录", "%s ago": "%s 前", "expires in %s": "%s 后失效", "asked": "询问于", "tool": "工具",
	"input": "输入", "what it would do": "它将会做什么", "outside": "项目之外", "what was planned": "计划内容",
	"these files may be changed without a further question: ": "这些文件可以修改而不再询问:", "... and %d more": "……还有 %d 个", "(claimed)": "(声称)",
	"Warning: this is known to be dangerous.": "警告:已知这是危险的操作。",
	"It was started, and nobody knows whether it ran. Approving says that it was done, denying that it was not; it does not run again.": "它已开始,但无人知道是否执行完。批准表示已完成,拒绝表示未完成;它不会再次执行。",
	"It contains hidden characters, shown here as escapes. It can be approved once only.":                                               "其中含有隐藏字符,此处以转义形式显示。只能批准一次。",
	"NO SANDBOX: nothing will hold this command to what it was judged by.":                                                              "没有沙箱:没有任何东西能保证该命令只做判定时所见的事。",
	"this call only":                        "仅此一次调用",
	"until this session ends: ":             "直到本会话结束:",
	"exactly this command":                  "完全相同的命令",
	"every call of %s inside the project":   "项目之内 %s 的每次调用",
	"writes the rule \"allow %s\" into %s":  "将规则“allow %s”写入 %s",
	"Permission request":                    "权限请求",
	"%s asks to run:":                       "%s 工具请求执行:",
	"This command runs a shell operation":   "此命令将执行 shell 操作",
	"This creates or overwrites a file":     "此操作将创建或覆盖文件",
	"This sends a request over the network": "此操作将发送网络请求",
	"risk critical":                         "风险:致命", "risk high": "风险:高", "risk medium": "风险:中", "risk low": "风险:低", "risk safe": "风险:无",
	"verdict allow": "允许", "verdict ask": "询问", "verdict deny": "拒绝",
	"of risk safe": "无", "of risk low": "低", "of risk medium": "中", "of risk high": "高", "of risk critical": "致命",
	"access exec": "执行", "access read": "读取", "access write": "写入", "access delete": "删除", "access network": "访问网络", "access invoke": "调用",
	"allow once": "允许一次", "allow this session": "允许本次对话",
	"always allow": "始终允许", "always allow, everywhere": "始终允许(所有项目)",
	"deny; what follows is the reason": "拒绝;其后的文字是原因",
	"cancel: deny, and stop the turn":  "取消:拒绝,并停止本轮",
}
