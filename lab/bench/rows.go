package main

import "strings"

// A row is one line of the table: how much work takes, as a multiple of its anchor.
type row struct {
	work, anchor string
	solid, aim   float64 // limits as multiples of the anchor; 0 means no goal
	benchmark    benchmark
	of           func(figures) (float64, bool)
}

// ratio divides the results of two benchmarks in a unit.
func ratio(ours, anchor, unit string) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) {
		a, b := f[ours][unit], f[anchor][unit]
		return a / b, a > 0 && b > 0
	}
}

// between divides two figures of one benchmark.
func between(name, ours, anchor string) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) {
		a, b := f[name][ours], f[name][anchor]
		return a / b, a > 0 && b > 0
	}
}

// reported returns a figure of a benchmark that is already a multiple, or has no anchor.
func reported(name, unit string) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) {
		value, ok := f[name][unit]
		return value, ok
	}
}

// The benchmarks that the rows read.
var (
	hooks      = benchmark{"internal/cli", "Hook", "40x"}
	idle       = benchmark{"internal/cli", "HookIdle", "10x"}
	trials     = benchmark{"internal/cli", "Try", "40x"}
	triedFiles = benchmark{"internal/cli", "TryFiles", "20x"}
	lookup     = benchmark{"lab/bench", "Lookup", "300ms"}
	reload     = benchmark{"lab/bench", "Reload", "5x"}
	decisions  = benchmark{"internal/host", "Decision", "300ms"}
	worst      = benchmark{"shell", "WorstInput", "3x"}
	answers    = benchmark{"internal/store/sqlite", "Answer", "300x"}
	answers16  = benchmark{"internal/store/sqlite", "Answers16", "3000x"}
	release    = benchmark{"lab/crash", "Release", "100x"}
	team       = benchmark{"lab/crash", "TeamCalls/asked", "1000x"}
	transfer   = benchmark{"internal/hold/egress", "Million", "300ms"}
	fetch      = benchmark{"internal/hold/egress", "Fetch", "300ms"}
	memory     = benchmark{"lab/crash", "TeamMemory", "1x"}
	neighbour  = benchmark{"lab/crash", "TeamNeighbour", "5x"}
	watchers   = benchmark{"internal/server", "Watchers", "10x"}
	batches    = benchmark{"lab/crash", "TeamBatch", "1x"}
	firstBuild = benchmark{"lab/bench", "FirstBuild", "1x"}
)

