package shell

// systemTools are the programs that ask about and control the system.
var systemTools = []program{}
