package resource

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// atOnce is how many results are held until they are taken.
const atOnce = 4096

// InOrder calls f for 0 to n-1 on several goroutines, 0 means one for each core, and hands what it
// returns to take, in that order and on one goroutine. It ends early with the error of ctx, and
// reports to progress.
func InOrder[T any](ctx context.Context, workers, n int, progress Progress, f func(i int) T, take func(T)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	results := make([]T, min(n, atOnce))
	for from := 0; from < n; from += atOnce {
		part := results[:min(n-from, atOnce)]
		var next, done atomic.Int64
		var wg sync.WaitGroup
		for range min(workers, len(part)) {
			wg.Go(func() {
				for i := int(next.Add(1)) - 1; i < len(part) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
					part[i] = f(from + i)
					progress.Of(from+int(done.Add(1)), n)
				}
			})
		}
		wg.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, r := range part {
			take(r)
		}
		clear(part)
	}
	return ctx.Err()
}