// rows lists the measurements of umpire. The goals come from its design.
var rows = []row{
	{
		work: "hook through a warm gate, durable", anchor: "`cat`", solid: 3, aim: 2,
		benchmark: hooks, of: reported("Hook", "small-gate/cat"),
	},
	{
		work: "hook without a gate", anchor: "`cat`", solid: 2.6, aim: 2,
		benchmark: hooks, of: reported("Hook", "small-alone/cat"),
	},
	{work: "a Go program that copies its input", anchor: "`cat`", benchmark: hooks, of: reported("Hook", "go/cat")},
	hookBeside("Node", "node"), hookBeside("bash and jq", "bash"), hookBeside("Python", "python3"),
	{
		work: "hook through a gate that was idle for a second", anchor: "a warm gate", solid: 1.3,
		benchmark: idle, of: reported("HookIdle", "idle/warm"),
	},
	{
		work: "`umpire try -- true` in 10,000 files", anchor: "bubblewrap", solid: 2.2, aim: 2,
		benchmark: trials, of: reported("Try", "try/bwrap"),
	},
	{
		work: "`umpire try -- true` beyond a plain start", anchor: "1 ms", solid: 25,
		benchmark: trials, of: reported("Try", "over-plain-ms"),
	},
	{
		work: "`umpire try -- true` in 100,000 files", anchor: "the same in 100", solid: 1.5,
		benchmark: triedFiles, of: reported("TryFiles/100000", "try/100"),
	},
	{
		work: "deciding by 10,000 rules", anchor: "cedar-go", solid: 1.0 / 500, aim: 1.0 / 5000,
		benchmark: lookup, of: ratio("Lookup/allow/umpire", "Lookup/allow/cedar", "ns/op"),
	},
	{
		work: "deciding by 10,000 rules", anchor: "OPA, a body a rule", solid: 1.0 / 10, aim: 1.0 / 40,
		benchmark: lookup, of: ratio("Lookup/allow/umpire", "Lookup/allow/opa", "ns/op"),
	},
	{
		work: "a whole decision, `git status`", anchor: "decode, parse, walk, encode", solid: 1.5, aim: 0.6,
		benchmark: decisions, of: ratio("Decision/git/whole", "Decision/git/floor", "ns/op"),
	},
	{
		work: "a whole decision, a pipeline", anchor: "decode, parse, walk, encode", solid: 1.5, aim: 0.6,
		benchmark: decisions, of: ratio("Decision/pipeline/whole", "Decision/pipeline/floor", "ns/op"),
	},
	{
		work: "the worst of the hostile lines", anchor: "1 MB of `true &&`", solid: 1, aim: 0.05,
		benchmark: worst, of: worstLine,
	},
	{
		work: "durable answer, one writer", anchor: "a synced record", solid: 2.5, aim: 1.8,
		benchmark: answers, of: reported("Answer", "median/raw"),
	},
	{
		work: "time of an answer, 16 writers", anchor: "synced records in groups", solid: 2, aim: 1 / 0.85,
		benchmark: answers16, of: inverse(reported("Answers16", "throughput/raw")),
	},
	{
		work: "approval to release", anchor: "a synced record and a frame", solid: 6, aim: 3,
		benchmark: release, of: reported("Release", "release/raw"),
	},
	{
		work: "10,000 watchers, the last one served", anchor: "a handler each", solid: 1, aim: 0.65,
		benchmark: watchers, of: ratio("Watchers/10000/umpire", "Watchers/10000/handler", "last-ms"),
	},
	{
		work: "10,000 watchers, memory of each", anchor: "a handler each", solid: 0.5, aim: 0.1,
		benchmark: watchers, of: ratio("Watchers/10000/umpire", "Watchers/10000/handler", "KB/watcher"),
	},
	{
		work: "reading 10,000 rules", anchor: "cedar-go", solid: 1.0 / 5, aim: 1.0 / 20,
		benchmark: reload, of: ratio("Reload/umpire", "Reload/cedar", "ns/op"),
	},
	{
		work: "an asked call, 16 agents, SQLite", anchor: "1 ms", solid: 1,
		benchmark: team, of: milliseconds("TeamCalls/asked/sqlite"),
	},
	{
		work: "an asked call, 16 agents, PostgreSQL", anchor: "1 ms", solid: 2,
		benchmark: team, of: milliseconds("TeamCalls/asked/postgres"),
	},
	{
		work: "a batch of 1,000 asked calls", anchor: "1 s", solid: 2,
		benchmark: batches, of: reported("TeamBatch/1000", "s"),
	},
	{
		work: "a batch of 1,000 asked calls", anchor: "ten batches of 100", solid: 1.2,
		benchmark: batches, of: ratio("TeamBatch/1000", "TeamBatch/100", "s"),
	},
	{
		work: "1 MB to a tried command, from a listed host", anchor: "the same, directly", solid: 2,
		benchmark: transfer, of: ratio("Million/proxy", "Million/direct", "ns/op"),
	},
	{
		work: "1 MB over TLS, from a group", anchor: "the same, directly", solid: 2,
		benchmark: fetch, of: ratio("Fetch/proxy", "Fetch/direct", "ns/op"),
	},
	{
		work: "memory of an idle gate", anchor: "1 MB", solid: 40,
		benchmark: memory, of: reported("TeamMemory", "idle-MB"),
	},
	{
		work: "memory with 1,000 questions waiting", anchor: "1 MB", solid: 120,
		benchmark: memory, of: reported("TeamMemory", "waiting-MB"),
	},
	{
		work: "processor time of a first build", anchor: "1 s", solid: 120,
		benchmark: firstBuild, of: reported("FirstBuild", "cpu-s"),
	},
	{
		work: "modules that it downloads", anchor: "1 MB", solid: 50,
		benchmark: firstBuild, of: reported("FirstBuild", "modules-MB"),
	},
	besideNeighbour("commands of 3 MB", "3-MB-commands"),
	besideNeighbour("500 watchers of all there ever was", "500-watchers"),
	besideNeighbour("a reader of the whole timeline", "whole-timeline"),
	besideNeighbour("a reader of all sessions", "all-sessions"),
}

