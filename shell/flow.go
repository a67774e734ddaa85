package shell

// A flow describes the bytes that pass between commands: the output of one, the input of the
// next. The zero value is unknown and comes from no particular source, such as the terminal.
type flow struct {
	kind flowKind
	text string // flowText: the bytes
	dirs []word // flowPaths: names of files below these
	from string // flowForeign: the program it comes from
	// numbers says that flowForeign consists of lines of numbers, numbered that its lines begin
	// with their number and a colon.
	numbers, numbered bool
	// secret is the variable, possibly holding a secret, whose value the flow contains.
	secret string
	// environment is the one-based index of the access that asks because the whole environment
	// is printed. A reader that shows hardly any of it lifts the question.
	environment int
}

type flowKind uint8

const (
	flowNone    flowKind = iota // inherited from the shell that runs the line
	flowText                    // known bytes
	flowPaths                   // one path per line, all below known folders
	flowForeign                 // unknown output of a program
	flowRemote                  // bytes from the network
)

// foreignFlow is unpredictable output of a program.
func foreignFlow(program string) flow { return flow{kind: flowForeign, from: program} }

// filteredFlow is the output of a program that passes on some of its input's lines.
func filteredFlow(in flow, program string) flow {
	if in.kind == flowPaths || in.kind == flowRemote {
		return in
	}
	return foreignFlow(program)
}

// numberFlow is the output of a program that prints only numbers.
func numberFlow(program string) flow { return flow{kind: flowForeign, from: program, numbers: true} }

// pickedFlow is filteredFlow for programs that pass on only whole lines.
func pickedFlow(in flow, program string) flow {
	out := filteredFlow(in, program)
	out.numbers, out.numbered = in.numbers, in.numbered
	return out
}
