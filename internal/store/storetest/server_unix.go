//go:build unix

package storetest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// An owner is the user that runs a server, because PostgreSQL refuses to run as root.
type owner struct{ credential *syscall.Credential }

// serverOwner returns this user, or for root an unprivileged one.
func serverOwner(t testing.TB) owner {
	t.Helper()
	if os.Geteuid() != 0 {
		return owner{}
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	t.Fatal("there is neither a user postgres nor nobody to run a server as")
	return owner{}
}

func (o owner) own(dir string) error {
	if o.credential == nil {
		return nil
	}
	return os.Chown(dir, int(o.credential.Uid), int(o.credential.Gid))
}

func (o owner) runAs(cmd *exec.Cmd) {
	if o.credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
	}
}