// besideNeighbour compares the slowest of an agent's 100 calls on a busy gate with the same on an idle one.
func besideNeighbour(neighbours, name string) row {
	return row{
		work: "99 % of calls, beside " + neighbours, anchor: "the same, alone", solid: 3,
		benchmark: neighbour, of: reported("TeamNeighbour/"+name, "p99/quiet"),
	}
}

// hookBeside compares the hook with a program that only reads the question and answers.
func hookBeside(language, program string) row {
	return row{
		work: "hook through a warm gate", anchor: language, solid: 1.0 / 15, aim: 1.0 / 30,
		benchmark: hooks, of: between("Hook", "small-gate-ms", program+"-ms"),
	}
}

// inverse turns how many are done in a time into how long one takes.
func inverse(of func(figures) (float64, bool)) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) {
		value, ok := of(f)
		return 1 / value, ok && value > 0
	}
}

// worstLine compares the line that takes longest with one that is merely long.
func worstLine(f figures) (float64, bool) {
	long, worst := f["WorstInput/1_MB_of_true_&&"]["ns/op"], 0.0
	for name, of := range f {
		if strings.HasPrefix(name, "WorstInput/") {
			worst = max(worst, of["ns/op"])
		}
	}
	return worst / long, long > 0
}

func milliseconds(name string) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) {
		ns, ok := f[name]["ns/op"]
		return ns / 1e6, ok
	}
}

// A growth is a figure that is read at several sizes: a part of a benchmark's name.
type growth struct {
	title, size, unit string
	scale             float64 // factor from the reported unit to the displayed unit
	benchmark         benchmark
	of                string // the unit reported
	below             string // the part of the name behind the size, with its slash
}

var growths = []growth{
	{
		title: "Deciding, by the number of rules", size: "rules", unit: "µs", scale: 1e-3,
		benchmark: benchmark{"policy", "Decide", "300ms"}, of: "ns/op",
	},
	{
		title: "Understanding a command, by its length", size: "bytes", unit: "ms", scale: 1e-6,
		benchmark: benchmark{"shell", "Length", "300ms"}, of: "ns/op",
	},
	{
		title: "Listing what waits in a session, by what waits elsewhere", size: "questions", unit: "µs", scale: 1e-3,
		benchmark: benchmark{"internal/store/sqlite", "Pending", "300ms"}, of: "ns/op",
	},
	{
		title: "A page of the timeline, by its events", size: "events", unit: "µs", scale: 1e-3,
		benchmark: benchmark{"internal/store/sqlite", "Timeline", "300ms"}, of: "ns/op",
	},
	{
		title: "A page of sessions, by their number", size: "sessions", unit: "µs", scale: 1e-3,
		benchmark: benchmark{"internal/store/sqlite", "Sessions", "300ms"}, of: "ns/op",
	},
	{
		title: "Allowed calls a second, by agents at once", size: "agents", unit: "calls", scale: 1,
		benchmark: benchmark{"lab/crash", "TeamAgents", "400x"}, of: "calls/s",
	},
	{
		title: "Trying a command, by the files of its project", size: "files", unit: "ms", scale: 1,
		benchmark: triedFiles, of: "try-ms",
	},
	{
		title: "Telling all watchers, by their number", size: "watchers", unit: "ms", scale: 1,
		benchmark: watchers, of: "last-ms", below: "/umpire",
	},
}
