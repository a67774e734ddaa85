package umpire

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An AccessKind is the sort of thing that an access does.
type AccessKind uint8

// The kinds of access. The zero value is none of them, and is never allowed.
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
	return Errorf("access kind %q is not known", text)
}

// A Place says where a path lies, once links are resolved. The zero value is
// PlaceUnknown, which counts as outside.
type Place uint8

// The places.
const (
	PlaceUnknown  Place = iota // not resolved
	PlaceOutside               // outside the project and the added directories
	PlaceInside                // inside the project, its worktree or an added directory
	PlaceHarmless              // /dev/null, the terminal and the standard streams
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

// UnmarshalText reads a place's name. A name that is not known is an error.
func (p *Place) UnmarshalText(text []byte) error {
	for i, name := range placeNames {
		if string(text) == name {
			*p = Place(i)
			return nil
		}
	}
	return Errorf("place %q is not known", text)
}

// An Access is one thing that a call would do: start a program, read, write or
// delete a path, reach a host, invoke a tool. Gathering the facts fills the
// first group of fields; resolving a path fills the second; deciding fills
// Verdict.
type Access struct {
	Kind AccessKind `json:"kind"`
	// Program is the name of the program that KindExec starts, without its
	// folder. Args are the words after it as far as they are known.
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Target is a path as written but made absolute, a host, or a tool's name.
	Target  string  `json:"target"`
	Verdict Verdict `json:"verdict"`
	Risk    Risk    `json:"risk"`
	// Consequence says what cannot be taken back. The facts state it for exec and
	// invoke; deciding derives it for paths and hosts.
	Consequence Consequence `json:"consequence"`
	// Reason says in a few words why the access has its risk.
	Reason Phrase `json:"reason"`
	// Doubt says what could not be known. An access in doubt is never allowed
	// by a rule, a mode or its risk; only a grant for the exact command covers it.
	Doubt Phrase `json:"doubt,omitempty"`
	// Table names the piece of knowledge that spoke, as "program option".
	Table string `json:"table,omitempty"`

	// Words are the words that command rules match: the program and its
	// arguments without wrappers, assignments, redirections or the program's
	// global options.
	Words []string `json:"-"`
	// Line are all words of the simple command, the program's global options too. One
	// that the shell would expand as a pattern begins with PatternMark.
	Line []string `json:"-"`
	// Base is how many of Words name the program and its subcommands.
	Base int `json:"-"`
	// Extras are the options that do more than the program does without them, or
	// may do so since they are not known, as the table spells them. One that stands
	// before a subcommand follows the program's name, as in "git -C".
	Extras []string `json:"-"`
	// Part numbers the simple command within its line. An allow rule for the
	// command covers the other accesses of its part, but for Redirect ones.
	Part     int  `json:"-"`
	Redirect bool `json:"-"`
	// Via is the part of the command by whose script or recipe the access happens, 0 for
	// none. An allow rule for that command covers it as well.
	Via int `json:"-"`
	// Observed says that a trial did this, and keeping it would: the name itself is replaced, so
	// a link at Target is not followed, and an undo takes it back.
	Observed bool `json:"-"`
	// Tree says that a write or a delete reaches everything below Target.
	Tree bool `json:"-"`
	// Picked says that a filter picks what is written or deleted below Target, or what
	// fits Target where that is a Glob, so that nothing goes as a whole.
	Picked bool `json:"-"`
	// Kinds are the extensions of the only files that a Tree or Glob write changes, as of a
	// formatter, which lays them out anew and does not change what they mean.
	Kinds []string `json:"-"`
	// Follows says that links found below Target are followed.
	Follows bool `json:"-"`
	// Handed are the patterns of the names of those files below Target that a program is
	// handed one by one, as find does; none where it looks through Target itself.
	Handed []string `json:"-"`
	// Names says that only names and attributes are looked at, not contents.
	Names bool `json:"-"`
	// Glob says that Target holds wildcards that the shell would expand.
	Glob bool `json:"-"`
	// Prints says that a program has something to print, as far as its words and its input tell:
	// not true, nor cat that gets neither a file nor input.
	Prints bool `json:"-"`

	// Code says that code or tool settings run that the project brings: its tests, its
	// scripts, the configuration of a linter. It may do anything, however safe it is to
	// start. Dirs are the folders in which it may run; none means that they are not known.
	Code bool     `json:"-"`
	Dirs []string `json:"-"`

	// Online says that the program asks a server by itself, and gets the network for it.
	Online bool `json:"-"`
	// Asks is a reason to ask a person, however low the risk is, that Reason tells; "" is
	// none. Such an access is not allowed by its risk.
	Asks ReasonCode `json:"-"`
	// CodeFiles are files, by absolute path, whose code or settings say what the program
	// does: the script of `bash deploy.sh`, the Makefile of `make`. Not all of them need
	// exist.
	CodeFiles []string `json:"-"`

	// Resolved is Target with links resolved on its deepest existing ancestor; "" if the path
	// was not resolved. JSON leaves it out where it equals Target.
	Resolved string `json:"resolved,omitempty"`
	// Place says where that lies. In JSON it is left out where it is not known, or where
	// the access is not about a path.
	Place Place `json:"place,omitzero"`
}

// PatternMark tells a word of a Line that is a pattern from one that only looks
// like it.
const PatternMark = "\x01"

// accessFields is Access without its methods.
type accessFields Access

// accessJSON is an Access in JSON, whose texts cannot hold every path.
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

// invalidBytes returns a text that JSON cannot hold, nil for any other.
func invalidBytes(text string) []byte {
	if utf8.ValidString(text) {
		return nil
	}
	return []byte(text)
}

// restoreBytes undoes what JSON did to a text. A text that was masked stays so.
func restoreBytes(text string, whole []byte) string {
	if text == string([]rune(string(whole))) {
		return string(whole)
	}
	return text
}

// UnmarshalJSON reads what MarshalJSON wrote. Place tells a path that leads to Target itself from one that
// was not resolved.
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

// Paths reports whether the access is about a path.
func (a *Access) Paths() bool {
	return a.Kind == KindRead || a.Kind == KindWrite || a.Kind == KindDelete
}

// TargetIn returns the target as people read it who know the root of the project: relative to it where it lies
// inside, no link leads elsewhere, and what is left begins as a name does. A path from elsewhere, one from a home
// directory and an option do not.
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

// beginsName reports whether a path that begins with a character looks like one below the folder that one is in.
func beginsName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._@#+([{", r)
}

// Changes reports whether the access does more than look.
func (a *Access) Changes() bool {
	return a.Kind != KindRead && !(a.Kind == KindExec && a.Risk == Safe)
}

// Facts are what is known about a call without running it. The zero value
// knows nothing, and what knows nothing is denied.
type Facts struct {
	Type     PermissionType
	Accesses []Access
	// Guesses are what a tool that is known by name only would do if its input means
	// what it seems to, and what code of another language than the shell's seems to do. One counts
	// where it is refused, and nowhere else.
	Guesses []Access
}

// Risk returns the worst risk of the accesses; Critical when there are none.
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

// Consequence returns the worst consequence of the accesses; Lost when there are none.
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
