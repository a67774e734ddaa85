//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

const (
	killsSQLite   = 200
	killsPostgres = 100
	killsReplicas = 50
	// maxRound is how many kills one store lives through; more take more rounds.
	maxRound = 400
	// Something is killed every minPause to maxPause.
	minPause = 15 * time.Millisecond
	maxPause = 75 * time.Millisecond
)

// TestKills kills gates and runners with SIGKILL during conversations and then checks:
// no call ran twice, out of order or despite a denial, no acknowledged answer is lost,
// and unknown outcomes are shown as unknown.
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
			t.Logf("seed %d: go -C lab test ./crash -run TestKills/%s -seed %d", seed, at.name, seed)
			left := at.kills / sample.Times(10, 1)
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
			t.Logf("figure: %s: %d kills, %d calls, %d answers; %d ran twice, %d out of order, %d answers lost, %d denied but ran, %d links broken",
				at.name, all.kills, all.calls, all.answers, all.twice, all.disorder, all.lost, all.denied, all.breaks)
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

// judge fails the test for each fault.
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

// storeURL returns the address of a database in umpire's format.
func storeURL(t testing.TB, dsn string) string {
	t.Helper()
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := url.Values{"host": {c.Host}, "port": {fmt.Sprint(c.Port)}}
	return (&url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database, RawQuery: q.Encode()}).String()
}

// killRound runs a round with that many kills on one store, and returns the tally.
func killRound(t *testing.T, rng *rand.Rand, store string, gates, kills int) *tally {
	t.Helper()
	k := newSystem(t, rng, store, gates)
	dice := rand.New(rand.NewPCG(rng.Uint64(), 1))
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Duration(kills)*maxPause+patience, errors.New("it takes too long"))
	defer cancel()
	killed := 0
	all := k.live(ctx, t, func(ctx context.Context) { killed = k.kill(ctx, dice, kills) })
	all.kills = killed
	return all
}

// kill kills random processes until the number is reached.
func (k *system) kill(ctx context.Context, rng *rand.Rand, kills int) (killed int) {
	for killed < kills {
		pause := time.NewTimer(minPause + time.Duration(rng.Int64N(int64(maxPause-minPause))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return killed
		}
		what := rng.IntN(20)
		if what < 18 && k.killRunner(rng) {
			killed++
		}
		if what >= 17 && k.homes[rng.IntN(len(k.homes))].kill() { // both, now and then
			killed++
		}
	}
	return killed
}

// killRunner ends one of the runners that live.
func (k *system) killRunner(rng *rand.Rand) bool {
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
