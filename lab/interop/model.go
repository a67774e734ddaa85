package interop

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// A modelServer is a scripted model that also answers sub-agents. Its fields are set before the first request.
type modelServer struct {
	*drive.Model
	// Sub is played to those sub-agents whose prompt contains [subMark].
	Sub []drive.Turn
	// Inputs compute the inputs of calls from earlier results, by the ids of the calls.
	Inputs map[string]func(map[string]drive.Result) map[string]any

	mu      sync.Mutex
	results map[string]drive.Result
	tools   map[string]bool // tools it was offered
	grown   chan struct{}   // closed when results has grown, and replaced
}

// subMark is in the prompt that a scripted call gives a sub-agent.
const subMark = "SUBTASK"

// StartModel starts a model on a free port of the loopback.
func StartModel(main ...drive.Turn) (*modelServer, error) {
	served, err := drive.StartModel()
	if err != nil {
		return nil, err
	}
	m := &modelServer{
		Model: served, results: map[string]drive.Result{}, tools: map[string]bool{}, grown: make(chan struct{}),
	}
	m.Main, m.Choose = main, m.choose
	return m, nil
}

// choose picks the turn for a request.
func (m *modelServer) choose(r drive.Request) drive.Turn {
	m.mu.Lock()
	for _, tool := range r.Tools {
		m.tools[tool] = true
	}
	maps.Copy(m.results, r.Results)
	close(m.grown)
	m.grown = make(chan struct{})
	m.mu.Unlock()
	turns := m.Main
	if strings.Contains(r.First, subMark) {
		turns = m.Sub
	}
	turn := slices.Clone(drive.NextTurn(turns, r.Results))
	for i := range turn {
		if input := m.Inputs[turn[i].ID]; input != nil {
			turn[i].Input = input(r.Results)
		}
	}
	return turn
}

// Results returns all reported results, by the id of the call.
func (m *modelServer) Results() map[string]drive.Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.results)
}

// Offered returns the tools that the agent has offered to the model so far.
func (m *modelServer) Offered() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tools)
}

// WaitFor waits for the result of a call; it reports whether it came before the end of ctx.
func (m *modelServer) WaitFor(ctx context.Context, id string) bool {
	for {
		m.mu.Lock()
		_, ok := m.results[id]
		grown := m.grown
		m.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return false
		}
	}
}
