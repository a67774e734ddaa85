package host

// An Output is what a hook process leaves behind. The zero value says nothing
// and exits 0: no opinion.
type Output struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// exitBlock is the exit code that hook clients read as "do not run this".
const exitBlock = 2
