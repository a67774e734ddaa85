package umpire

// A TrustChange trusts the rule files or the code of a clone, or no more.
type TrustChange struct {
	// Dir is a folder in the project.
	Dir string `json:"working_dir"`
	// Code is about the code that the clone runs; else it is about its rule files.
	Code bool `json:"code,omitempty"`
	// Revoke takes the trust back.
	Revoke bool `json:"revoke,omitempty"`
	// Files are the rule files as they were shown; none means as they are now.
	Files []TrustedFile `json:"files,omitempty"`
	// By is who does it, as the gate knows them.
	By Actor `json:"-"`
}

// A TrustedFile is a rule file as a person was shown it.
type TrustedFile struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 of its content
}
