package spread

// Room is what is known of a subset when a pod comes.
type Room struct {
	// Missing is how many more pods the subset takes, or [Unlimited]; for ordinals
	// it is how many it takes at all.
	Missing int
	// Closed says that the subset is taken as unschedulable: pods go past it.
	Closed bool
}

// Choose returns the subset of a new pod: the first that is open and has room,
// [None] when there is none. Declaration order is all that counts: an open
// subset before a limited one takes everything.
func Choose(rooms []Room) int {
	for i, r := range rooms {
		if !r.Closed && r.Missing != 0 {
			return i
		}
	}
	return None
}

// Ordinal returns the subset of a StatefulSet's pod, which depends on its number
// alone: the first in which the limits of the open subsets so far add up to more.
func Ordinal(rooms []Room, ordinal int) int {
	sum := 0
	for i, r := range rooms {
		switch {
		case r.Closed:
		case r.Missing == Unlimited:
			return i
		default:
			if sum += r.Missing; ordinal < sum {
				return i
			}
		}
	}
	return None
}

// Fill shares n pods out over subsets with these limits, as they come in one
// after the other; rest is how many no subset takes.
func Fill(limits []int, n int) (counts []int, rest int) {
	counts, rest = make([]int, len(limits)), max(n, 0)
	for i, limit := range limits {
		take := rest
		if limit != Unlimited {
			take = min(limit, rest)
		}
		counts[i] = take
		rest -= take
	}
	return counts, rest
}

// FillOrdinals shares a StatefulSet's ordinals, ascending, out over its subsets;
// rest are those that no subset takes.
func FillOrdinals(limits, ordinals []int) (shares [][]int, rest []int) {
	rooms := make([]Room, len(limits))
	for i, limit := range limits {
		rooms[i].Missing = limit
	}
	shares = make([][]int, len(limits))
	for _, o := range ordinals {
		if i := Ordinal(rooms, o); i != None {
			shares[i] = append(shares[i], o)
			continue
		}
		rest = append(rest, o)
	}
	return shares, rest
}
