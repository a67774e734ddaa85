package shell

import (
	"fmt"
	"os"
	"testing"
)

func TestScratch(t *testing.T) {
	line := os.Getenv("LINE")
	for _, a := range Parse(line, Env{Dir: "/p", Home: "/home/u"}) {
		fmt.Printf("%d %-7s %-10s %-8s words=%q target=%q tree=%v glob=%v redir=%v doubt=%q | %s [%s]\n", a.Part, a.Kind, a.Program, a.Risk, a.Words, a.Target, a.Tree, a.Glob, a.Redirect, a.Doubt, a.Reason, a.Table)
	}
}
