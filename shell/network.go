package shell

// networkTools are the programs that reach other hosts.
var networkTools = []program{}
