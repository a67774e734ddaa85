package umpire

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An AccessKind is a kind of access.
type AccessKind uint8

// The kinds of access. The zero value, KindUnknown, is never allowed.
const (
	KindUnknown AccessKind = iota
	KindExec               // starts a program
	KindRead               // reads a file or lists a directory
	KindWrite              // creates or changes a file
	KindDelete             // removes a file or a tree
	KindNetwork            // reaches a host
	KindInvoke             // invokes a tool that is known by name only
)

var kindNames = [...]string{
	KindUnknown: "unknown", KindExec: "exec", KindRead: "read", KindWrite: "write",
	KindDelete: "delete", KindNetwork: "network", KindInvoke: "invoke",
}

// String returns the kind's name; a value out of range is "unknown".
func (k AccessKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindUnknown]
}

// MarshalText writes the kind's name.
func (k AccessKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name and refuses any other word.
func (k *AccessKind) UnmarshalText(text []byte) error {
	for i, name := range kindNames {
		if string(text) == name {
			*k = AccessKind(i)
			return nil
		}
	}
	return Errorf("unknown access kind %q", text)
}

// A Place says where a path lies after links are resolved. The zero value is PlaceUnknown,
// which counts as outside.
type Place uint8

// The places.
const (
	PlaceUnknown  Place = iota // not resolved
	PlaceOutside               // outside the project and the added directories
	PlaceInside                // inside the project, its worktree or an added directory
	PlaceHarmless              // /dev/null, similar devices and the standard streams
)

var placeNames = [...]string{
	PlaceUnknown: "unknown", PlaceOutside: "outside", PlaceInside: "inside", PlaceHarmless: "harmless",
}

// String returns the place's name.
func (p Place) String() string {
	if int(p) < len(placeNames) {
		return placeNames[p]
	}
	return placeNames[PlaceUnknown]
}

// MarshalText writes the place's name.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a place's name and refuses any other word.
func (p *Place) UnmarshalText(text []byte) error {
	for i, name := range placeNames {
		if string(text) == name {
			*p = Place(i)
			return nil
		}
	}
	return Errorf("unknown place %q", text)
}

// An Access is one effect of a call: it starts a program, reads, writes or deletes a path,
// reaches a host, or invokes a tool. Gathering the facts fills the first group of fields,
// resolving a path fills the second, and deciding fills Verdict.
type Access struct {
	Kind AccessKind `json:"kind"`
	// Program is the name of the program that KindExec starts, without its folder. Args are its
	// arguments as far as they are known.
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Target is an absolute path as written otherwise, a host, or a tool's name.
	Target  string  `json:"target"`
	Verdict Verdict `json:"verdict"`
	Risk    Risk    `json:"risk"`
	// Consequence says what cannot be undone. The facts state it for exec and invoke; the
	// decision derives it for paths and hosts.
	Consequence Consequence `json:"consequence"`
	// Reason briefly explains the access's risk.
	Reason Phrase `json:"reason"`
	// Doubt explains what umpire could not determine. A rule, a mode or low risk never allows
	// an access in doubt; only a grant for the exact command covers it.
	Doubt Phrase `json:"doubt,omitempty"`
	// Table names the table entry that matched, as "program option".
	Table string `json:"table,omitempty"`

	// Words are the words that command rules match: the program and its arguments without
	// wrappers, assignments, redirections or the program's global options.
	Words []string `json:"-"`
	// Line are all words of the simple command, including the program's global options. A word
	// that the shell would expand as a pattern begins with PatternMark.
	Line []string `json:"-"`
	// Base is the number of Words that name the program and its subcommands.
	Base int `json:"-"`
	// Extras are the options that add effects to the program, or may do so because they are
	// unknown, in the table's spelling. An option before a subcommand follows the program's
	// name, as in "git -C".
	Extras []string `json:"-"`
	// Part numbers the simple command within its line. An allow rule for the command covers the
	// other accesses of its part, except Redirect ones.
	Part     int  `json:"-"`
	Redirect bool `json:"-"`
	// Via is the part of the command whose script or recipe causes the access, or 0. An allow
	// rule for that command covers the access as well.
	Via int `json:"-"`
	// Observed says that a trial did this. Keeping it replaces the name itself, so a link at
	// Target is not followed, and an undo can restore it.
	Observed bool `json:"-"`
	// Tree says that a write or a delete reaches everything below Target.
	Tree bool `json:"-"`
	// Picked says that a filter selects the files to write or delete below Target, or among the
	// matches of Target if Glob is set, so nothing is deleted as a whole.
	Picked bool `json:"-"`
	// Kinds are the only file extensions that a Tree or Glob write changes. A formatter, for
	// example, changes the layout of such files but not their meaning.
	Kinds []string `json:"-"`
	// Follows says that links found below Target are followed.
	Follows bool `json:"-"`
	// Handed are patterns for the names of the files below Target that find, for example,
	// passes to a program one by one. It is empty if the program searches Target itself.
	Handed []string `json:"-"`
	// Names says that the access reads only names and attributes, not contents.
	Names bool `json:"-"`
	// Glob says that Target contains wildcards that the shell would expand.
	Glob bool `json:"-"`
	// Prints says that a program may print something, judging by its arguments and input. It is
	// false for true, and for cat with neither a file nor input.
	Prints bool `json:"-"`

	// Code says that the program runs code or tool settings from the project: its tests, its
	// scripts, the configuration of a linter. That code may do anything, however safe it is to
	// start. Dirs are the folders in which it may run; empty means unknown.
	Code bool     `json:"-"`
	Dirs []string `json:"-"`

	// Online says that the program contacts a server by itself, and gets the network for it.
	Online bool `json:"-"`
	// Asks is a reason to ask a person however low the risk is, explained by Reason, or "". Low
	// risk does not allow such an access.
	Asks ReasonCode `json:"-"`
	// CodeFiles are the absolute paths of files whose code or settings decide what the program
	// does: the script of `bash deploy.sh`, the Makefile of `make`. Some of them may not exist.
	CodeFiles []string `json:"-"`

	// Resolved is Target with links resolved on its deepest existing ancestor, or "" if the
	// path was not resolved. JSON omits it if it equals Target.
	Resolved string `json:"resolved,omitempty"`
	// Place says where Resolved lies. JSON omits it if it is unknown, or if the access does not
	// involve a path.
	Place Place `json:"place,omitzero"`
}

// PatternMark marks a word of a Line that is a pattern, as opposed to one that only looks like
// it.
const PatternMark = "\x01"

// accessFields is Access without its methods.
type accessFields Access

// accessJSON is the JSON form of an Access, with extra fields for paths that JSON strings cannot represent.
type accessJSON struct {
	accessFields

	TargetBytes   []byte `json:"target_bytes,omitempty"`
	ResolvedBytes []byte `json:"resolved_bytes,omitempty"`
}

// MarshalJSON writes the fields that clients see.
func (a Access) MarshalJSON() ([]byte, error) {
	if a.Resolved == a.Target {
		a.Resolved = ""
	}
	return json.Marshal(accessJSON{accessFields(a), invalidBytes(a.Target), invalidBytes(a.Resolved)})
}

// invalidBytes returns the bytes of a text that is not valid UTF-8, or nil.
func invalidBytes(text string) []byte {
	if utf8.ValidString(text) {
		return nil
	}
	return []byte(text)
}

// restoreBytes restores the bytes of a text that JSON altered. It does not change a masked text.
func restoreBytes(text string, whole []byte) string {
	if text == string([]rune(string(whole))) {
		return string(whole)
	}
	return text
}

// UnmarshalJSON reads the output of MarshalJSON. A known Place means that a path without
// Resolved leads to Target itself.
func (a *Access) UnmarshalJSON(data []byte) error {
	fields := accessJSON{accessFields: accessFields(*a)}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*a = Access(fields.accessFields)
	a.Target, a.Resolved = restoreBytes(a.Target, fields.TargetBytes), restoreBytes(a.Resolved, fields.ResolvedBytes)
	if a.Resolved == "" && a.Place != PlaceUnknown && a.Paths() {
		a.Resolved = a.Target
	}
	return nil
}

// Paths reports whether the access involves a path.
func (a *Access) Paths() bool {
	return a.Kind == KindRead || a.Kind == KindWrite || a.Kind == KindDelete
}

// TargetIn shortens the target for readers that know the root of the project. It is relative to
// root if it lies inside, no link leads elsewhere, and the rest begins like a name. Otherwise,
// as for a path in a home directory or an option, it is unchanged.
func (a *Access) TargetIn(root string) string {
	target := path.Clean(a.Target)
	if root == "" || a.Place != PlaceInside || cmp.Or(a.Resolved, a.Target) != target {
		return a.Target
	}
	if target == root {
		return "."
	}
	below, is := strings.CutPrefix(target, strings.TrimSuffix(root, "/")+"/")
	if first, _ := utf8.DecodeRuneInString(below); !is || !beginsName(first) {
		return a.Target
	}
	return below
}

// beginsName reports whether a path that begins with r reads like a relative path.
func beginsName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._@#+([{", r)
}

