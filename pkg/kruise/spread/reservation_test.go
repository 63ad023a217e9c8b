package spread

import "testing"

// The first four rows are the examples of docs/kruise/distribution.md#which-allocator.
func TestReservation(t *testing.T) {
	reserved := func(current, n int32) SubsetState { return SubsetState{Current: current, Reserved: n} }
	run(t, []row{
		{name: "3 of 5 reserved", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{reserved(5, 3), reserved(5, 0)}, want: []int32{5, 8}},
		{name: "1 of 5 reserved", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{reserved(5, 1), reserved(8, 0)}, want: []int32{5, 6}},
		{name: "all reserved", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{reserved(5, 5), reserved(5, 0)}, want: []int32{5, 10}},
		{name: "recovered", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{reserved(5, 0), reserved(10, 0)}, want: []int32{5, 5}},

		{name: "new", replicas: 10, subsets: "a [-,5]; b", want: []int32{5, 5}},
		{name: "minimum above what runs", replicas: 10, subsets: "a [4,5]; b", state: []SubsetState{reserved(5, 3), {}}, want: []int32{5, 8}},
		{name: "marked without reserved pods", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{{Current: 2, Unschedulable: true}, {}}, want: []int32{5, 8}},
		{name: "unschedulable does not grow", replicas: 10, subsets: "a [-,5]; b", state: []SubsetState{reserved(2, 1), {}}, want: []int32{2, 9}},
		{name: "more reserved than pods", replicas: 4, subsets: "a; b", state: []SubsetState{reserved(1, 3), {}}, want: []int32{1, 4}},
		{name: "min above max", replicas: 4, subsets: "a [3,2]; b", at: "spec.topology.subsets[0].minReplicas", wantErr: "more than"},
	}, func(in *Allocation) { in.Adaptive, in.Reserve = true, true })
}
