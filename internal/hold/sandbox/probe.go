package sandbox

// A Probe is a real attempt at an operation that a command must not be able to do.
type Probe struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// Landlock, Filter and Full are the outcomes with Landlock alone, with the system
	// call filter added, and with all layers.
	Landlock Outcome `json:"landlock"`
	Filter   Outcome `json:"filter"`
	Full     Outcome `json:"full"`

	// loopback means that the other layers allow it if there is a usable loopback.
	loopback bool
}

// An Outcome is the error with which a probe was refused, such as EROFS, or ALLOWED. The
// zero value means that it was not tried.
type Outcome string

// allowed is the outcome of a probe that succeeded.
const allowed Outcome = "ALLOWED"

// denied reports whether a probe was tried and refused.
func (o Outcome) denied() bool { return o != allowed && o != "" }

// A Report lists what the sandbox of this machine stops.
type Report struct {
	Ability

	Landlock int     `json:"landlock_version,omitempty"`
	Probes   []Probe `json:"probes,omitempty"`
}

// best returns the outcome with all layers of this machine.
func (r *Report) best(p *Probe) Outcome {
	if r.Whole() {
		return p.Full
	}
	return p.Filter
}

// Holes returns the names of the probes that the sandbox of this machine does not stop.
func (r *Report) Holes() []string {
	var names []string
	for i := range r.Probes {
		if p := &r.Probes[i]; !r.best(p).denied() {
			names = append(names, p.Name)
		}
	}
	return names
}

// By groups the probes by the first layer that stops them: Landlock, then the filter,
// then namespaces and mounts.
func (r *Report) By() (landlock, filter, namespaces []string) {
	for i := range r.Probes {
		switch p := &r.Probes[i]; {
		case !r.best(p).denied():
		case p.loopback && r.Whole():
			namespaces = append(namespaces, p.Name)
		case p.Landlock.denied():
			landlock = append(landlock, p.Name)
		case p.Filter.denied():
			filter = append(filter, p.Name)
		default:
			namespaces = append(namespaces, p.Name)
		}
	}
	return landlock, filter, namespaces
}
