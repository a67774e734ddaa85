package config

import (
	"os"
	"sync"
	"time"
)

// A Kept spares a gate that serves hooks reading the same files at every call. The result is
// always current: each call checks whether a file has changed. Several goroutines may use it
// at once.
type Kept struct {
	Home string // the person's folder, with their file
	// Read reads the configuration that holds in the project of a folder.
	Read func(dir string) (*Config, error)

	mu    sync.Mutex
	byDir map[string]keptConfig
}

type keptConfig struct {
	config *Config
	read   time.Time
	files  []os.FileInfo // of [Files]; nil for a missing file
}

const (
	maxKept = 1000
	// keptTime is how long a folder is taken to belong to the same project.
	keptTime = time.Minute
	// freshTime is the minimum age of a cached file. A younger file may change again
	// without a change of its timestamp.
	freshTime = 2 * time.Second
)

// Of returns the configuration that holds in the project of a folder.
func (k *Kept) Of(dir string) (*Config, error) {
	k.mu.Lock()
	kept, ok := k.byDir[dir]
	k.mu.Unlock()
	now := time.Now()
	if ok && now.Sub(kept.read).Abs() < keptTime && sameFiles(kept.files, k.files(kept.config)) {
		return kept.config, nil
	}
	c, err := k.Read(dir)
	if err != nil {
		return nil, err
	}
	k.keep(dir, keptConfig{config: c, read: now, files: k.files(c)})
	return c, nil
}

func (k *Kept) keep(dir string, c keptConfig) {
	for _, file := range c.files {
		if file != nil && c.read.Sub(file.ModTime()) < freshTime {
			return
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byDir == nil || len(k.byDir) >= maxKept {
		k.byDir = map[string]keptConfig{}
	}
	k.byDir[dir] = c
}

// files looks at the files that a configuration is read from.
func (k *Kept) files(c *Config) (files []os.FileInfo) {
	for _, file := range Files(k.Home, c.Root) {
		info, err := os.Stat(file)
		if err != nil {
			info = nil
		}
		files = append(files, info)
	}
	return files
}

func sameFiles(was, is []os.FileInfo) bool {
	if len(was) != len(is) {
		return false
	}
	for i, a := range was {
		b := is[i]
		switch {
		case a == nil && b == nil:
		case a == nil || b == nil:
			return false
		case !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) || a.Mode() != b.Mode():
			return false
		}
	}
	return true
}
