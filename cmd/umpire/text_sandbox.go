package main

// chineseSandbox is about the sandbox, in 简体中文. What a machine lacks stays as the
// system says it.
var chineseSandbox = catalogue{
	"sandbox":                                 "沙箱",
	"with the network":                        "可访问网络",
	"this machine can give all of it":         "本机完全支持",
	"this machine can give only a weaker one": "本机只能提供较弱的沙箱",
	"this machine cannot give it":             "本机无法提供",
	"what commands may change: `SANDBOX` is read-only, workspace-write or full-access (default: from the configuration)": "命令可以修改什么:`SANDBOX` 为 read-only、workspace-write 或 full-access(默认:取自配置)",
	"commands run without a sandbox, as they were set to (full-access)":                                                  "命令按设置在没有沙箱的情况下运行(full-access)",
	"no sandbox, or a weaker one, on this machine: %s (umpire doctor)":                                                   "本机没有沙箱,或只有较弱的沙箱:%s(umpire doctor)",
	"commands run without a sandbox: sandbox.mode is full-access":                                                        "命令在没有沙箱的情况下运行:sandbox.mode 为 full-access",
	"set sandbox.mode to workspace-write in config.yaml":                                                                 "在 config.yaml 中把 sandbox.mode 设为 workspace-write",
	"set sandbox.require to strict in config.yaml":                                                                       "在 config.yaml 中把 sandbox.require 设为 strict",
	"only a weaker one, see docs/sandbox.md: %s":                                                                         "只有较弱的沙箱,见 docs/sandbox.md:%s",
	"none on this machine: %s":                                                                                           "本机没有沙箱:%s",
	"commands run all the same: sandbox.require is off":                                                                  "命令照样运行:sandbox.require 为 off",
	"the weaker one will do: sandbox.require is degraded-ok":                                                             "接受较弱的沙箱:sandbox.require 为 degraded-ok",
	"so every command asks, and is denied where nobody is there":                                                         "因此每条命令都会询问,无人在场时拒绝",
	"%d refused by Landlock: %s":                                                                                         "%d 项被 Landlock 拒绝:%s",
	"%d refused by the filter of system calls: %s":                                                                       "%d 项被系统调用过滤器拒绝:%s",
	"%d refused by namespaces and mounts: %s":                                                                            "%d 项被命名空间和挂载拒绝:%s",
	"%d not refused: %s": "%d 项没有被拒绝:%s",
}
