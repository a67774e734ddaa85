package trial

import (
	"io/fs"
	"time"

	"github.com/umpirehq/umpire"
)

// Effects are the changes that keeping a layer would make.
type Effects struct {
	// List is sorted by path, bytewise, so a folder comes before its entries. A deleted
	// folder is listed with everything in it.
	List []Effect `json:"list"`
	// Folders are folders whose only change is the modification time, mostly because an
	// entry changed. Each has the time that the trial left.
	Folders []Folder `json:"folders,omitempty"`
	// Refused lists refused attempts of the command, as far as they are visible.
	Refused []Attempt `json:"refused,omitempty"`
	// Reached are the destinations that the command reached through [Spec.Exit].
	Reached []umpire.TrialReach `json:"reached,omitempty"`
	// Differs are operations that the layer could not do as the real folder would have.
	// If there are any, the effects are not the command's and cannot be kept.
	Differs []Difference `json:"differs,omitempty"`
	// Stale are paths that changed below the command while it ran. It may have read them before or
	// after the change, so they count as conflicts and are kept only if a person says so.
	Stale []string `json:"stale,omitempty"`
	// Digest identifies List and Folders. Equal digests mean that Keep would make the same changes.
	Digest string `json:"digest"`
	// Limit names the limit that stopped the reading, or is "" if the list is complete.
	// Incomplete effects cannot be kept.
	Limit string `json:"limit,omitempty"`
}

// Whole reports whether the effects are complete and may be kept.
func (e *Effects) Whole() bool { return e.Limit == "" && len(e.Differs) == 0 }

// IsEmpty reports whether nothing would change.
func (e *Effects) IsEmpty() bool { return len(e.List)+len(e.Folders) == 0 }

// An Effect is a change of one path.
type Effect struct {
	Path string `json:"path"` // absolute; any bytes but zero
	// From is the previous path of a moved file.
	From string `json:"from,omitempty"`
	Kind Kind   `json:"kind"`
	// Before and After are the path's old and new entry; the zero Entry means that
	// nothing exists. For a moved file, Before is the entry at From.
	Before Entry `json:"before,omitzero"`
	After  Entry `json:"after,omitzero"`
}

// A Kind is the kind of change at a path. Moved is a file that has left From with its
// content, possibly with other changes. It stands for a deletion and a creation.
type Kind = umpire.EffectKind

// The kinds of effects.
const (
	Created    = umpire.EffectCreated
	Changed    = umpire.EffectChanged
	Deleted    = umpire.EffectDeleted
	Moved      = umpire.EffectMoved
	Attributes = umpire.EffectAttributes
)

// An Entry describes the file, folder or link at a path.
type Entry struct {
	Type fs.FileMode `json:"type"` // type and permissions, set-id bits included
	Size int64       `json:"size,omitempty"`
	Link string      `json:"link,omitempty"` // target of a symbolic link
	// Digest is the digest of a regular file's content: see [digestContent]. It is "" for a
	// deleted file unless a created file has the same size.
	Digest  string    `json:"digest,omitempty"`
	ModTime time.Time `json:"mod_time"`
	UID     int       `json:"uid"`
	GID     int       `json:"gid"`
	// Device, Inode and Links belong to the file in Lower or Upper.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Links  uint64 `json:"links"`
	// SameAs is the first other path in the trial's tree with the same file: an earlier
	// effect in the list, or a path outside the list.
	SameAs string `json:"same_as,omitempty"`
}

// Exists reports whether the path exists.
func (e *Entry) Exists() bool { return e.Inode != 0 }

// A Folder is a folder whose only change is its modification time.
type Folder struct {
	Path    string    `json:"path"`
	ModTime time.Time `json:"mod_time"` // as the trial left it
}

// An Attempt is a refused operation.
type Attempt struct {
	Kind   AttemptKind `json:"kind"`
	Target string      `json:"target"` // an address or a name with its port, or a path
}

// An AttemptKind is the kind of a refused operation.
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

// A DifferenceReason is the reason why a trial differs from a real run.
type DifferenceReason string

// The reasons why a trial differs.
const (
	// DiffersHardLink is a file with several names that was changed or moved through one
	// of them. In the real folder its other names would have changed too.
	DiffersHardLink DifferenceReason = "hard_link"
	// DiffersRename is a folder that could not be moved.
	DiffersRename DifferenceReason = "rename"
	// DiffersSpecial is a socket, pipe or device, which is not kept.
	DiffersSpecial DifferenceReason = "special"
	// DiffersAttributes are extended attributes or access lists, which are not kept.
	DiffersAttributes DifferenceReason = "extended_attributes"
	// DiffersUnreadable is a path that could not be read for the comparison.
	DiffersUnreadable DifferenceReason = "unreadable"
	// DiffersOwner is a path whose owner or group does not exist in the user namespace,
	// so the layer could not copy it up.
	DiffersOwner DifferenceReason = "owner"
	// DiffersUnobserved is a trial that could not be observed: a folder may not have been moved.
	DiffersUnobserved DifferenceReason = "unobserved"
)

// limits bound the reading of effects. Zero fields use the defaults.
type limits struct {
	Entries int   // paths in the list and below deleted folders
	Bytes   int64 // content read for digests, without holes
	Depth   int   // nesting of folders
}

// The default limits.
const (
	maxEntries = 100_000
	maxBytes   = 8 << 30
	maxDepth   = 256

	// maxDiffers limits how many differences are listed for a trial that cannot be kept anyway.
	maxDiffers = 100
)
