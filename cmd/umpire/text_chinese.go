package main

// chinese is 简体中文.
var chinese = catalogue{
	rootShort: "判定 AI 编码代理的每一次工具调用:允许、询问或拒绝",
}
