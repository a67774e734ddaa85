package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
)

// newPairCommand is `umpire console pair`.
func newPairCommand(a *app.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "pair [console|ntfy]", Args: wantPairing,
		ValidArgs: []string{"console", "ntfy"},
		Short:     "Show a code that lets a phone open the console or get notices",
		Long:      pairLong,
		Example:   "  umpire console pair\n  umpire console pair --name Ana",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName(cmd, name); err != nil {
				return err
			}
			return untilInterrupted(cmd.Context(), pairPhone(cmd.Context(), a, strings.Join(args, ""), name))
		},
	}
	addNameFlag(cmd, &name)
	return cmd
}

// wantPairing rejects words other than the name of a pairing.
func wantPairing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && !slices.Contains(cmd.ValidArgs, args[0]) {
		return app.Usage("umpire console pair --help", "%q: want one of %s", args[0], strings.Join(cmd.ValidArgs, ", "))
	}
	return app.WantAtMostOneWord(cmd, args)
}

// pairPhone shows a code for the console or for the notices; "" is the console if it has an address. A
// name is for the console.
func pairPhone(ctx context.Context, a *app.App, with, name string) error {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return err
	}
	a.RemarkAll(conf.Notices)
	switch {
	case with == "ntfy" && name != "":
		return app.Usage("umpire console pair --help", "--name cannot be used with ntfy, which has no sign-in")
	case (with == "console" || name != "") && !conf.Console.On():
		return app.Refused("umpire config", "other machines cannot reach the console: set the key console")
	case with != "ntfy" && conf.Console.On():
		return followConsole(ctx, a, conf, name, true)
	}
	return pairNotices(a, conf)
}

// pairNotices shows a code only on the terminal of this process, because anyone with the code can read the notices.
func pairNotices(a *app.App, conf *config.Config) error {
	server := conf.Notify.Ntfy
	if server == nil {
		return app.Refused("umpire serve",
			"no phone can be paired yet: set console.origin or notify.ntfy, and start the gate")
	}
	tty, err := a.OpenTerminal()
	if err != nil {
		return app.Refused(a.Text.Of("run it in a terminal"), "the code is shown on a terminal only: %w", err)
	}
	defer tty.Close()
	return app.Failed(showPairing(a, tty, subscribeLink(server), &pairing{
		poor:  "This terminal cannot show a code to scan. Type this into the app of ntfy:",
		small: "Make it larger, or type this into the app of ntfy:",
		scan:  "Scan it on Android, with the app of ntfy, or type this into the app:",
		typed: []string{server.Server, server.Topic},
	}))
}

// showLinkCode shows a link for signing in on a phone.
func showLinkCode(a *app.App, tty *os.File, link string) error {
	return showPairing(a, tty, link, &pairing{
		poor:  "This terminal cannot show a code to scan. Open this on the phone within a minute; it works once:",
		small: "Make it larger, or open this on the phone within a minute; it works once:",
		scan:  "Scan it with the phone's camera within a minute; the link works once:",
		typed: []string{link},
	})
}

// A pairing has the texts below a code, and the lines to type for people without a scanner.
type pairing struct {
	poor, small, scan string
	typed             []string
}

// showPairing shows the code of a link.
func showPairing(a *app.App, tty *os.File, link string, p *pairing) error {
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		return err
	}
	out := &strings.Builder{}
	columns, lines := app.SizeOf(tty)
	needs, high := code.Size+2*quietZone, (code.Size+2*quietZone+1)/2
	coloured := a.Getenv("NO_COLOR") == ""
	switch {
	case a.IsPoorTerminal():
		fmt.Fprintln(out, a.Text.Of(p.poor))
	case columns < needs || lines < high+pairingLines:
		text := a.Text.Of("The code to scan needs %d columns and %d lines, and this terminal has %d and %d.")
		fmt.Fprintf(out, text+"\n", needs, high+pairingLines, columns, lines)
		fmt.Fprintln(out, a.Text.Of(p.small))
	default:
		drawCode(out, code, coloured)
		if !coloured {
			fmt.Fprintln(out, a.Text.Of("Without colours the code needs light text on a dark background."))
		}
		fmt.Fprintln(out, a.Text.Of(p.scan))
	}
	for _, line := range p.typed {
		fmt.Fprintf(out, "  %s\n", line)
	}
	_, err = io.WriteString(tty, out.String())
	return err
}

// pairingLines are the lines below the code, with the prompt that follows.
const pairingLines = 4

// subscribeLink returns the link with which the ntfy app subscribes to a topic:
// https://docs.ntfy.sh/subscribe/phone/#ntfy-links
func subscribeLink(server *config.Ntfy) string {
	u, err := url.Parse(server.Server)
	if err != nil {
		return server.Server // it was checked before
	}
	link := url.URL{Scheme: "ntfy", Host: u.Host, Path: "/" + server.Topic}
	if u.Scheme == "http" {
		link.RawQuery = "secure=false"
	}
	return link.String()
}

// quietZone is the number of light modules around a code. The standard says 4, but readers accept 2, and the
// code of a usual topic then fits on a terminal of 24 lines.
const quietZone = 2

// drawCode draws a code in half blocks: each character is two modules, one above the other. With
// colours, they are black on white in any terminal theme. Without, the light modules are drawn.
func drawCode(out io.Writer, code *qr.Code, coloured bool) {
	const white, reset = "\x1b[38;5;16;48;5;231m", "\x1b[0m"
	blocks := [4]string{"█", "▄", "▀", " "} // by the dark modules: none, upper, lower, both
	if coloured {
		blocks = [4]string{" ", "▀", "▄", "█"}
	}
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		line := &strings.Builder{}
		for x := -quietZone; x < code.Size+quietZone; x++ {
			at := 0
			if code.Black(x, y) {
				at |= 1
			}
			if code.Black(x, y+1) {
				at |= 2
			}
			line.WriteString(blocks[at])
		}
		if coloured {
			fmt.Fprintf(out, "%s%s%s\n", white, line, reset)
		} else {
			fmt.Fprintln(out, line)
		}
	}
}
