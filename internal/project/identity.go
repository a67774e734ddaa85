package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
)

// identify sets the id, the kind and the former id.
func (p *Project) identify(cache string) {
	if p.GitDir == "" {
		p.ID = pathID(p.Root)
		return
	}
	p.Kind = kindGit
	r := &repository{p.Repository}
	id, err := r.identity(cache)
	if err != nil {
		p.addNote("identity from path: %v", err)
		p.Kind, id = kindPath, pathID(r.mainRoot())
	}
	p.ID = id
	if former := pathID(r.mainRoot()); former != id {
		p.Former = former
	}
}

// pathID returns the id of a folder without another identity.
func pathID(root string) umpire.ProjectID {
	sum := sha256.Sum256([]byte(root))
	return umpire.ProjectID(hex.EncodeToString(sum[:]))
}

// identity returns the smallest root commit of HEAD. It fails for a shallow clone, whose
// first commit depends on how it was cloned.
func (r *repository) identity(cache string) (umpire.ProjectID, error) {
	if r.shallow() {
		return "", errors.New("shallow clone")
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	head, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	known := recallMemory(cache, r.Common)
	entry, ok := known.findHead(head)
	if !ok {
		if _, err := r.program(); err != nil {
			return "", err
		}
		entry = r.walk(ctx, head, known.latest())
		known.storeHead(cache, entry)
	}
	if entry.Failed != "" {
		return "", errors.New(entry.Failed)
	}
	return umpire.ProjectID(entry.ProjectID), nil
}

// walk asks git for the roots of a head. It also returns an entry for a failure, because
// a repository that git refuses should not cost a process on every call.
func (r *repository) walk(ctx context.Context, head string, since walked) walked {
	roots, err := r.rootCommits(ctx, head, since)
	if err != nil {
		return walked{Head: head, Failed: err.Error(), At: time.Now().Unix()}
	}
	return walked{Head: head, ProjectID: roots[0], Roots: roots}
}

// mainRoot returns the folder that represents all worktrees if the path is the identity:
// the main worktree's folder, if it exists.
func (r *repository) mainRoot() string {
	if r.Worktree != "" && filepath.Base(r.Common) == ".git" {
		return filepath.Dir(r.Common)
	}
	return r.Root
}

// shallow reports whether the repository is a shallow clone.
func (r *repository) shallow() bool {
	info, err := os.Stat(filepath.Join(r.Common, "shallow"))
	return err == nil && info.Size() > 0
}
