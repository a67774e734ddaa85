package umpire

// A GitSetting is one setting of a repository's own configuration. Section and name of Key are
// in lower case: "diff.Mine.command".
type GitSetting struct {
	Key, Value string
	File       string // the file that contains it
}
