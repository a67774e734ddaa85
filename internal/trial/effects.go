package trial

import (
	"io/fs"
	"time"

	"github.com/umpirehq/umpire"
)

// Effects are what keeping a layer would change.
type Effects struct {
	// List is sorted by path, bytewise, so that a folder comes before what lies in it. A
	// folder that was deleted lists all that it held.
	List []Effect `json:"list"`
	// Folders are folders of which nothing but the modification time is another, most of them
	// because of an entry, with the time that the trial left them with.
	Folders []Folder `json:"folders,omitempty"`
	// Refused is what the command tried and was refused, as far as that can be seen.
	Refused []Attempt `json:"refused,omitempty"`
	// Differs are operations that the layer could not do as the real folder would have.
	// With any of them the effects are not those of the command, and are not kept.
	Differs []Difference `json:"differs,omitempty"`
	// Stale are paths that were changed below the command while it ran, which it may have read before or after.
	// What it did then is a conflict, and not kept unless a person says so.
	Stale []string `json:"stale,omitempty"`
	// Digest names List and Folders: two are equal when the same would be kept.
	Digest string `json:"digest"`
	// Limit says which limit ended the reading, and is "" when the list is whole. What
	// is not whole is not kept.
	Limit string `json:"limit,omitempty"`
}

// Whole reports whether the effects are all that the command did, so that they may be
// kept.
func (e *Effects) Whole() bool { return e.Limit == "" && len(e.Differs) == 0 }

// IsEmpty reports whether nothing would change.
func (e *Effects) IsEmpty() bool { return len(e.List)+len(e.Folders) == 0 }

// An Effect is one path that is not as it was.
type Effect struct {
	Path string `json:"path"` // absolute; any bytes but zero
	// From is where a file that was moved had been.
	From string `json:"from,omitempty"`
	Kind Kind   `json:"kind"`
	// Before and After are the path as it was and is; the zero Entry stands for nothing.
	// Before of a file that was moved is that of From.
	Before Entry `json:"before,omitzero"`
	After  Entry `json:"after,omitzero"`
}

// A Kind is what happened to a path. Moved is a file with its content that has left From,
// whatever else changed about it: it stands for a deletion and a creation.
type Kind = umpire.EffectKind

// The kinds.
const (
	Created    = umpire.EffectCreated
	Changed    = umpire.EffectChanged
	Deleted    = umpire.EffectDeleted
	Moved      = umpire.EffectMoved
	Attributes = umpire.EffectAttributes
)

// An Entry is what stands at a path.
type Entry struct {
	Type fs.FileMode `json:"type"` // type and permissions, set-id bits included
	Size int64       `json:"size,omitempty"`
	Link string      `json:"link,omitempty"` // target of a symbolic link
	// Digest is of a regular file's content: see [digest.Of]. A file that was deleted has
	// none, unless a created one is as large.
	Digest  string    `json:"digest,omitempty"`
	ModTime time.Time `json:"mod_time"`
	UID     int       `json:"uid"`
	GID     int       `json:"gid"`
	// Device, Inode and Links are those of the file in Lower or Upper.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Links  uint64 `json:"links"`
	// SameAs is another path that is the same file, of those in the trial's tree the
	// first: an effect that comes earlier in the list, or a path that is not in it.
	SameAs string `json:"same_as,omitempty"`
}

// Exists reports whether something stands at the path.
func (e *Entry) Exists() bool { return e.Inode != 0 }

// A Folder is a folder that is as it was, but for its modification time.
type Folder struct {
	Path    string    `json:"path"`
	ModTime time.Time `json:"mod_time"` // as the trial left it
}

// An Attempt is something that was refused.
type Attempt struct {
	Kind   AttemptKind `json:"kind"`
	Target string      `json:"target"` // an address or a name with its port, or a path
}

// An AttemptKind says what was tried.
type AttemptKind = umpire.AttemptKind

// The kinds of attempts.
const (
	AttemptNetwork = umpire.AttemptNetwork
	AttemptWrite   = umpire.AttemptWrite
)

// A Difference is an operation that the layer could not do.
type Difference struct {
	Path   string           `json:"path"`
	Reason DifferenceReason `json:"reason"`
}

// A DifferenceReason says why a trial differs from a run.
type DifferenceReason string

// The reasons.
const (
	// DiffersHardLink is a file with several names that was changed, or moved, by one of them.
	// In the real folder its other names would have changed too.
	DiffersHardLink DifferenceReason = "hard_link"
	// DiffersRename is a folder that could not be moved.
	DiffersRename DifferenceReason = "rename"
	// DiffersSpecial is a socket, pipe or device, which is not kept.
	DiffersSpecial DifferenceReason = "special"
	// DiffersAttributes are extended attributes or access lists, which are not kept.
	DiffersAttributes DifferenceReason = "extended_attributes"
	// DiffersUnreadable could not be read to compare it.
	DiffersUnreadable DifferenceReason = "unreadable"
	// DiffersOwner belongs to a user or group that a user namespace does not have, so that the
	// layer could not take it.
	DiffersOwner DifferenceReason = "owner"
	// DiffersUnobserved is a trial that could not be observed: a folder may not have been moved.
	DiffersUnobserved DifferenceReason = "unobserved"
)

// limits bound the reading of effects. A zero field is its default.
type limits struct {
	Entries int   // paths in the list and below deleted folders
	Bytes   int64 // content that is read for digests, holes not counted
	Depth   int   // folders in each other
}

// The limits where nothing else is said.
const (
	maxEntries = 100_000
	maxBytes   = 8 << 30
	maxDepth   = 256

	// maxDiffers bounds what is said about a trial that is not kept anyway.
	maxDiffers = 100
)
