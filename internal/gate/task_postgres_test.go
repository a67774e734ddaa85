package gate

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/storetest"
	"github.com/umpirehq/umpire/policy"
)

// TestTaskOfTwoGates: two gates over one PostgreSQL share the uses of a task. Sub-agents that start their calls at both
// at once never use more than there are, and what a gate ends the other does not allow.
func TestTaskOfTwoGates(t *testing.T) {
	t.Parallel()
	ctx, dsn, dir := t.Context(), storetest.Postgres(t), t.TempDir()
	var gates [2]*Gate
	for i := range gates {
		s := must(postgres.Open(ctx, dsn))(t)
		gates[i] = New(Config{UserHome: t.TempDir(), Store: s, Settings: config.Settings{
			Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: 100,
		}})
		t.Cleanup(func() { _, _ = gates[i].Close(), s.Close() })
	}
	parent := must(gates[0].sessions.Open(ctx, umpire.Opening{Dir: dir}))(t)
	made := must(task.Parse("task: Build it\nfor: 1h\nmay:\n  5x lost Bash(mybuild:*)"))(t)
	approved := must(gates[0].grants.ApproveTask(ctx, umpire.TaskApproval{
		Session: parent.ID, Text: made.String(), Digest: made.Digest(),
	}))(t)

	const agents, uses = 12, 5
	var children [agents]umpire.Session
	for i := range children {
		children[i] = must(gates[0].sessions.Open(ctx, umpire.Opening{Dir: dir, Parent: parent.ID}))(t)
		b := must(gates[i%2].Submit(ctx, umpire.Submission{
			Session: children[i].ID, Batch: "m", Epoch: children[i].Epoch,
			Calls: []umpire.Call{command("c", "mybuild")},
		}))(t)
		if b.State != umpire.BatchRunning {
			t.Fatalf("call %d is %s", i, b.State)
		}
	}
	var ran atomic.Int32
	var all sync.WaitGroup
	for i := range children {
		all.Go(func() {
			started, err := gates[i%2].Start(ctx, umpire.Start{
				Session: children[i].ID, Batch: "m", Call: "c", Epoch: children[i].Epoch, Runner: fmt.Sprint("r", i),
			})
			switch {
			case err != nil:
				t.Error(err)
			case started.Go:
				ran.Add(1)
			case started.Batch.State != umpire.BatchWaiting:
				t.Errorf("call %d neither runs nor asks: %s", i, started.Batch.State)
			}
		})
	}
	all.Wait()
	if n := ran.Load(); n != uses {
		t.Errorf("%d of %d calls ran, want the %d of the task", n, agents, uses)
	}

	must(gates[1].grants.Revoke(ctx, umpire.Revocation{Dir: dir, ID: approved[0].ID}))(t)
	if left := must(gates[0].grants.List(ctx, dir))(t); len(left) != 0 {
		t.Errorf("%d grants outlive the task at the other gate", len(left))
	}
}
