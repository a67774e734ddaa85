package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/umpirehq/umpire"
)

// maxDiff limits the shown diff of each file that a call changed, in bytes.
const maxDiff = 16 << 10

// maxPreview limits the shown diff of one file on a card. A person has to see all of it, so it is as large as the
// largest files that are compared.
const maxPreview = 2 * maxDiffSide

// A change is the effect of a call on one file.
type change struct {
	path   string // as the input has it
	verb   string // the past tense of the action
	create bool   // the file and its parent folders need not exist yet
	blind  bool   // the file's content does not matter
	// apply returns the new content of a file, or nil, and a short note on the change.
	apply func(*original) (after []byte, said string, err error)
}

// An original is a file before a change.
type original struct {
	content []byte // nil if the change is blind and the file too large to look at
	size    int64
}

// An outcome is a change that was worked out.
type outcome struct {
	path   string
	before *original
	after  []byte
	said   string
}

// diff shows the change as `diff -u` does, of a file that is called name, with lines of context.
func (o *outcome) diff(name string, context, limit int) string {
	name = visibleName(name)
	switch {
	case o.before == nil:
		return unifiedDiff("/dev/null", name, nil, o.after, context, limit)
	case int64(len(o.before.content)) != o.before.size:
		return fmt.Sprintf(
			"--- %s\n+++ %s\n[%d bytes become %d, which are not shown]\n", name, name, o.before.size, len(o.after),
		)
	}
	return unifiedDiff(name, name, o.before.content, o.after, context, limit)
}

// changeFiles runs a tool that changes the file, or the list of files, that its input names.
func (s *Set) changeFiles(ctx context.Context, u *use) (string, error) {
	changes, err := changers[u.call.Tool].read(u.in)
	if err != nil {
		return "", err
	}
	if _, listed, _ := u.in.items(); listed {
		return s.changeEach(ctx, u, changes)
	}
	return s.change(ctx, u, &changes[0])
}

// change writes a change and describes it.
func (s *Set) change(ctx context.Context, u *use, c *change) (string, error) {
	p, info, o, err := s.prepare(u, c, true)
	if err != nil {
		return "", err
	}
	defer p.closeDir()
	if u.record != nil {
		if err := u.record.Expect(p.path, o.after); err != nil {
			return "", err
		}
	}
	if err := p.replace(info, o.after); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s %s: %s", c.verb, visibleName(p.path), o.said)
	if o.before == nil || !s.readable(ctx, u, c.path) {
		return said, nil // the model knows its own text
	}
	return joinTexts(said, o.diff(o.path, diffContext, maxDiff)), nil
}

// readable reports whether the model may see the file at a path. Permission to write does not
// include permission to read.
func (s *Set) readable(ctx context.Context, u *use, path string) bool {
	return s.options.MayRead != nil && s.options.MayRead(ctx, u.call, path)
}

// prepare works out a change without writing it. It returns with the place open.
func (s *Set) prepare(u *use, c *change, create bool) (*place, fs.FileInfo, *outcome, error) {
	decided, err := s.options.decided(u, c.path, umpire.KindWrite)
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := s.options.openPlace(decided, c.create && create)
	if err != nil {
		return nil, nil, nil, err
	}
	info, o, err := p.work(c)
	if err != nil {
		p.closeDir()
		return nil, nil, nil, err
	}
	return p, info, o, nil
}

// work reads the file at the place and applies the change to it.
func (p *place) work(c *change) (fs.FileInfo, *outcome, error) {
	before, info, err := p.hold()
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.create:
		info, err = nil, nil
	case errors.Is(err, errLarge) && c.blind:
		info, err = p.stand()
	}
	if err != nil {
		return nil, nil, err
	}
	o := &outcome{path: p.path}
	if info != nil {
		o.before = &original{content: before, size: info.Size()}
	}
	o.after, o.said, err = c.apply(o.before)
	return info, o, namePathOnce(p.path, err)
}

// A Preview shows the changes that a call would make to files. The zero value means that the
// tool itself changes no files.
type Preview struct {
	// Diff shows it as `diff -u` does. An edit that cannot be done, or is refused, is
	// described in place of its diff.
	Diff string
	// Shown are the fields of the input that the diff makes redundant, because it shows all
	// their changes. It is empty if the diff is incomplete.
	Shown []string
}

// Preview shows the changes that a call would make to files, and changes nothing.
// Accesses are those of its decision or of the question about it.
func (s *Set) Preview(call umpire.Call, accesses []umpire.Access) (Preview, error) {
	c, ok := changers[call.Tool]
	if !ok {
		return Preview{}, nil
	}
	in, err := readInput(call.Input)
	if err != nil {
		return Preview{}, err
	}
	changes, err := c.read(in)
	if err != nil {
		return Preview{}, err
	}
	u := &use{call: call, decision: umpire.Decision{Accesses: accesses}, in: in, preview: true}
	var out strings.Builder
	whole := true
	for i := range changes {
		one := s.preview(u, &changes[i])
		whole = whole && Whole(one)
		out.WriteString(one)
	}
	seen := Preview{Diff: cleanText(out.String())}
	if whole {
		seen.Shown = c.texts
	}
	return seen, nil
}

func (s *Set) preview(u *use, c *change) string {
	p, _, o, err := s.prepare(u, c, false)
	if errors.Is(err, fs.ErrNotExist) && c.create {
		o, err = s.previewNew(u, c)
	}
	if err != nil {
		return fmt.Sprintf("[%s: %v]\n", visibleName(c.path), err)
	}
	if p != nil {
		p.closeDir()
	}
	return o.diff(u.shortName(o.path, s.options.Root), previewContext, maxPreview)
}

// shortName returns the path of a file relative to the root, if the decision has it.
func (u *use) shortName(path, root string) string {
	for i := range u.decision.Accesses {
		if a := &u.decision.Accesses[i]; a.Kind == umpire.KindWrite && a.Target == path {
			return a.TargetIn(root)
		}
	}
	return path
}

// previewNew previews a file whose folder does not exist yet.
func (s *Set) previewNew(u *use, c *change) (*outcome, error) {
	path, err := s.options.decided(u, c.path, umpire.KindWrite)
	if err != nil {
		return nil, err
	}
	o := &outcome{path: path}
	o.after, o.said, err = c.apply(nil)
	return o, err
}

// A changer reads the changes of files from the input of a tool.
type changer struct {
	read  func(input) ([]change, error)
	texts []string // the fields with the old and the new text
}

// changers are the tools that change files.
var changers = map[string]changer{
	"Write":                  {changeOneFile(writeChange), []string{"content"}},
	"Edit":                   {changeOneFile(editChange), []string{"old_string", "new_string"}},
	"filesystem-edit":        {changeSeveral(linesChange), []string{"newContent"}},
	"filesystem-edit_search": {changeSeveral(searchChange), []string{"searchContent", "replaceContent"}},
}

// changeOneFile is for a tool that changes the one file that its input names.
func changeOneFile(read func(input) (change, error)) func(input) ([]change, error) {
	return func(in input) ([]change, error) {
		path, err := in.mustPath()
		if err != nil {
			return nil, err
		}
		c, err := read(in)
		c.path = path
		return []change{c}, err
	}
}
