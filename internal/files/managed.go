package files

// Managed is the folder of the administrator's rules and configuration, and its owner.
// Only tests change it, before anything is read. It has no flag or environment variable,
// because an agent could set those.
var Managed = struct {
	Dir string
	UID uint32
}{Dir: "/etc/umpire"}
