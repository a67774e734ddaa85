package sandbox

import "sync"

// slots number resources that concurrent commands must not share. The lowest free number
// is used, so consecutive commands share it.
type slots struct {
	mu    sync.Mutex
	taken []bool
}

// take returns a number and a function that frees it.
func (s *slots) take() (number int, free func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number < len(s.taken) && s.taken[number] {
		number++
	}
	if number == len(s.taken) {
		s.taken = append(s.taken, false)
	}
	s.taken[number] = true
	return number, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken[number] = false
	}
}