// Changes reports whether the access does more than look.
func (a *Access) Changes() bool {
	return a.Kind != KindRead && !(a.Kind == KindExec && a.Risk == Safe)
}

// Facts are the known effects of a call, gathered without running it. The zero value knows
// nothing, so the call is denied.
type Facts struct {
	Type     PermissionType
	Accesses []Access
	// Guesses are the accesses that a tool known only by its name seems to request in its
	// input, or that code in another language seems to make. A guess can only cause a refusal.
	Guesses []Access
}

// Risk returns the worst risk of the accesses, or Critical if there are no accesses.
func (f *Facts) Risk() Risk {
	if len(f.Accesses) == 0 {
		return Critical
	}
	risk := Safe
	for i := range f.Accesses {
		risk = Worse(risk, f.Accesses[i].Risk)
	}
	return risk
}

// Consequence returns the worst consequence of the accesses, or Lost if there are no accesses.
func (f *Facts) Consequence() Consequence {
	if len(f.Accesses) == 0 {
		return Lost
	}
	worst := Harmless
	for i := range f.Accesses {
		worst = WorseConsequence(worst, f.Accesses[i].Consequence)
	}
	return worst
}

// A PermissionType is the kind of permission that a call needs, as clients see it.
type PermissionType string

// The permission types.
const (
	ShellExecute      PermissionType = "shell_execute"
	FileRead          PermissionType = "file_read"
	FileWrite         PermissionType = "file_write"
	FileDelete        PermissionType = "file_delete"
	ExternalDirectory PermissionType = "external_directory"
	Network           PermissionType = "network"
	GitCommit         PermissionType = "git_commit"
	GitPush           PermissionType = "git_push"
	MCP               PermissionType = "mcp"
	Task              PermissionType = "task"
	Other             PermissionType = "other"
)
