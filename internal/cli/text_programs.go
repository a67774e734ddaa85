package cli

import (
	"github.com/umpirehq/umpire/internal/cli/programs"
	"github.com/umpirehq/umpire/internal/view"
)

// chinesePrograms are the texts of `umpire programs` and the manual pages in
// 简体中文.
var chinesePrograms = view.Catalogue{
	"Show what is known of programs": "显示已知的程序知识",
	programs.Long: `一条命令会做什么，取决于 umpire 对其中程序的了解：哪些选项无害，哪些会写入、
删除、运行别的程序或访问主机，以及操作数是什么。不认识的程序一律询问。

它不知道的，你可以在 ~/.umpire/programs 的文件中告诉它；写法见 docs/programs.md。`,
	"List the programs that are known": "列出已知的程序",
	programs.ListLong: `列出已知的程序：先是你自己的，然后是内置的。
给出若干词时，只列出名称中含有其中之一的程序。`,
	"Show what is known of a program": "显示对一个程序的了解",
	programs.ShowLong: `显示对一个程序或其子命令的了解：风险及原因、按作用分组的选项、操作数、
子命令，以及这些知识的出处。`,
	"Say what is wrong with your files of programs": "指出你的程序文件中的问题",
	programs.LintLong: `读取 ~/.umpire/programs，用每个条目自带的示例检验它，并指出问题。
有错误的条目不会生效，因此其程序会询问。`,
	"built in": "内置",

	"program": "程序", "also called": "别名", "from": "出处", "checked": "核对依据", "risk": "风险", "consequence": "后果", "operands": "操作数", "style": "选项写法",
	"options": "选项", "subcommands": "子命令", "but not with": "以下取值除外",
	"options that are not listed are accepted":  "未列出的选项也被接受",
	"its arguments are judged further, by code": "它的参数还会由代码进一步判定",
	"accepted":                     "被接受",
	"prints about itself":          "打印自身信息",
	"reads the file":               "读取该文件",
	"goes to the folder":           "进入该目录",
	"takes folders with all below": "连同其下所有内容处理目录",
	"first operand does not apply": "不再有第一个操作数",
	"last operand does not apply":  "不再有最后一个操作数",
	"ends the options":             "结束选项",
	"writes the file":              "写入该文件",
	"changes its operands":         "修改操作数",
	"deletes its operands":         "删除操作数",
	"deletes the file":             "删除该文件",
	"reaches the host":             "访问该主机",
	"runs a program":               "运行程序",
	"obeys what cannot be judged":  "听从无法判定的内容",
	"asks":                         "询问",
	"dangerous":                    "危险",

	"Write the manual pages":                            "写出手册页",
	"Writes one manual page for each command into DIR.": "为每个命令在 DIR 中写出一页手册。",
}
