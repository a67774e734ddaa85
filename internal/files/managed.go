package files

// Managed is the folder of the administrator's rules and configuration, and the user that
// it belongs to. Only a test sets another one, before anything is read: no flag and no
// environment variable of the program does, since an agent could set those.
var Managed = struct {
	Dir string
	UID uint32
}{Dir: "/etc/umpire"}
