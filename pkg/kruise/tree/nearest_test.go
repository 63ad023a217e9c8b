package tree

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	fields := []string{"targetRef", "updateStrategy", "replicas", "minReadySeconds", "template", "maxSurge"}
	for word, want := range map[string]string{
		"replica": "replicas", "REPLICAS": "replicas", "Template": "template", "targetReference": "", "colour": "", "": "",
	} {
		if got := Nearest(word, slices.Values(fields)); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for word, want := range map[string]string{
		"targetReference": "targetRef", "strategy": "updateStrategy", "minReady": "minReadySeconds", "max": "", "update": "", "colour": "",
	} {
		if got := Akin(word, slices.Values(append(fields, "updatePolicy"))); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistance_CountsEdits(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "ab", 2},
		{"ab", "", 2},
		{"kitten", "sitting", 3},
		{"partiton", "partition", 1},
		{"abc", "acb", 2},
	} {
		if got := EditDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
