package rollout

import (
	"iter"
	"slices"
	"sort"
)

// ordered is a list that is kept in order. It is stored in pieces, so an insertion or a removal
// moves a bounded number of items, however long the list is.
type ordered[T any] struct {
	// compare orders items; it returns 0 only for the same item.
	compare func(a, b T) int
	pieces  [][]T
	size    int
}

// piece is how many items a piece has when it is made; it is divided at twice as many.
const piece = 256

// newOrdered sorts items once, and keeps them.
func newOrdered[T any](items []T, compare func(a, b T) int) *ordered[T] {
	slices.SortFunc(items, compare)
	o := &ordered[T]{compare: compare, size: len(items)}
	for part := range slices.Chunk(items, piece) {
		o.pieces = append(o.pieces, part)
	}
	return o
}

func (o *ordered[T]) insert(item T) {
	o.size++
	if len(o.pieces) == 0 {
		o.pieces = [][]T{{item}}
		return
	}
	p := min(o.pieceOf(item), len(o.pieces)-1)
	i, _ := slices.BinarySearchFunc(o.pieces[p], item, o.compare)
	part := slices.Insert(o.pieces[p], i, item)
	o.pieces[p] = part
	if len(part) >= 2*piece {
		o.pieces[p] = part[:piece:piece]
		o.pieces = slices.Insert(o.pieces, p+1, slices.Clone(part[piece:]))
	}
}

// remove takes an item out, if it is there.
func (o *ordered[T]) remove(item T) {
	p, i, ok := o.find(item)
	if !ok {
		return
	}
	o.size--
	if o.pieces[p] = slices.Delete(o.pieces[p], i, i+1); len(o.pieces[p]) == 0 {
		o.pieces = slices.Delete(o.pieces, p, p+1)
	}
}

// index returns the position of an item, and whether it is there.
func (o *ordered[T]) index(item T) (int, bool) {
	p, i, ok := o.find(item)
	for _, part := range o.pieces[:p] {
		i += len(part)
	}
	return i, ok
}

// pieceOf is the piece in which an item is or would be; one beyond the last for the largest.
func (o *ordered[T]) pieceOf(item T) int {
	return sort.Search(len(o.pieces), func(p int) bool { return o.compare(o.pieces[p][len(o.pieces[p])-1], item) >= 0 })
}

func (o *ordered[T]) find(item T) (p, i int, ok bool) {
	if p = o.pieceOf(item); p == len(o.pieces) {
		return p, 0, false
	}
	i, ok = slices.BinarySearchFunc(o.pieces[p], item, o.compare)
	return p, i, ok
}

// at returns the item at a position.
func (o *ordered[T]) at(i int) T {
	for item := range o.from(i) {
		return item
	}
	panic("no item at this position")
}

// from returns the items from a position on.
func (o *ordered[T]) from(i int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, part := range o.pieces {
			if i >= len(part) {
				i -= len(part)
				continue
			}
			for _, item := range part[i:] {
				if !yield(item) {
					return
				}
			}
			i = 0
		}
	}
}
