package shell

// packageManagers are the programs that install and publish packages.
var packageManagers = []program{}
