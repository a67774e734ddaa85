//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/umpirehq/umpire"
)

// talks is the number of concurrent conversations.
const talks = 5

// A system is one store with its gates, its person and its conversations.
type system struct {
	homes  []*home
	dir    string
	person *person

	mu    sync.Mutex
	rng   *rand.Rand
	all   []*conversation
	where map[umpire.CallID]*conversation
}

func newSystem(t *testing.T, rng *rand.Rand, store string, gates int) *system {
	t.Helper()
	dir := newFolder(t)
	k := &system{dir: filepath.Join(dir, "p"), rng: rng, where: map[umpire.CallID]*conversation{}}
	for i := range gates {
		k.homes = append(k.homes, newHome(t, filepath.Join(dir, fmt.Sprintf("home%d", i)), store))
	}
	if err := os.Mkdir(k.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	k.person = newPerson(k.planned)
	return k
}

// live holds conversations while harm is done, lets them come to their end, and
// accounts for all of it.
func (k *system) live(ctx context.Context, t *testing.T, harm func(context.Context)) *tally {
	t.Helper()
	all := &tally{}
	err := k.talkAll(ctx, harm)
	if err == nil {
		err = k.account(ctx, all)
	}
	logs := ""
	for _, h := range k.homes {
		h.end()
		h.done.Wait()
		logs += lastLines(h.log()) + "\n"
	}
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, strings.Join(k.person.wrong, "\n"), logs)
	}
	all.breaks = breaks(t, k.homes[0])
	return all
}

// talkAll begins no new conversation once harm returns.
func (k *system) talkAll(ctx context.Context, harm func(context.Context)) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stop := make(chan struct{}) // closed to stop new conversations
	var people, work sync.WaitGroup
	for _, h := range k.homes {
		h.start(fail)
		dice := rand.New(rand.NewPCG(k.rng.Uint64(), 0))
		people.Go(func() {
			if err := k.person.attend(ctx, h, dice); err != nil {
				fail(err)
			}
		})
	}
	for range talks {
		work.Go(func() {
			if err := k.talk(ctx, stop); err != nil {
				fail(err)
			}
		})
	}
	harm(ctx)
	close(stop)
	work.Wait()
	err := context.Cause(ctx)
	fail(nil)
	people.Wait()
	return err
}

// talk holds one conversation after the other.
func (k *system) talk(ctx context.Context, stop <-chan struct{}) error {
	for !over(stop) && ctx.Err() == nil {
		c, err := k.begin()
		if err != nil {
			return err
		}
		if err := c.play(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin makes up a conversation.
func (k *system) begin() (*conversation, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := fmt.Sprintf("c%d", len(k.all))
	s, err := newScript(k.rng, name, filepath.Join(k.dir, name))
	if err != nil {
		return nil, err
	}
	c, err := newConversation(k.homes[len(k.all)%len(k.homes)], k.dir, name, s)
	if err != nil {
		return nil, err
	}
	k.all = append(k.all, c)
	for id := range s.calls {
		k.where[id] = c
	}
	return c, nil
}

// planned finds a call; each id belongs to one conversation.
func (k *system) planned(_ umpire.SessionID, id umpire.CallID) (*conversation, *planned) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.where[id]
	if c == nil {
		return nil, nil
	}
	return c, c.calls[id]
}

// awaitAnswers waits until so many more answers were acknowledged.
func (k *system) awaitAnswers(ctx context.Context, more int) {
	count := func() int {
		k.person.mu.Lock()
		defer k.person.mu.Unlock()
		return len(k.person.taken)
	}
	for want := count() + more; count() < want; {
		select {
		case <-k.person.bell:
		case <-ctx.Done():
			return
		}
	}
}

// account checks all conversations.
func (k *system) account(ctx context.Context, all *tally) error {
	for _, c := range k.all {
		if err := all.account(ctx, c, k.person); err != nil {
			return fmt.Errorf("conversation %s: %w", c.name, err)
		}
	}
	all.forgotten(k.person)
	return nil
}

// breaks counts the breaks that umpire timeline verify reports.
func breaks(t testing.TB, h *home) int {
	t.Helper()
	cmd := h.command(t.Context(), h.dir, "timeline", "verify", "--json")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	var found struct {
		OK     bool  `json:"ok"`
		Breaks []any `json:"breaks"`
	}
	if err := errors.Join(err, json.Unmarshal(out, &found)); err != nil || !found.OK {
		t.Errorf("timeline verify: %v: %s%s", err, out, said.String())
	}
	return len(found.Breaks)
}
