package shell

// searching are the programs that look for files and text.
var searching = []program{}
