package spread

import "testing"

// Rows E1 to E8 are the table of docs/kruise/distribution.md#which-allocator.
func TestElastic(t *testing.T) {
	five := "a [2,5]; b [2,5]; c [2,5]; d [2,5]; e [2,-]"
	run(t, []row{
		{name: "E1", replicas: 5, subsets: "a [2,4]; b [2,-]", want: []int32{3, 2}},
		{name: "E2", replicas: 3, subsets: "a [2,4]; b [2,-]", want: []int32{2, 1}},
		{name: "E3", replicas: 14, subsets: five, want: []int32{5, 3, 2, 2, 2}},
		{name: "E4", replicas: 5, subsets: five, want: []int32{2, 2, 1, 0, 0}},
		{name: "E5", replicas: 7, subsets: "a [20%,50%]; b [0,-]", want: []int32{4, 3}},
		{name: "E6", replicas: 9, subsets: "a [0,3]; b [1,4]; c [1,-]", want: []int32{3, 4, 2}},
		{name: "E7", replicas: 5, subsets: "z [1,2]; a [1,-]", want: []int32{2, 3}},
		{name: "E8", replicas: 10, subsets: "a [2,4]; b [1,3]", want: []int32{4, 3}},

		{name: "current sizes play no role", replicas: 4, subsets: "a [-,3]; b", state: current(0, 4), want: []int32{3, 1}},
		{name: "huge", replicas: 2147483647, subsets: "a [2147483647,-]; b [2147483647,-]", want: []int32{2147483647, 0}},
		{name: "min above max", replicas: 9, subsets: "a [3,2]; b", at: "spec.topology.subsets[0].minReplicas", wantErr: "minReplicas (3) of subset a is more than its maxReplicas (2)"},
		{name: "min above max by percent", replicas: 10, subsets: "a [3,20%]; b", at: "spec.topology.subsets[0].minReplicas", wantErr: "minReplicas (3)"},
		{name: "max is not a number", replicas: 9, subsets: "a [-,lots]; b", at: "spec.topology.subsets[0].maxReplicas", wantErr: "neither"},
		{name: "replicas unknown", replicas: -1, subsets: "a [-,2]; b", at: "spec.replicas", wantErr: "need spec.replicas"},
	}, nil)
}
