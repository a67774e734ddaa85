package shell

// buildTools are the programs that build, test and check a project.
var buildTools = []program{}
