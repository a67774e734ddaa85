package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// digestOf hashes the parts of a list that determine what Keep changes. Other programs may add and
// remove entries in a folder, so its previous time and subfolder count are left out.
func digestOf(list []Effect, folders []Folder) string {
	h := sha256.New()
	field := func(parts ...any) {
		for _, part := range parts {
			text := fmt.Sprint(part)
			fmt.Fprintf(h, "%d:%s", len(text), text)
		}
	}
	entry := func(e *Entry) {
		field(uint32(e.Type), e.Size, e.Link, e.Digest, e.ModTime.UnixNano(), e.UID, e.GID)
		field(e.Device, e.Inode, e.Links, e.SameAs)
	}
	for i := range list {
		e := &list[i]
		field("effect", e.Path, e.From, string(e.Kind))
		before := e.Before
		if before.Type.IsDir() {
			before.ModTime, before.Links = time.Time{}, 0
		}
		entry(&before)
		entry(&e.After)
	}
	for _, f := range folders {
		field("folder", f.Path, f.ModTime.UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil))
}
