package stage

import "testing"

func TestParseKubernetes(t *testing.T) {
	for text, want := range map[string]int{
		"1.29": 29, "v1.36.3": 36, "1.36+": 36, "v1.35.1-gke.100": 35, "1.37": 37, "1.99": NewestKubernetes,
	} {
		if got, err := ParseKubernetes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "2.0", "1.28", "1.x", "1.37x", "v1.", "1.36 "} {
		if got, err := ParseKubernetes(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestSince(t *testing.T) {
	newest, older := New(nil, Options{}), New(nil, Options{Kubernetes: 36})
	if !newest.Since(NewestKubernetes) || older.Since(37) || !older.Since(36) {
		t.Error("Since is wrong")
	}
}
