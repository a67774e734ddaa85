package shell

// A flow is what is known of the bytes that pass between commands: what one
// prints, what the next reads. The zero value is not known and comes from
// nowhere in particular, such as the terminal.
type flow struct {
	kind flowKind
	text string // flowText: the bytes
	dirs []word // flowPaths: names of files below these
	from string // flowForeign: the program it comes from
	// numbers says that flowForeign is lines of numbers, numbered that its lines
	// begin with their number and a colon.
	numbers, numbered bool
	// secret is the variable, one that may hold a secret, whose value is in it.
	secret string
	// environment is, one-based, the access that asks because all of the
	// environment is printed; a reader that shows next to nothing of it lifts that.
	environment int
}

type flowKind uint8

const (
	flowNone    flowKind = iota // inherited from whoever runs the line
	flowText                    // known bytes
	flowPaths                   // one path a line, all below known folders
	flowForeign                 // whatever a program prints
	flowRemote                  // bytes from the network
)

// foreignFlow is what a program prints that we cannot predict.
func foreignFlow(program string) flow { return flow{kind: flowForeign, from: program} }

// filteredFlow is what a program prints that passes on a part of its input's lines.
func filteredFlow(in flow, program string) flow {
	if in.kind == flowPaths || in.kind == flowRemote {
		return in
	}
	return foreignFlow(program)
}

// numberFlow is what a program prints that prints numbers and nothing else.
func numberFlow(program string) flow { return flow{kind: flowForeign, from: program, numbers: true} }

// pickedFlow is filtered, for programs that pass on whole lines or none.
func pickedFlow(in flow, program string) flow {
	out := filteredFlow(in, program)
	out.numbers, out.numbered = in.numbers, in.numbered
	return out
}
