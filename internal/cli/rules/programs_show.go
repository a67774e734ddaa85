package rules

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// EffectTexts describe the effects of options in the order shown: the least effect
// first. The first text is for options without an effect beyond the program's.
var EffectTexts = []struct{ effect, Text string }{
	{"", "accepted"},
	{"shows", "prints about itself"},
	{"reads", "reads the file"},
	{"enters", "changes to the folder"},
	{"walks", "includes everything below folders"},
	{"lead", "first operand does not apply"},
	{"last", "last operand does not apply"},
	{"ends", "ends the options"},
	{"writes", "writes the file"},
	{"edits", "changes its operands"},
	{"drops", "deletes its operands"},
	{"deletes", "deletes the file"},
	{"reaches", "reaches the host"},
	{"runs", "runs a program"},
	{"obeys", "follows input that cannot be judged"},
	{"asks", "asks"},
	{"harms", "dangerous"},
}

// showProgram writes the known facts about a program for a person.
func showProgram(out io.Writer, text *catalogue.Language, words []string, p shell.Program) error {
	table := app.NewTable(out)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", text.Of(name), view.Visible(value))
		}
	}
	line("program", strings.Join(append(words[:len(words)-1:len(words)-1], p.Names[0]), " "))
	line("also called", strings.Join(p.Names[1:], " "))
	line("from", originOf(text, p))
	line("checked", p.Checked)
	line("risk", fmt.Sprintf("%s: %s", p.Risk, text.Reason(p.Why)))
	line("consequence", p.StatedConsequence().String())
	line("operands", operandsText(p))
	line("style", p.Style)
	if p.Lax {
		line("note", text.Of("options that are not listed are accepted"))
	}
	if p.Judged {
		line("note", text.Of("umpire also checks its arguments"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := showOptions(out, text, p); err != nil {
		return err
	}
	return showSubcommands(out, text, p)
}

// operandsText names the operands; without any they are texts.
func operandsText(p shell.Program) string {
	switch {
	case p.Args != "":
		return p.Args
	case p.Judged || len(p.Subs) > 0:
		return ""
	}
	return "data…"
}

// showOptions lists the options by effect. An option with several effects appears under
// each of them.
func showOptions(out io.Writer, text *catalogue.Language, p shell.Program) error {
	if len(p.Options) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n", text.Of("options"))
	table := app.NewTable(out)
	for _, e := range EffectTexts {
		for _, o := range p.Options {
			if hasEffect(o, e.effect) {
				showOption(text, table, e.Text, o)
			}
		}
	}
	return table.Flush()
}

func hasEffect(o shell.Option, effect string) bool {
	if effect == "" {
		return len(o.Does) == 0
	}
	return slices.Contains(o.Does, effect)
}

func showOption(text *catalogue.Language, w io.Writer, what string, o shell.Option) {
	why := text.Reason(o.Why)
	if len(o.Except) > 0 {
		why = strings.TrimSpace(view.Bracketed(why, text.Of("but not with")+" "+strings.Join(o.Except, " ")))
	}
	if why != "" {
		why = "\t" + view.Visible(why)
	}
	fmt.Fprintf(w, "  %s\t%s%s\n", text.Of(what), view.Visible(strings.Join(o.Names, " ")), why)
}

func showSubcommands(out io.Writer, text *catalogue.Language, p shell.Program) error {
	if len(p.Subs) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n", text.Of("subcommands"))
	table := app.NewTable(out)
	for _, sub := range p.Subs {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", view.Visible(strings.Join(sub.Names, " ")), sub.Risk,
			view.Visible(text.Reason(sub.Why)))
	}
	return table.Flush()
}
