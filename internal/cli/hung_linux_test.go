package cli

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// TestHungFolders runs the scripts in which a file system does not answer.
func TestHungFolders(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	if unmount, _, err := mountHung(t.TempDir()); err != nil {
		t.Skipf("no file system can be mounted here that does not answer: %v", err)
	} else if err := unmount(); err != nil {
		t.Fatal(err)
	}
	params := scriptParams()
	params.Dir = filepath.Join("testdata", "hung")
	maps.Copy(params.Cmds, map[string]func(*testscript.TestScript, bool, []string){"hangs-in": scriptHangsIn})
	testscript.Run(t, params)
}

// hangs-in FOLDER METHOD JSON: posts as an agent, until the gate waits for the folder, which never answers.
func scriptHangsIn(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.Mkdir(args[0], 0o700))
	unmount, device, err := mountHung(args[0])
	ts.Check(err)
	ts.Defer(func() { ts.Check(unmount()) })
	request, transport := postRequest(ts, "agent", args[1], args[2])
	go func() { _, _, _ = send(request, transport) }()
	waiting := []unix.PollFd{{Fd: int32(device), Events: unix.POLLIN}} //nolint:gosec // a descriptor is small
	if n, err := unix.Poll(waiting, int(answerTime.Milliseconds())); n != 1 {
		ts.Fatalf("nobody looked into the folder: %v", err)
	}
}

// mountHung mounts a FUSE file system that completes its mount, and then never answers. A request to it
// makes the device readable.
func mountHung(dir string) (unmount func() error, device int, err error) {
	if device, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return nil, 0, fmt.Errorf("open /dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", device)
	if err := unix.Mount("umpire-test", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("mount: %w", err), unix.Close(device))
	}
	unmount = func() error { return errors.Join(unix.Close(device), unix.Unmount(dir, unix.MNT_DETACH)) }
	question := make([]byte, 64<<10)
	if _, err = unix.Read(device, question); err == nil {
		_, err = unix.Write(device, helloOfFuse(question))
	}
	if err != nil {
		return nil, 0, errors.Join(err, unmount())
	}
	return unmount, device, nil
}

// helloOfFuse answers FUSE_INIT by the version of the protocol that is spoken, 7.31.
func helloOfFuse(question []byte) []byte {
	answer := make([]byte, 16+64)
	binary.NativeEndian.PutUint32(answer, uint32(len(answer)))
	copy(answer[8:16], question[8:16]) // the number of the request
	binary.NativeEndian.PutUint32(answer[16:], 7)
	binary.NativeEndian.PutUint32(answer[20:], 31)
	binary.NativeEndian.PutUint32(answer[36:], 4096) // the most bytes that are written at once
	return answer
}
