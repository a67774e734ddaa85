package umpire

// A TrustChange grants or revokes trust in the rule files or the code of a clone.
type TrustChange struct {
	// Dir is a folder in the project.
	Dir string `json:"working_dir"`
	// Code selects the code that the clone runs instead of its rule files.
	Code bool `json:"code,omitempty"`
	// Revoke revokes the trust.
	Revoke bool `json:"revoke,omitempty"`
	// Files are the rule files as shown to the person; empty means their current content.
	Files []TrustedFile `json:"files,omitempty"`
	// By is the person who changes the trust, as the gate knows them.
	By Actor `json:"-"`
}

// A TrustedFile is a rule file as shown to a person.
type TrustedFile struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 of its content
}
