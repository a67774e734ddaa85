package llm

import "strings"

// A bounded model knows the size of its context window.
type bounded interface {
	// Window returns the model's context in tokens, or 0 if unknown.
	Window() int64
}

// WindowOf returns a model's context in tokens, or 0 if unknown.
func WindowOf(m Model) int64 {
	if b, ok := m.(bounded); ok {
		return b.Window()
	}
	return 0
}

// windows are contexts in tokens, by prefixes of model names.
type windows map[string]int64

// Of returns the context window of a model: the entry with the longest prefix of its name, or
// 0.
func (w windows) Of(name string) int64 {
	longest := ""
	for prefix := range w {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return w[longest]
}

// Window returns the model's window.
func (s *Steady) Window() int64 { return WindowOf(s.model) }

// Window returns the model's window.
func (l *Log) Window() int64 { return WindowOf(l.model) }
