package history

import (
	"slices"
	"testing"
)

func TestPickNext(t *testing.T) {
	t.Parallel()
	need := func(times int, options ...[]string) Need { return Need{times, options} }
	for _, tt := range []struct {
		name    string
		needs   []Need
		refused [][]string
		want    []string
	}{
		{"nothing is asked", nil, nil, nil},
		{"a question that nothing settles", []Need{need(3)}, nil, nil},
		{"the most frequent question first", []Need{need(1, []string{"a"}), need(5, []string{"b"})}, nil, []string{"b", "a"}},
		{
			"a wide permission covers two narrow ones",
			[]Need{need(2, []string{"a"}, []string{"wide"}), need(2, []string{"b"}, []string{"wide"})},
			nil, []string{"wide"},
		},
		{
			"parts that are needed anyway settle the whole",
			[]Need{need(3, []string{"a"}), need(2, []string{"b"}), need(9, []string{"a", "b"})},
			nil, []string{"a", "b"},
		},
		{"equally good: the first name", []Need{need(1, []string{"b"}), need(1, []string{"a"})}, nil, []string{"a", "b"}},
		{
			"the narrow one in place of a refused one",
			[]Need{need(2, []string{"a"}, []string{"wide"}), need(2, []string{"b"}, []string{"wide"})},
			[][]string{{"wide"}}, []string{"a", "b"},
		},
	} {
		has, refused := map[string]bool{}, map[string]bool{}
		for _, set := range tt.refused {
			refused[SetName(set)] = true
		}
		var picked []string
		for {
			set := PickNext(tt.needs, has, refused)
			if set == nil {
				break
			}
			for _, name := range set {
				has[name] = true
				picked = append(picked, name)
			}
		}
		if !slices.Equal(picked, tt.want) {
			t.Errorf("%s: picked %q, want %q", tt.name, picked, tt.want)
		}
	}
}

func TestSetName(t *testing.T) {
	t.Parallel()
	if SetName([]string{"b", "a"}) != SetName([]string{"a", "b"}) || SetName([]string{"ab"}) == SetName([]string{"a", "b"}) {
		t.Error("a set has another name in another order, or two sets have the same")
	}
}
