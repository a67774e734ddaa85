//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

const (
	killsSQLite   = 200
	killsPostgres = 100
	killsReplicas = 50
	// maxRound is how many kills one store lives through; more take more rounds.
	maxRound = 400
	// talks is how many conversations go on at once.
	talks = 5
	// Something is killed every minPause to maxPause.
	minPause = 15 * time.Millisecond
	maxPause = 75 * time.Millisecond
)

// TestKills ends gates and runners by SIGKILL while conversations go on, and then
// counts: nothing ran twice, out of its order or although it was denied, no answer
// that was acknowledged is lost, and what nobody knows is shown as such.
func TestKills(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		name  string
		kills int
		gates int
		open  func(testing.TB) func(testing.TB) string // prepares to make stores
	}{
		{"sqlite", killsSQLite, 1, noServer},
		{"postgres", killsPostgres, 1, oneServer},
		{"replicas", killsReplicas, 2, oneServer},
	} {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			seed := *flagSeed
			if seed == 0 {
				seed = uint64(time.Now().UnixNano())
			}
			t.Logf("seed %d: go test ./crash -run TestKills/%s -seed %d", seed, at.name, seed)
			left := at.kills
			if *flagKills > 0 {
				left = *flagKills
			}
			fresh := at.open(t)
			all := &tally{}
			for round := uint64(0); left > 0; round++ {
				n := min(left, maxRound)
				one := killRound(t, rand.New(rand.NewPCG(seed, round)), fresh(t), at.gates, n)
				all.add(one)
				left -= n
				if left > 0 {
					t.Logf("\n%s\n%s", header, all.row(at.name))
				}
				if t.Failed() {
					break
				}
			}
			t.Logf("\n%s\n%s", header, all.row(at.name))
			judge(t, all)
		})
	}
}

// noServer makes stores in the homes of their gates.
func noServer(testing.TB) func(testing.TB) string { return func(testing.TB) string { return "" } }

// oneServer makes stores in one PostgreSQL server.
func oneServer(t testing.TB) func(testing.TB) string {
	server := storetest.NewServer(t)
	return func(t testing.TB) string { return storeURL(t, server.Database(t)) }
}

// judge fails the test for whatever ought not to be.
func judge(t *testing.T, all *tally) {
	const shown = 20
	for i, text := range all.wrong {
		if i == shown {
			t.Errorf("and %d more", len(all.wrong)-shown)
			break
		}
		t.Error(text)
	}
	if all.twice+all.disorder+all.lost+all.denied+all.breaks > 0 {
		t.Errorf("twice %d, out of order %d, lost %d, denied but ran %d, breaks %d", all.twice, all.disorder, all.lost, all.denied, all.breaks)
	}
	if all.effects == 0 || all.answers == 0 {
		t.Errorf("%d effects and %d answers: nothing was tested", all.effects, all.answers)
	}
}

// storeURL writes the address of a database as umpire takes it.
func storeURL(t testing.TB, dsn string) string {
	t.Helper()
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := url.Values{"host": {c.Host}, "port": {fmt.Sprint(c.Port)}}
	return (&url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database, RawQuery: q.Encode()}).String()
}

// killRound lets a store live through so many kills and returns what it amounts to.
func killRound(t *testing.T, rng *rand.Rand, store string, gates, kills int) *tally {
	t.Helper()
	k := newKingdom(t, rng, store, gates)
	dice := rand.New(rand.NewPCG(rng.Uint64(), 1))
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Duration(kills)*maxPause+patience, errors.New("it takes too long"))
	defer cancel()
	killed := 0
	all := k.live(ctx, t, func(ctx context.Context) { killed = k.kill(ctx, dice, kills) })
	all.kills = killed
	return all
}

// A kingdom is one store with its gates, its person and its conversations.
type kingdom struct {
	homes  []*home
	dir    string
	person *person

	mu    sync.Mutex
	rng   *rand.Rand
	all   []*conversation
	where map[umpire.CallID]*conversation
}

func newKingdom(t *testing.T, rng *rand.Rand, store string, gates int) *kingdom {
	t.Helper()
	dir := newFolder(t)
	k := &kingdom{dir: filepath.Join(dir, "p"), rng: rng, where: map[umpire.CallID]*conversation{}}
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
func (k *kingdom) live(ctx context.Context, t *testing.T, harm func(context.Context)) *tally {
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
func (k *kingdom) talkAll(ctx context.Context, harm func(context.Context)) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stop := make(chan struct{}) // closed when there are to be no new conversations
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
func (k *kingdom) talk(ctx context.Context, stop <-chan struct{}) error {
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
func (k *kingdom) begin() (*conversation, error) {
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

// planned finds a call; ids are of one conversation each.
func (k *kingdom) planned(_ umpire.SessionID, id umpire.CallID) (*conversation, *planned) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.where[id]
	if c == nil {
		return nil, nil
	}
	return c, c.calls[id]
}

// kill ends processes at random until there were enough of them.
func (k *kingdom) kill(ctx context.Context, rng *rand.Rand, kills int) (killed int) {
	for killed < kills {
		pause := time.NewTimer(minPause + time.Duration(rng.Int64N(int64(maxPause-minPause))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return killed
		}
		what := rng.IntN(20)
		if what < 16 && k.killRunner(rng) {
			killed++
		}
		if what >= 15 && k.homes[rng.IntN(len(k.homes))].kill() { // both, now and then
			killed++
		}
	}
	return killed
}

// killRunner ends one of the runners that live.
func (k *kingdom) killRunner(rng *rand.Rand) bool {
	k.mu.Lock()
	recent := k.all[max(0, len(k.all)-2*talks):]
	k.mu.Unlock()
	for _, i := range rng.Perm(len(recent)) {
		if recent[i].kill() {
			return true
		}
	}
	return false
}

// account checks all conversations.
func (k *kingdom) account(ctx context.Context, all *tally) error {
	for _, c := range k.all {
		if err := all.account(ctx, c, k.person); err != nil {
			return fmt.Errorf("conversation %s: %w", c.name, err)
		}
	}
	all.forgotten(k.person)
	return nil
}

// breaks counts what umpire timeline verify finds.
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
