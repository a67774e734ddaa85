package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// weather is an entry that uses most fields.
func weather() Program {
	return Program{
		Names: []string{"weather", "wx"}, Risk: umpire.Safe, Why: "prints the weather", Args: "data read...",
		Options: []Option{
			{Names: []string{"-vq", "--verbose"}},
			{Names: []string{"-o=", "--output="}, Does: []string{"writes"}, Except: []string{"-"}},
			{Names: []string{"--upload"}, Does: []string{"harms"}, Why: "publishes it"},
		},
		Subs: []Program{
			{Names: []string{"show"}, Risk: umpire.Safe, Why: "shows"},
			{Names: []string{"clean"}, Risk: umpire.Medium, Why: "removes what it kept", Args: "delete…"},
		},
		Examples: Examples{
			Safe: []string{"weather -vq", "wx show", "weather -o -", "/usr/bin/weather show"},
			Asks: []string{
				"weather --upload", "weather -o x", "weather --unheard-of", "wx clean x", "weather other",
				"./weather show",
			},
		},
	}
}

func TestKnowledge(t *testing.T) {
	t.Parallel()
	if err := CheckExamples(weather()); err != nil {
		t.Fatal(err)
	}
	k, err := NewKnowledge([]Program{weather()})
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Dir: "/p", Home: "/h", Programs: k}
	accesses := Parse("cd src && sudo wx clean a", env)
	deletes := slices.ContainsFunc(accesses, func(a umpire.Access) bool {
		return a.Kind == umpire.KindDelete && a.Target == "/p/src/a"
	})
	if !deletes {
		t.Errorf("N-33 knowledge holds behind wrappers too: %+v", accesses)
	}
	if what := firstAlarm(Parse("weather show", Env{Dir: "/p"})); what == "" {
		t.Error("without the knowledge it is a stranger, and asks")
	}
	if d, ok := Describe("wx", k); !ok || d.Names[0] != "weather" {
		t.Errorf("described as %+v %v", d, ok)
	}
}

