package metrics

// maxRecent bounds the memory for entries that never end.
const maxRecent = 10_000

// A recent remembers values by key; beyond maxRecent entries it forgets the oldest. It is not safe
// for concurrent use.
type recent[K comparable, V any] struct {
	values map[K]V
	order  []K // including keys that were removed since
}

func newRecent[K comparable, V any]() *recent[K, V] { return &recent[K, V]{values: map[K]V{}} }

func (r *recent[K, V]) put(key K, value V) {
	if _, there := r.values[key]; !there {
		r.order = append(r.order, key)
	}
	r.values[key] = value
	for len(r.values) > maxRecent {
		r.takeOut(r.order[0])
		r.order = r.order[1:]
	}
	if len(r.order) > 2*maxRecent {
		r.compact()
	}
}

// compact removes the deleted keys, and duplicates.
func (r *recent[K, V]) compact() {
	kept := make([]K, 0, len(r.values))
	seen := make(map[K]bool, len(r.values))
	for _, key := range r.order {
		if _, there := r.values[key]; there && !seen[key] {
			seen[key] = true
			kept = append(kept, key)
		}
	}
	r.order = kept
}

// takeOut returns a value and removes it.
func (r *recent[K, V]) takeOut(key K) (V, bool) {
	value, there := r.values[key]
	delete(r.values, key)
	return value, there
}
