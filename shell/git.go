package shell

// gitTools is git and the command lines of git hosts.
var gitTools = []program{}
