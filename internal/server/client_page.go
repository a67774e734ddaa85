package server

// listedAtOnce is the size of a page of questions or sessions.
const listedAtOnce = 200

// following is part of every page.
type following struct {
	// More reports whether there is another page. Older gates do not send it.
	More *bool `json:"more"`
}

// isLast reports whether a page of so many entries is the last one. A page of an older gate is the
// last if it has fewer entries than requested.
func (f following) isLast(entries, size int) bool {
	if f.More == nil {
		return entries < size
	}
	return !*f.More || entries == 0
}

// readPages reads a list page by page, up to a limit; 0 means no limit. Each page begins after the
// last entry of the one before.
func readPages[T any](limit, size int, read func(last *T, size int) ([]T, following, error)) (all []T, err error) {
	for {
		if limit > 0 {
			size = min(size, limit-len(all))
		}
		var last *T
		if len(all) > 0 {
			last = &all[len(all)-1]
		}
		page, more, err := read(last, size)
		all = append(all, page...)
		if err != nil || more.isLast(len(page), size) || len(all) == limit {
			return all, err
		}
	}
}
