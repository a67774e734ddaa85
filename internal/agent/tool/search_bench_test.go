package tool

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire"
)

// BenchmarkGrep searches the sources of Go, and compares Grep with common search programs.
func BenchmarkGrep(b *testing.B) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		b.Skip("needs the sources of Go")
	}
	goTool, err = filepath.EvalSymlinks(goTool)
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Join(filepath.Dir(filepath.Dir(goTool)), "src")
	for name, pattern := range map[string]string{"nowhere": "no such words", "names": "Unmarshal", "class": `[A-Z][a-z]+Error\(`} {
		b.Run(name+"/Grep", func(b *testing.B) {
			s := New(Options{Root: root})
			input, err := json.Marshal(map[string]any{"pattern": pattern, "output_mode": "files_with_matches"})
			if err != nil {
				b.Fatal(err)
			}
			started := umpire.Started{Go: true, Call: umpire.Call{Tool: "Grep", Dir: root, Input: input}, Decision: umpire.Decision{Verdict: umpire.Allow}}
			for b.Loop() {
				if r := s.Run(b.Context(), started); r.Status != umpire.ResultOK {
					b.Fatal(r.Output)
				}
			}
		})
		for program, args := range map[string][]string{"rg": {"-l"}, "grep": {"-rlIE"}} {
			if _, err := exec.LookPath(program); err != nil {
				continue
			}
			b.Run(name+"/"+program, func(b *testing.B) {
				for b.Loop() {
					_ = exec.CommandContext(b.Context(), program, append(args, "--", pattern, root)...).Run() // 1: none
				}
			})
		}
	}
}
