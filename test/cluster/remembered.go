package cluster

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// forget removes what kubectl and the product remember, for hours, of the kinds that a
// server had before whose port this cluster has now.
func (c *Cluster) forget() error {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil //nolint:nilerr // nothing is remembered without one
	}
	cache := cmp.Or(os.Getenv("KUBECACHEDIR"), filepath.Join(home, ".kube", "cache"))
	return os.RemoveAll(filepath.Join(cache, "discovery", fmt.Sprintf("127.0.0.1_%d", c.ports[APIServer]))) //nolint:gosec // where kubectl is told to keep it
}
