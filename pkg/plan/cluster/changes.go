package cluster

// Changes records what changed in a list that is read again and again, so that a reader who
// comes back with its [Mark] reads only that. The zero value is an empty record.
type Changes[T any] struct {
	// forgotten is how many of the oldest changes are no longer kept.
	forgotten int
	kept      []T
}

// PodChanges are the places of a list of pods that were given another pod. That the list has become
// shorter is no change: readers see it.
type PodChanges = Changes[int]

// fewestChanges are kept of a list of any size.
const fewestChanges = 64

// Add records a change of a list of that size. Changes are kept for as long as reading them takes less
// than reading the list.
func (c *Changes[T]) Add(change T, size int) {
	if len(c.kept) >= 2*max(size, fewestChanges) {
		half := len(c.kept) / 2
		c.forgotten += half
		c.kept = append(c.kept[:0], c.kept[half:]...)
	}
	c.kept = append(c.kept, change)
}

// Forget has every reader read the whole list.
func (c *Changes[T]) Forget() {
	c.forgotten += len(c.kept) + 1 // further than anyone has read
	c.kept = c.kept[:0]
}

// Mark is how far a reader has read a record. The zero value has read nothing.
type Mark[T any] struct {
	record *Changes[T]
	read   int
}

// Since returns the changes since the last call for the same record, in their order and in a list that
// must not be kept. It reports false where these are not known, so that the whole list has to be read:
// at the first call, without a record, and after too many changes.
func (m *Mark[T]) Since(c *Changes[T]) (changes []T, known bool) {
	if c == nil {
		*m = Mark[T]{}
		return nil, false
	}
	read := m.read - c.forgotten
	known = m.record == c && read >= 0
	m.record, m.read = c, c.forgotten+len(c.kept)
	if !known {
		return nil, false
	}
	return c.kept[read:], true
}
