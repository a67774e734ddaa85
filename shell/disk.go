package shell

// diskTools are the programs that work on disks and the machine as a whole.
var diskTools = []program{}
