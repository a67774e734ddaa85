package main

// chineseHook are the texts of hook, init and doctor in 简体中文.
var chineseHook = catalogue{}
