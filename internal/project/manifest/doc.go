// Package manifest knows the files of a project that name code: those that a test runner, a package
// manager or a build obeys. It records which of them a person trusts, and reads the scripts in them
// that are command lines.
//
//	l := manifest.Ledger{Dir: filepath.Join(home, "trusted-code"), Digest: sum}
//	err := l.Grant(bounds)                 // a person trusts the code of this clone
//	why := l.Check(bounds, dirs)           // "" while that holds
//
// The record is outside the clone. It contains a digest for every part of a file that names code,
// and the commit of HEAD. Trust ends when one of them differs, when another such file appears, and
// when HEAD moves by anything but a commit made in this clone.
package manifest
