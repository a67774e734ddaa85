package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// The questions that wait in the second half of BenchmarkTeamMemory.
const (
	memorySessions  = 20
	memoryQuestions = 50 // in one session
)

// BenchmarkTeamMemory reports the memory of a gate that has just started, and with 1,000 questions that wait and a
// card read for each.
func BenchmarkTeamMemory(b *testing.B) {
	t := newTeam(b, 1, false)
	gate, err := t.homes[0].ready(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	memory := func(unit string) { b.ReportMetric(residentMB(b, gate.pid), unit) }
	memory("idle-MB")
	for i := range memorySessions {
		w := t.worker(i)
		s := umpire.Submission{Session: w.session.ID, Batch: umpire.BatchID(fmt.Sprint("b", i)), Message: callMessage}
		for n := range memoryQuestions {
			id := fmt.Sprintf("c%d-%d", i, n)
			input := json.RawMessage(`{"command":"npm install ` + id + `"}`)
			s.Calls = append(s.Calls, umpire.Call{ID: umpire.CallID(id), Tool: "Bash", Input: input})
		}
		if _, err := w.agent.Submit(b.Context(), s); err != nil {
			b.Fatal(err)
		}
		if _, err := w.person.Pending(b.Context(), umpire.PendingQuery{Session: w.session.ID}); err != nil {
			b.Fatal(err)
		}
	}
	memory("waiting-MB")
}

// residentMB returns the resident memory of a process in MB.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "status"))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	var kB float64
	if _, err := fmt.Sscan(after, &kB); err != nil {
		b.Fatal(err)
	}
	return kB * 1024 / 1e6
}
