package shell

// containerTools are the programs that run containers and clusters.
var containerTools = []program{}
