package cli

import (
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// chineseDoctor are the details of doctor's checks in 简体中文. What the world says,
// such as the error of a system call, stays as it is.
var chineseDoctor = view.Catalogue{
	"%d attempts refused: %d by Landlock, %d by the filter of system calls, %d by namespaces and mounts (--verbose names them)": "已拒绝 %d 次尝试：Landlock %d 次，系统调用过滤器 %d 次，命名空间和挂载 %d 次（--verbose 逐一列出）",
	"name everything that the sandbox was tried with": "逐一列出对沙箱的尝试",
	"all well": "一切正常", "%d thing fails": "%d 项失败", "%d things fail": "%d 项失败", "%d warning": "%d 项警告", "%d warnings": "%d 项警告",
	"%s has %s of Claude Code's own: umpire rules import claude %s": "%s 中有 Claude Code 自己的 %s：umpire rules import claude %s",
	"show every line of the change":                                 "显示更改的每一行",
	"the file goes":                                                 "删除该文件", "a new file": "新文件",
	"nothing else in it changes; --diff shows every line":   "其余内容不变；--diff 显示每一行",
	"umpire's folder is not known":                          "不知道 umpire 的目录在哪里",
	"%s does not exist yet; the built-in rules hold":        "%s 尚不存在；内置规则生效",
	"%s is yours alone":                                     "%s 只属于你",
	"%s can be written by others (%04o)":                    "%s 可被其他人写入（%04o）",
	"%s can be read by others (%04o)":                       "%s 可被其他人读取（%04o）",
	app.LongSocket:                                          "闸门套接字的路径有 %d 字节：umpire 经由其目录访问它，其他程序无法按名称连接",
	app.TooLongSocket:                                       "闸门套接字的路径有 %d 字节，超出本系统的上限：在 `listen` 指定更短的路径之前，无法运行闸门",
	"mode %s":                                               "模式 %s",
	"a broken file may hold deny rules, so every call asks": "损坏的文件中可能有拒绝规则，因此每次调用都会询问",
	"%s: %d rules%s":                                        "%s:%d 条规则%s",
	"%s: %s and %s until you trust them%s":                  "%s：%s、%s，直到你信任它们%s",
	"%s is broken%s":                                        "%s 已损坏%s",
	"%d file":                                               "%d 个文件", "%d files": "%d 个文件",
	"the gateway is not enforced": "没有强制执行闸门",

	"%s: the hook does not answer: %v":              "%s：钩子没有回答：%v",
	"%s: `rm -rf /` is not denied: %s":              "%s:`rm -rf /` 没有被拒绝：%s",
	"`rm -rf /` is denied (%s)":                     "`rm -rf /` 被拒绝（%s）",
	"`ls` is allowed, but slowly (%s)":              "`ls` 被允许，但很慢（%s）",
	"`ls` is allowed (%s)":                          "`ls` 被允许（%s）",
	"`ls`: %s, as the mode or a rule wants it (%s)": "`ls`:%s，符合模式或规则的要求（%s）",
	"%s: `ls` is not allowed: %s":                   "%s:`ls` 没有被允许：%s",

	"Claude Code does not ask umpire: no PreToolUse hook is registered":                               "Claude Code 不询问 umpire：没有登记 PreToolUse 钩子",
	"no PermissionRequest hook is registered: dialogs that umpire would deny stay open":               "没有登记 PermissionRequest 钩子：umpire 会拒绝的对话框将一直打开",
	"%s (%s) switches nothing off":                                                                    "%s（%s）没有关闭任何功能",
	"Claude Code: %s":                                                                                 "Claude Code:%s",
	"Claude Code %s runs the call when a hook cannot start":                                           "Claude Code %s 在钩子无法启动时仍会执行调用",
	"%s: onFailure is not block, so the call runs when the hook cannot start":                         "%s:onFailure 不是 block，因此钩子无法启动时调用仍会执行",
	"Claude Code %s blocks when a hook fails":                                                         "Claude Code %s 在钩子失败时阻止调用",
	"%s: started through a shell, so its start-up files decide what runs":                             "%s：通过 shell 启动，因此由 shell 的启动文件决定运行什么",
	"%s: %s is not a program":                                                                         "%s:%s 不是程序",
	"%s: anybody can change %s":                                                                       "%s：任何人都可以修改 %s",
	"%s: registered by an older umpire, without --home: a project's settings can name another folder": "%s：由旧版 umpire 注册，没有 --home：项目的设置可以指定别的目录",
	"%s: its folder is %s, and here it is %s":                                                         "%s：它的目录是 %s，而这里是 %s",
	"%s loads shared libraries: a project's settings can name one in LD_PRELOAD":                      "%s 会加载共享库：项目的设置可以用 LD_PRELOAD 指定一个",
	"build umpire with CGO_ENABLED=0":                                                                 "请用 CGO_ENABLED=0 构建 umpire",
	"%s: no timeout is written":                                                                       "%s：没有写明时限",
	"%s: the timeout of %s ends before umpire's deadline of %s":                                       "%s：时限 %s 早于 umpire 的截止时间 %s",
	"%s: %s, timeout %s, deadline %s":                                                                 "%s:%s，时限 %s，截止时间 %s",
}
