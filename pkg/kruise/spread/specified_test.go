package spread

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func current(n ...int32) []SubsetState {
	out := make([]SubsetState, len(n))
	for i, v := range n {
		out[i].Current = v
	}
	return out
}

// Rows S1 to S11 are the table of docs/kruise/distribution.md#which-allocator.
func TestSpecified(t *testing.T) {
	run(t, []row{
		{name: "S1", replicas: 10, subsets: "a; b; c", want: []int32{3, 3, 4}},
		{name: "S2", replicas: 11, subsets: "a; b; c", state: current(3, 3, 4), want: []int32{3, 4, 4}},
		{name: "S3", replicas: 10, subsets: "a; b; c", state: current(5, 3, 3), want: []int32{4, 3, 3}},
		{name: "S4", replicas: 10, subsets: "a 50%; b 25%; c", want: []int32{5, 3, 2}},
		{name: "S5", replicas: 11, subsets: "a 2; b 30%; c; d", want: []int32{2, 3, 3, 3}},
		{name: "S6", replicas: 10, subsets: "a 33%; b 33%; c 34%", at: "spec.topology.subsets", wantErr: "add up to 9 (a 33% = 3, b 33% = 3, c 34% = 3), but spec.replicas is 10"},
		{name: "S7", replicas: 5, subsets: "a 50%; b 50%", at: "spec.topology.subsets", wantErr: "ask for 6 replicas (a 50% = 3, b 50% = 3), but spec.replicas is 5"},
		{name: "S8", replicas: 7, subsets: "a 100%; b", want: []int32{7, 0}},
		{name: "S9 of 4", replicas: 4, subsets: "a 10%; b", want: []int32{0, 4}},
		{name: "S9 of 5", replicas: 5, subsets: "a 10%; b", want: []int32{1, 4}},
		{name: "S10", replicas: 5, subsets: "a 2; b 2", at: "spec.topology.subsets", wantErr: "add up to 4 (a 2, b 2)"},
		{name: "S11 all given", replicas: -1, subsets: "a 2; b 3", want: []int32{2, 3}},
		{name: "S11 one open", replicas: -1, subsets: "a 2; b", at: "spec.replicas", wantErr: "subset b has no replicas"},

		{name: "declaration order plays no role", replicas: 4, subsets: "c; b; a", want: []int32{2, 1, 1}},
		{name: "equal sizes by name", replicas: 5, subsets: "b; a; c", state: current(2, 2, 2), want: []int32{2, 1, 2}},
		{name: "none to share", replicas: 0, subsets: "a 50%; b", want: []int32{0, 0}},
		{name: "all open, fewer replicas than subsets", replicas: 1, subsets: "a; b", want: []int32{0, 1}},
		{name: "named below zero", replicas: 3, subsets: "a -2; b", at: "spec.topology.subsets[0].replicas", wantErr: "-2 is negative"},
		{name: "too much percent", replicas: 3, subsets: "a; b 120%", at: "spec.topology.subsets[1].replicas", wantErr: "not between"},
		{name: "share of nothing", replicas: -1, subsets: "a 50%; b 2", at: "spec.topology.subsets[0].replicas", wantErr: "share of spec.replicas"},
		{name: "numbers beyond int32 together", replicas: 3, subsets: "a 2147483647; b 2147483647", at: "spec.topology.subsets", wantErr: "ask for 4294967294 replicas"},
	}, nil)
}

func TestSpecified_RefusesReplicasWithoutSubsets(t *testing.T) {
	two, zero := int32(2), int32(0)
	_, err := specified(&two, nil)
	check(t, err, "spec.topology.subsets", "no subset takes the 2 replicas")
	if got, err := specified(&zero, nil); err != nil || len(got) != 0 {
		t.Errorf("nothing over nothing = %v, %v", got, err)
	}
	below := int32(-1)
	_, err = specified(&below, subs(t, "a"))
	check(t, err, "spec.replicas", "-1 is negative")
}

// TestSpecified_HintsMakeTheSumRight holds the hints to what makes the sum work.
func TestSpecified_HintsMakeTheSumRight(t *testing.T) {
	tests := []struct {
		name, subsets string
		replicas      int32
		hints         []string
	}{
		{"too many", "a 50%; b 50%", 5, []string{"take 1 away", "set spec.replicas to 6"}},
		{"too few", "a 2; b 2", 5, []string{"leave replicas out of one subset", "add 1", "set spec.replicas to 4"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := specified(&tc.replicas, subs(t, tc.subsets))
			var fault *tree.Error
			if !errors.As(err, &fault) {
				t.Fatalf("error %v, want a *tree.Error", err)
			}
			for _, h := range tc.hints {
				if !strings.Contains(fault.Hint, h) {
					t.Errorf("hint %q lacks %q", fault.Hint, h)
				}
			}
		})
	}
}

func TestSpecified_ReportsAllFaults(t *testing.T) {
	three := int32(3)
	_, err := specified(&three, subs(t, "a -1; b 200%; c"))
	if err == nil || !strings.Contains(err.Error(), "subsets[0]") || !strings.Contains(err.Error(), "subsets[1]") {
		t.Errorf("error %v, want both faults", err)
	}
}

func TestSpecified_CutsLongLists(t *testing.T) {
	hundred := int32(100)
	var parts []string
	for range 50 {
		parts = append(parts, "a 1")
	}
	_, err := specified(&hundred, subs(t, strings.Join(parts, ";")))
	if err == nil || !strings.Contains(err.Error(), "…") || len(err.Error()) > 300 {
		t.Errorf("error %v", err)
	}
}
