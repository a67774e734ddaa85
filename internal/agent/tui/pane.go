package tui

// A pane is the conversation on the screen: the transcript, then the current turn, then
// the card.
type pane struct {
	*base

	live, card []string
}

// scrollBy scrolls up or down by about one screen.
func (p *pane) scrollBy(room int, up bool) {
	if p.anchored {
		p.anchored, p.scroll = false, max(0, len(p.card)-room)
	}
	step := max(1, room-2)
	if !up {
		step = -step
	}
	back := max(0, p.scroll+step)
	p.scroll = min(back, max(0, len(p.last(room+back))-room))
}

// last are about so many of the last lines.
func (p *pane) last(want int) []string {
	lines := append(p.log.tail(p.conf.Text, p.width, want), p.live...)
	if len(p.card) > 0 && len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, p.card...)
}

// length returns the number of lines.
func (p *pane) length() int {
	lines := p.log.length(p.conf.Text, p.width) + len(p.live)
	if len(p.card) > 0 && lines > 0 {
		lines++
	}
	return lines + len(p.card)
}

// seen returns the lines that fit, and the number of lines below.
func (p *pane) seen(room int) (lines []string, below int) {
	back := p.scroll
	if p.anchored {
		back = max(0, len(p.card)-room)
	}
	lines = p.last(room + back)
	back = min(back, max(0, len(lines)-room))
	return lines[max(0, len(lines)-room-back) : len(lines)-back], back
}

// draw returns the lines that are seen, with a note when others follow.
func (p *pane) draw(room int, asks bool) []string {
	lines, below := p.seen(room)
	if below > 0 && len(lines) > 1 {
		style := dimStyle
		if asks {
			style = warnStyle // part of the question is not visible
		}
		more := p.conf.Text.Count(below+1, "%d more line, PgDn", "%d more lines, PgDn")
		note := style.Render(cutLine("↓ "+more, p.width))
		lines = append(lines[:len(lines)-1:len(lines)-1], note)
	}
	return lines
}

// seenOfCard returns which lines of the card are seen. The first one is negative where
// something above the card is seen as well.
func (p *pane) seenOfCard(room int) (first, end int) {
	_, below := p.seen(room)
	first, end = len(p.card)-below-room, len(p.card)-below
	if below > 0 && room > 1 {
		end-- // the number of further lines goes there
	}
	return first, end
}
