package resource

import "sync"

// memo holds what was worked out from facts, by the key of whoever did.
type memo struct{ entries sync.Map }

// Once returns what make works out from these facts, for instance an index over
// objects of one kind, and works it out only once for each key. key is of a type of
// the caller's own; the result is shared and must not change.
func Once[K comparable, V any](f *Facts, key K, work func() V) V {
	once := sync.OnceValue(work)
	found, _ := f.memo.entries.LoadOrStore(key, once)
	return found.(func() V)() //nolint:forcetypeassert // the key's type says so
}
