package shell

// EveryUse calls f for a use of every entry of the tables, and for every spelling of each of
// its options. listed says that it may be a look-up, and steerable that a file of the project
// or a remote can make it contact another server.
func EveryUse(f func(line string, listed, steerable bool)) {
	use := func(path, line string) {
		l := findLookup(path, program0(path))
		f(line, l != nil, l != nil && (len(l.settings) > 0 || l.remote != nil && l.program != "gh"))
	}
	everyProgram(func(path string, p *program) {
		for _, operands := range []string{"", " x", " x y"} {
			use(path, path+operands)
		}
		everySpellingOf(path, p, func(s spelled) {
			for _, value := range []string{"x", "json", "1"} {
				for _, way := range s.ways(value) {
					use(path, s.line(way...))
					use(path, s.line(append(way, "x")...))
				}
			}
		})
	})
}
