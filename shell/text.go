package shell

// textTools are the programs that transform text.
var textTools = []program{}
