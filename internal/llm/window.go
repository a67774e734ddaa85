package llm

import "strings"

// A bounded model knows the size of its context window.
type bounded interface {
	// Window is the model's context in tokens, 0 where it is not known.
	Window() int64
}

// WindowOf is a model's context in tokens, 0 where it is not known.
func WindowOf(m Model) int64 {
	if b, ok := m.(bounded); ok {
		return b.Window()
	}
	return 0
}

// Windows are contexts in tokens, by what the name of a model begins with.
type Windows map[string]int64

// Of returns the context window of a model: the entry with the longest prefix of its name, or
// 0.
func (w Windows) Of(name string) int64 {
	longest := ""
	for prefix := range w {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return w[longest]
}

// Window is that of the model.
func (s *Steady) Window() int64 { return WindowOf(s.model) }

// Window is that of the model.
func (l *Log) Window() int64 { return WindowOf(l.model) }