// Invalid entries. Each change is to weather.
func TestKnowledgeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Program)
		want   string
	}{
		{"no name", func(p *Program) { p.Names = nil }, "names: missing"},
		{"a path", func(p *Program) { p.Names = []string{"bin/x"} }, "names:"},
		{"a blank within", func(p *Program) { p.Names = []string{"cat rm"} }, "names:"},
		{"an option for a name", func(p *Program) { p.Names = []string{"-x"} }, "names:"},
		{"no risk", func(p *Program) { p.Risk = 0 }, "risk:"},
		{"no why", func(p *Program) { p.Why = "" }, "why:"},
		{"style", func(p *Program) { p.Style = "long" }, "style:"},
		{"operands", func(p *Program) { p.Args = "file" }, `args: "file"`},
		{"operands that repeat twice", func(p *Program) { p.Args = "read… write…" }, "args: more than one"},
		{"effect", func(p *Program) { p.Options[1].Does = []string{"write"} }, `options[1].does: "write"`},
		{"a value that is not taken", func(p *Program) { p.Options[0].Does = []string{"reads"} }, "options[0].does:"},
		{"not an option", func(p *Program) { p.Options[0].Names = []string{"verbose"} }, "options[0].names:"},
		{"letters with a value", func(p *Program) { p.Options[0].Names = []string{"-vq="} }, "options[0].names:"},
		{"twice", func(p *Program) { p.Options[1].Names = []string{"-v="} }, "duplicate -v"},
		{"within a subcommand", func(p *Program) { p.Subs[1].Risk = 0 }, "subs[1]: risk:"},
		{"subcommands alike", func(p *Program) { p.Subs[1].Names = []string{"show"} }, "subs[1]: names:"},
		{"options of bare", func(p *Program) { p.Style = "bare" }, "options[0].names:"},
		{"built in", func(p *Program) { p.Names = []string{"cat"} }, "is built in"},
		{"more than a table", func(p *Program) { p.Names, p.Replace = []string{"find"}, true }, "cannot be replaced"},
		{"git", func(p *Program) { p.Names, p.Replace = []string{"git"}, true }, "cannot be replaced"},
		{"wrapper", func(p *Program) { p.Names, p.Replace = []string{"sudo"}, true }, "cannot be replaced"},
		{"interpreter", func(p *Program) { p.Names, p.Replace = []string{"python3"}, true }, "cannot be replaced"},
		{"shell", func(p *Program) { p.Names, p.Replace = []string{"x", "bash"}, true }, "cannot be replaced"},
		{"deleter", func(p *Program) { p.Names, p.Replace = []string{"rm"}, true }, "cannot be replaced"},
		{"disk", func(p *Program) { p.Names, p.Replace = []string{"dd"}, true }, "cannot be replaced"},
		{"replace in a subcommand", func(p *Program) { p.Subs[0].Replace = true }, "subs[0]: replace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := weather()
			p.Options, p.Subs = slices.Clone(p.Options), slices.Clone(p.Subs)
			tt.change(&p)
			if _, err := NewKnowledge([]Program{p}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := NewKnowledge([]Program{weather(), weather()}); err == nil {
		t.Error("two entries with one name")
	}
}

// TestKnowledgeGuards: no entry that runs programs, destroys or changes the user can be
// replaced, under any of its names.
func TestKnowledgeGuards(t *testing.T) {
	t.Parallel()
	for _, family := range guarded {
		for i := range *family {
			for name := range strings.FieldsSeq((*family)[i].names) {
				p := Program{Names: []string{name}, Risk: umpire.Safe, Why: "does nothing", Replace: true, Lax: true}
				if _, err := NewKnowledge([]Program{p}); err == nil {
					t.Errorf("%s can be replaced", name)
				}
			}
		}
	}
	for name := range strings.FieldsSeq("rm rmdir shred dd mkfs chmod chown sudo su env xargs find sh bash python3 " +
		"node perl awk sed git npm make docker kubectl ssh curl rsync tar vim eval source kill systemctl crontab") {
		p := Program{Names: []string{name}, Risk: umpire.Safe, Why: "does nothing", Replace: true, Lax: true}
		if _, err := NewKnowledge([]Program{p}); err == nil {
			t.Errorf("%s can be replaced", name)
		}
	}
}

func TestKnowledgeReplaces(t *testing.T) {
	t.Parallel()
	p := Program{Names: []string{"mongosh"}, Risk: umpire.High, Why: "our production", Replace: true}
	k, err := NewKnowledge([]Program{p})
	if err != nil {
		t.Fatal(err)
	}
	if got := Parse("mongosh --version", Env{Dir: "/p", Programs: k}); got[0].Risk != umpire.High {
		t.Errorf("%+v", got)
	}
	names := 0
	for p := range Programs(k) {
		if slices.Contains(p.Names, "mongosh") {
			names++
		}
	}
	if names != 1 {
		t.Errorf("mongosh is listed %d times", names)
	}
}

// TestDescribeTables: the description of a built-in table matches it. An entry made of the
// description is valid, apart from its name.
func TestDescribeTables(t *testing.T) {
	t.Parallel()
	count := 0
	for p := range Programs(nil) {
		count++
		for _, name := range p.Names {
			if got, ok := Describe(name, nil); !ok || got.Names[0] != p.Names[0] {
				t.Errorf("%s is described as %v", name, got.Names)
			}
		}
		for _, o := range p.Options {
			if _, err := o.spell(styleOrShort(p.Style), map[string]bool{}); err != nil {
				t.Errorf("%s: %v", p.Names[0], err)
			}
			if _, err := effectsOf(o.Does); err != nil {
				t.Errorf("%s: %v", p.Names[0], err)
			}
		}
	}
	if count < 100 {
		t.Errorf("%d programs are known", count)
	}
	if _, ok := Describe("no-such-program", nil); ok {
		t.Error("described what is not known")
	}
}

func styleOrShort(name string) style {
	s, err := styleOf(name)
	if err != nil {
		return short
	}
	return s
}

// TestKnowledgeStatesConsequences: an entry and an option state a consequence that does not
// contradict their risk.
func TestKnowledgeStatesConsequences(t *testing.T) {
	t.Parallel()
	for _, risk := range []umpire.Risk{umpire.Safe, umpire.Low, umpire.Medium, umpire.High} {
		for name, want := range map[string]umpire.Consequence{
			"": unstated.of(risk), "none": umpire.Harmless, "reversible": umpire.Reversible, "outward": umpire.Outward,
			"lost": umpire.Lost,
		} {
			p := Program{Names: []string{"weather"}, Risk: risk, Why: "x", Consequence: name}
			k, err := NewKnowledge([]Program{p})
			unasked := name != "" && umpire.Low.AtLeast(risk) && want.AtLeast(umpire.Outward)
			if (err != nil) != unasked {
				t.Errorf("%s, %q: %v", risk, name, err)
			}
			if err != nil {
				continue
			}
			if got := Parse("sudo weather x", Env{Dir: "/p", Programs: k}); got[len(got)-1].Consequence != want ||
				p.StatedConsequence() != want {
				t.Errorf("%s, %q: %s and %s, want %s", risk, name, got[len(got)-1].Consequence, p.StatedConsequence(),
					want)
			}
		}
	}
	for name, want := range map[string]umpire.Consequence{
		"": umpire.Lost, "reversible": umpire.Reversible, "outward": umpire.Outward, "none": umpire.Harmless,
	} {
		p := Program{Names: []string{"weather"}, Risk: umpire.Safe, Why: "x",
			Options: []Option{{Names: []string{"-x"}, Does: []string{"asks"}, Consequence: name}}}
		k, err := NewKnowledge([]Program{p})
		if err != nil {
			t.Fatal(err)
		}
		env := Env{Dir: "/p", Programs: k}
		if got := Parse("weather -x", env)[0].Consequence; got != want {
			t.Errorf("-x, %q: %s, want %s", name, got, want)
		}
		if got := Parse("weather", env)[0].Consequence; got != umpire.Harmless {
			t.Errorf("without the option: %s", got)
		}
		if d, _ := Describe("weather", k); d.Options[0].Consequence != name {
			t.Errorf("described as %+v", d)
		}
	}
}
