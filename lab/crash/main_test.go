//go:build unix

package crash

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	flagKills = flag.Int("kills", 0, "how many processes TestKills ends in each store (default 200, 100 in PostgreSQL)")
	flagSeed  = flag.Uint64("seed", 0, "the seed of TestKills (default: another one each time)")
)

// envProgram may name a built umpire.
const envProgram = "UMPIRE_PROGRAM"

// program is the umpire under test.
var program = os.Getenv(envProgram)

// patience is how long anything may take that is not being killed.
const patience = 10 * time.Minute

// TestMain builds umpire once.
func TestMain(m *testing.M) {
	flag.Parse()
	scratch, err := os.MkdirTemp("", "umpire-crash-program-")
	if err == nil && program == "" {
		program = filepath.Join(scratch, "umpire")
		err = build(program)
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, "crash:", err)
	}
	os.RemoveAll(scratch)
	os.Exit(code)
}

func build(target string) error {
	cmd := exec.Command("go", "build", "-o", target, "./cmd/umpire")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build umpire: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
