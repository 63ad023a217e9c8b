package cluster

import (
	"slices"
	"time"
)

// Answers remembers what was asked of the pods or claims of a list, block by block, so that a list that
// is asked the same again reads only the blocks that have another one. They never change, so an answer
// about a block holds for as long as the same are in it. It knows no question: each has a key
// with all that the answer depends on beside the list and the time. A nil *Answers remembers nothing,
// and every answer is the same without it. It is for one goroutine.
type Answers struct {
	byKey   map[any]any
	numbers Numbers
}

// Numbers are numbers of names, from 1 in the order in which they were first asked for; that of "" is 0.
type Numbers map[string]int

// NumbersIn are those that a remembers, new ones without it.
func NumbersIn(a *Answers) Numbers {
	if a == nil {
		return Numbers{}
	}
	if a.numbers == nil {
		a.numbers = Numbers{}
	}
	return a.numbers
}

// Of is the number of a name.
func (n Numbers) Of(name string) int {
	if name == "" {
		return 0
	}
	number, ok := n[name]
	if !ok {
		number = len(n) + 1
		n[name] = number
	}
	return number
}

const (
	// blockSize is how many of a list are asked together.
	blockSize = 64
	// mostKeys is how many questions are remembered: those of an older spec are asked no more.
	mostKeys = 64
)

// answer is what is known of one block.
type answer[P comparable, T any] struct {
	list []P
	is   T
	// from and until are the times between which it holds; a zero until is forever.
	from, until time.Time
}

// Ask returns the answers about all blocks of the list at a time, in their order. They must not be
// kept or changed. ask is given the pods of a block, and returns the last moment for which its answer
// holds; zero is forever.
func Ask[P comparable, T any](a *Answers, key any, now time.Time, list []P, ask func(block []P) (is T, until time.Time)) []T {
	return renewed(a, key, now, list, func(block []P, _ T) (T, time.Time) { return ask(block) })
}

// parts are what is known of each of a block, and what these make together.
type parts[P comparable, E, T any] struct {
	list []P
	each []E
	is   T
}

// AskEach is [Ask] for what takes long to read of a pod or claim and does not depend on the time: of a
// block only those are read that were not there before, and join is given what was read of each.
func AskEach[P comparable, E, T any](a *Answers, key any, list []P, read func(P) E, join func(block []P, each []E) T) []T {
	blocks := renewed(a, key, time.Time{}, list, func(block []P, was *parts[P, E, T]) (*parts[P, E, T], time.Time) {
		is := &parts[P, E, T]{list: slices.Clone(block), each: make([]E, len(block))}
		for i, p := range block {
			if at := was.place(p, i); at >= 0 {
				is.each[i] = was.each[at]
			} else {
				is.each[i] = read(p)
			}
		}
		is.is = join(block, is.each)
		return is, time.Time{}
	})
	out := make([]T, len(blocks))
	for i, b := range blocks {
		out[i] = b.is
	}
	return out
}

// place is where one of a block was before, or -1: where it is now, or beside that place, as all that follow are
// where one came into a sorted list or went.
func (b *parts[P, E, T]) place(one P, now int) int {
	if b == nil {
		return -1
	}
	for _, at := range [...]int{now, now + 1, now - 1} {
		if at >= 0 && at < len(b.list) && b.list[at] == one {
			return at
		}
	}
	return -1
}

// Each is what was read of each of a list, which does not depend on the time. It must not be kept or changed.
func Each[P comparable, E any](a *Answers, key any, list []P, read func(P) E) []E {
	return slices.Concat(AskEach(a, key, list, read, func(_ []P, each []E) []E { return each })...)
}

// renewed are the answers about all blocks; ask is given what the answer was before the block had others.
func renewed[P comparable, T any](a *Answers, key any, now time.Time, list []P, ask func(block []P, was T) (is T, until time.Time)) []T {
	known := answersOf[P, T](a, key)
	n := (len(list) + blockSize - 1) / blockSize
	*known = append((*known)[:min(n, len(*known))], make([]answer[P, T], max(n-len(*known), 0))...)
	out := make([]T, n)
	for i := range n {
		block, k := list[i*blockSize:min((i+1)*blockSize, len(list))], &(*known)[i]
		if !slices.Equal(k.list, block) || !k.holds(now) {
			k.list, k.from = append(k.list[:0], block...), now
			k.is, k.until = ask(k.list, k.is)
		}
		out[i] = k.is
	}
	return out
}

// holds reports whether the answer is about that time as well.
func (a *answer[P, T]) holds(now time.Time) bool {
	return !now.Before(a.from) && (a.until.IsZero() || !now.After(a.until))
}

func answersOf[P comparable, T any](a *Answers, key any) *[]answer[P, T] {
	if a == nil {
		return new([]answer[P, T])
	}
	known, ok := a.byKey[key].(*[]answer[P, T])
	if !ok {
		known = new([]answer[P, T])
		if a.byKey == nil || len(a.byKey) >= mostKeys {
			a.byKey = map[any]any{}
		}
		a.byKey[key] = known
	}
	return known
}

// Places are the places in the list whose pods something is true of, ascending. Until is the last
// moment for which that holds of a pod; zero is forever.
func Places(a *Answers, key any, now time.Time, list []*Pod, is func(*Pod) (is bool, until time.Time)) []int {
	blocks := Ask(a, key, now, list, func(block []*Pod) (offsets []int, until time.Time) {
		for at, p := range block {
			yes, end := is(p)
			if yes {
				offsets = append(offsets, at)
			}
			if !end.IsZero() && (until.IsZero() || end.Before(until)) {
				until = end
			}
		}
		return offsets, until
	})
	n := 0
	for _, block := range blocks {
		n += len(block)
	}
	out := make([]int, 0, n)
	for i, block := range blocks {
		for _, at := range block {
			out = append(out, i*blockSize+at)
		}
	}
	return out
}
