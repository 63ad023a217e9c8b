package spread

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// sub reads "a 50%" (replicas), "a [2,4]" (minReplicas, maxReplicas; "-" is
// none) or "a" (open).
func sub(t *testing.T, text string) Subset {
	t.Helper()
	name, value, _ := strings.Cut(text, " ")
	s := Subset{Name: name}
	switch {
	case strings.HasPrefix(value, "["):
		low, high, _ := strings.Cut(strings.Trim(value, "[]"), ",")
		s.Min, s.Max = parse(low), parse(high)
	default:
		s.Replicas = parse(value)
	}
	return s
}

func parse(s string) *intstr.IntOrString {
	if s == "" || s == "-" {
		return nil
	}
	v := intstr.Parse(s)
	return &v
}

// subs reads subsets divided by semicolons.
func subs(t *testing.T, text string) []Subset {
	t.Helper()
	var out []Subset
	for part := range strings.SplitSeq(text, ";") {
		out = append(out, sub(t, strings.TrimSpace(part)))
	}
	return out
}

// row is one row of the worked tables.
type row struct {
	name     string
	replicas int32 // -1 is not given
	subsets  string
	state    []SubsetState
	want     []int32
	// wantErr is part of the message, at is the path of the fault.
	wantErr, at string
}

func (r row) input(t *testing.T) Allocation {
	t.Helper()
	in := Allocation{Subsets: subs(t, r.subsets)}
	if r.replicas >= 0 {
		in.Replicas = &r.replicas
	}
	for i, s := range r.state {
		in.Subsets[i].SubsetState = s
	}
	return in
}

func run(t *testing.T, rows []row, edit func(*Allocation)) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			in := r.input(t)
			if edit != nil {
				edit(&in)
			}
			got, err := Allocate(in)
			if r.wantErr == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(r.want, got); diff != "" {
					t.Error(diff)
				}
				return
			}
			check(t, err, r.at, r.wantErr)
		})
	}
}

func check(t *testing.T, err error, at, text string) {
	t.Helper()
	var fault *tree.Error
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want a *tree.Error", err)
	}
	if fault.Path != at || !strings.Contains(fault.Msg, text) {
		t.Errorf("fault %q, want path %s and %q", fault.Error(), at, text)
	}
}

func TestAllocate_ChoosesTheAllocator(t *testing.T) {
	// One question that every allocator answers differently.
	three := int32(3)
	ask := Allocation{Replicas: &three, Subsets: []Subset{
		{Name: "a", SubsetState: SubsetState{Current: 2, Reserved: 1, Unschedulable: true}},
		{Name: "b"},
	}}
	tests := []struct {
		name string
		edit func(*Allocation)
		want []int32
	}{
		{"specified", func(*Allocation) {}, []int32{2, 1}},
		{"elastic", func(in *Allocation) { in.Subsets[0].Max = parse("3") }, []int32{3, 0}},
		{"adaptive", func(in *Allocation) { in.Adaptive = true }, []int32{0, 3}},
		{"reservation", func(in *Allocation) { in.Adaptive, in.Reserve = true, true }, []int32{2, 2}},
		{"reserve without adaptive", func(in *Allocation) { in.Reserve = true }, []int32{2, 1}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in := ask
			in.Subsets = append([]Subset(nil), ask.Subsets...)
			tc.edit(&in)
			got, err := Allocate(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	tests := []struct {
		value    string
		replicas int32
		want     int32
		wantErr  string
	}{
		{"0", 5, 0, ""},
		{"7", 5, 7, ""},
		{"-1", 5, 0, "negative"},
		{"0%", 5, 0, ""},
		{"10%", 4, 0, ""},
		{"10%", 5, 1, ""},
		{"10%", 15, 2, ""},
		{"25%", 10, 3, ""},
		{"29%", 50, 15, ""}, // 14.5: a float would say 14
		{"33%", 10, 3, ""},
		{"100%", math.MaxInt32, math.MaxInt32, ""},
		{"101%", 5, 0, "not between"},
		{"-1%", 5, 0, "not between"},
		{"33.3%", 10, 0, "neither"},
		{"many", 10, 0, "neither"},
		{"99999999999%", 10, 0, "neither"},
		{"%", 10, 0, "neither"},
	}
	for _, tc := range tests {
		t.Run(tc.value, func(t *testing.T) {
			got, err := resolveAmount(intstr.Parse(tc.value), tc.replicas)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("Resolve(%s of %d) = %d, %v, want %d", tc.value, tc.replicas, got, err, tc.want)
			}
		})
	}
}
