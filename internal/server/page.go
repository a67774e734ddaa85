package server

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/umpirehq/umpire"
)

// Bounds on the answer of a list, which the gate holds in memory as a whole.
const (
	// maxPage is the most bytes in a page, unless its only entry is larger. A gRPC client takes 4 MiB. maxUnpaged is
	// the same for a client that would take a page that ends early for the last one.
	maxPage    = 3 << 20
	maxUnpaged = 16 << 20
	// maxLists is the most lists that are read at a time: reading one takes several times its bytes.
	maxLists = 4
	// maxListed is the most questions or sessions in a page, and maxEvents the most events.
	maxListed = 500
	maxEvents = 5000
)

// pageLimit returns the size of a page for the limit of a request; 0 is none.
func pageLimit(limit, most int) (int, error) {
	if limit < 0 {
		return 0, invalid("limit: want 0 or more, got %d", limit)
	}
	return min(cmp.Or(limit, most), most), nil
}

// turns holds a value for each list that is being read.
type turns chan struct{}

// readPage reads entries until there are limit of them or maxPage bytes, and reports whether more follow. It reads
// a few at a time: read returns up to n of those after the last one, and fewer only at the end. A request that
// is not paged gets as many as it asked for, or an error.
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
					"limit: %d entries have more than %d bytes, and the request does not say paged: %w",
					limit, most, umpire.ErrLimit)
			}
		}
		if len(part) < n {
			return page, false, nil
		}
		last = &page[len(page)-1]
	}
}
