package server

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/umpirehq/umpire"
)

// Limits on a list, which the gate holds in memory completely.
const (
	// maxPage is the maximum size of a page, unless its only entry is larger. A gRPC client accepts 4 MiB.
	// maxUnpaged is the limit for clients that would mistake a shortened page for the last one.
	maxPage    = 3 << 20
	maxUnpaged = 16 << 20
	// maxLists limits concurrent lists: reading one takes several times its size.
	maxLists = 4
	// maxListed is the maximum number of questions or sessions in a page, and maxEvents that of events.
	maxListed = 500
	maxEvents = 5000
)

// pageLimit returns the size of a page for the limit of a request; 0 means no limit.
func pageLimit(limit, most int) (int, error) {
	if limit < 0 {
		return 0, invalid("limit: want 0 or more, got %d", limit)
	}
	return min(cmp.Or(limit, most), most), nil
}

// turns holds a value for each list that is being read.
type turns chan struct{}

// readPage reads entries until it has limit entries or maxPage bytes, and reports whether
// more follow. It reads a few at a time: read returns up to n entries after the last one,
// and fewer only at the end. An unpaged request gets all requested entries, or an error.
func readPage[T any](
	ctx context.Context, t turns, limit int, paged bool, read func(last *T, n int) ([]T, error),
) (page []T, more bool, err error) {
	select {
	case t <- struct{}{}:
		defer func() { <-t }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	page = []T{}
	most := maxUnpaged
	if paged {
		most = maxPage
	}
	var last *T
	for size := 0; ; {
		n := min(limit+1-len(page), pageSize)
		part, err := read(last, n)
		if err != nil {
			return nil, false, err
		}
		for i := range part {
			encoded, err := json.Marshal(part[i])
			if err != nil {
				return nil, false, err
			}
			size += len(encoded) + len(",")
			switch {
			case len(page) == limit:
				return page, true, nil
			case size <= most || len(page) == 0:
				page = append(page, part[i])
			case paged:
				return page, true, nil
			default:
				return nil, false, umpire.Errorf(
					"limit: %d entries have more than %d bytes: ask for pages with paged: %w",
					limit, most, umpire.ErrLimit)
			}
		}
		if len(part) < n {
			return page, false, nil
		}
		last = &page[len(page)-1]
	}
}
