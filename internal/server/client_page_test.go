package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// eventPage answers with events of these numbers, and further fields.
func eventPage(beside string, seqs ...int) http.HandlerFunc {
	events := make([]umpire.Event, len(seqs))
	for i, seq := range seqs {
		events[i].Seq = int64(seq)
	}
	list, err := json.Marshal(events)
	if err != nil {
		panic(err)
	}
	return status(http.StatusOK, fmt.Sprintf(`{"events":%s%s}`, list, beside))
}

// TestPagesOfOlderAndNewerGates: a gate that says whether more follows is believed, and one that does not is asked
// again after a full page; neither makes the client ask for ever, leave something out or take it twice.
func TestPagesOfOlderAndNewerGates(t *testing.T) {
	t.Parallel()
	const more, end = `,"more":true`, `,"more":false`
	full := make([]int, 1000)
	for i := range full {
		full[i] = i + 1
	}
	surplus := status(http.StatusInternalServerError, `{"code":"internal","message":"asked once too often"}`)
	for name, row := range map[string]struct {
		filter umpire.Filter
		steps  []http.HandlerFunc
		want   []int
	}{
		"short pages":               {umpire.Filter{}, []http.HandlerFunc{eventPage(more, 1, 2), eventPage(more, 3), eventPage(end, 4), surplus}, []int{1, 2, 3, 4}},
		"nothing":                   {umpire.Filter{}, []http.HandlerFunc{eventPage(end), surplus}, nil},
		"more, and then nothing":    {umpire.Filter{}, []http.HandlerFunc{eventPage(more, 1), eventPage(more), surplus}, []int{1}},
		"a full page that ends":     {umpire.Filter{}, []http.HandlerFunc{eventPage(end, full...), surplus}, full},
		"up to the limit":           {umpire.Filter{Limit: 2}, []http.HandlerFunc{eventPage(more, 1), eventPage(more, 2), surplus}, []int{1, 2}},
		"the last":                  {umpire.Filter{Last: 4}, []http.HandlerFunc{eventPage(more, 8, 9), eventPage(more, 7), eventPage(more, 6), surplus}, []int{6, 7, 8, 9}},
		"fewer than the last":       {umpire.Filter{Last: 4}, []http.HandlerFunc{eventPage(more, 8, 9), eventPage(end, 7), surplus}, []int{7, 8, 9}},
		"an older gate":             {umpire.Filter{}, []http.HandlerFunc{eventPage("", full...), eventPage("", 1001), surplus}, append(slices.Clone(full), 1001)},
		"the last of an older gate": {umpire.Filter{Last: 2}, []http.HandlerFunc{eventPage("", 8, 9), surplus}, []int{8, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, err := serveScript(t, &script{steps: row.steps}).Events(t.Context(), row.filter)
			var got []int
			for i := range events {
				got = append(got, int(events[i].Seq))
			}
			if err != nil || !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v: %v", got, row.want, err)
			}
		})
	}
}
