package cluster

import "testing"

func TestPorts_AreClaimedOnce(t *testing.T) {
	a, b := &Cluster{}, &Cluster{}
	defer a.release()
	defer b.release()
	seen := map[int]bool{}
	for range 200 {
		for _, c := range []*Cluster{a, b} {
			port, err := c.claim()
			if err != nil {
				t.Fatal(err)
			}
			if seen[port] || port < lowestPort || port >= highestPort {
				t.Errorf("port %d", port)
			}
			seen[port] = true
		}
	}
}
