package spread

import "testing"

// Rows A1 to A5 are the table of docs/kruise/distribution.md#which-allocator.
func TestAdaptive(t *testing.T) {
	ready := func(current, ready int32) SubsetState { return SubsetState{Current: current, Ready: ready} }
	stuck := func(current, ready int32) SubsetState {
		return SubsetState{Current: current, Ready: ready, Unschedulable: true}
	}
	run(t, []row{
		{name: "A1", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{stuck(5, 2), ready(5, 5)}, want: []int32{2, 8}},
		{name: "A2", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{ready(2, 2), ready(8, 8)}, want: []int32{2, 8}},
		{name: "A3", replicas: 12, subsets: "a [-,5]; b", state: []SubsetState{ready(2, 2), ready(8, 8)}, want: []int32{4, 8}},
		{name: "A4", replicas: 9, subsets: "a [-,5]; b", state: []SubsetState{ready(2, 2), ready(8, 8)}, want: []int32{2, 7}},
		{name: "A5", replicas: 10, subsets: "a [3,5]; b", state: []SubsetState{stuck(5, 0), ready(5, 5)}, want: []int32{3, 7}},

		{name: "new", replicas: 10, subsets: "a [-,5]; b", want: []int32{5, 5}},
		{name: "no limits at all", replicas: 3, subsets: "a; b", want: []int32{3, 0}},
		{name: "more ready than allowed", replicas: 10, subsets: "a [-,3]; b", state: []SubsetState{ready(5, 5), ready(5, 5)}, want: []int32{3, 7}},
		{name: "nothing schedulable", replicas: 4, subsets: "a [-,2]; b", state: []SubsetState{stuck(2, 1), stuck(2, 1)}, want: []int32{1, 1}},
		{name: "min above max stays an error", replicas: 4, subsets: "a [3,2]; b", state: []SubsetState{stuck(0, 0)}, at: "spec.topology.subsets[0].minReplicas", wantErr: "more than"},
		{name: "replicas unknown", replicas: -1, subsets: "a [-,2]; b", at: "spec.replicas", wantErr: "need spec.replicas"},
	}, func(in *Allocation) { in.Adaptive = true })
}
