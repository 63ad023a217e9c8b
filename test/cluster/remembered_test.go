package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPort_ForgetsItsFormerUser: nothing is left of who had the port before, and all of the others.
func TestPort_ForgetsItsFormerUser(t *testing.T) {
	t.Setenv("KUBECACHEDIR", t.TempDir())
	known := filepath.Join(os.Getenv("KUBECACHEDIR"), "discovery")
	for _, server := range []string{"127.0.0.1_18001", "127.0.0.1_18002"} {
		if err := os.MkdirAll(filepath.Join(known, server, "apps"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	c := &Cluster{ports: map[Component]int{APIServer: 18001}}
	if err := c.forget(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(known)
	if err != nil || len(left) != 1 || left[0].Name() != "127.0.0.1_18002" {
		t.Errorf("%v, %v", left, err)
	}
}
