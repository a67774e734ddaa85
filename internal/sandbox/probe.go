package sandbox

// A Probe is one thing that a command must not be able to do, tried in earnest.
type Probe struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// Landlock, Filter and Full are what came of it with Landlock alone, with the
	// filter of system calls as well, and with everything.
	Landlock Outcome `json:"landlock"`
	Filter   Outcome `json:"filter"`
	Full     Outcome `json:"full"`

	// loopback says that the other layers let it be where there is a loopback to use.
	loopback bool
}

// An Outcome is the error with which a probe was refused, such as EROFS, or Allowed.
// The zero value says that it was not tried.
type Outcome string

// allowed is the outcome of a probe that did what it tried.
const allowed Outcome = "ALLOWED"

// denied reports whether a probe was tried in vain.
func (o Outcome) denied() bool { return o != allowed && o != "" }

// A Report is what the sandbox of this machine stops.
type Report struct {
	Ability

	Landlock int     `json:"landlock_version,omitempty"`
	Probes   []Probe `json:"probes,omitempty"`
}

// best is the outcome with all layers that this machine has.
func (r *Report) best(p *Probe) Outcome {
	if r.Whole() {
		return p.Full
	}
	return p.Filter
}

// Holes are the probes that the sandbox of this machine does not stop.
func (r *Report) Holes() []string {
	var names []string
	for i := range r.Probes {
		if p := &r.Probes[i]; !r.best(p).denied() {
			names = append(names, p.Name)
		}
	}
	return names
}

// By returns the probes that a layer is the first to stop: Landlock, then the filter,
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
