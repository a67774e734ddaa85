//go:build !linux

package sandbox

import (
	"context"
	"io/fs"
	"os"
)

// This file has the parts of the sandbox that only Linux needs or supports.

// Main is for systems where the program starts itself again as the sandbox's helper.
func Main() {}

type holdings struct{}

func (l Limits) layers() layers { return allLayers }

// keepAbsent does nothing: Seatbelt's rules also cover paths that do not exist yet.
func (b *Box) keepAbsent(string) error { return nil }

func hasMark(string, fs.FileInfo) bool { return false }

// layersOver returns nil because this system has no layers.
func layersOver(string, []string, string, bool) ([]caches, error) { return nil, nil }

// sockets returns false because it cannot find the listening sockets.
func sockets() (paths []string, all bool) { return nil, false }

// idOf returns no identity on this system: folders are distinguished by their times.
func idOf(fs.FileInfo) (fileID, uint64) { return fileID{}, 1 }

// linksOf does not count names on this system.
func linksOf(*os.File, string) (fileID, uint64) { return fileID{}, 1 }

// timedDevices returns nil because programs may set a folder's time on this system.
func timedDevices([]string) []uint64 { return nil }

// An Ahead is only useful on systems whose helper can start before its order is known.
type Ahead struct{}

// StartAhead returns nil on this system.
func StartAhead(*os.File) *Ahead { return nil }

// End does nothing on this system.
func (a *Ahead) End() {}

// Examine returns the ability without probes, which need Linux.
func Examine(context.Context, string) (Report, error) { return Report{Ability: Available()}, nil }
