package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range that the system gives to outgoing
// connections: one of those would otherwise now and then hold a port between the
// moment it is chosen and the moment a server listens on it.
const lowestPort, highestPort = 18000, 32000

// peerPort is where etcd would talk to other members, etcdHTTPPort where it answers what is not gRPC.
const (
	peerPort     Component = "etcd peer"
	etcdHTTPPort Component = "etcd http"
)

// reserve chooses a free loopback port for every listener.
func (c *Cluster) reserve() error {
	c.ports = map[Component]int{}
	for _, name := range []Component{Etcd, peerPort, etcdHTTPPort, APIServer, ControllerManager, Scheduler} {
		port, err := c.claim()
		if err != nil {
			return err
		}
		c.ports[name] = port
	}
	return nil
}

// claim finds a port that no process listens on and that no other cluster of this
// machine is about to: a socket without a file, which ends with this program,
// stands for the claim.
func (c *Cluster) claim() (int, error) {
	var err error
	for range 100 {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // a port is no secret
		var mine, l net.Listener
		if mine, err = net.Listen("unix", fmt.Sprintf("@kubectl-kruise-port-%d", port)); err != nil {
			continue
		}
		if l, err = net.Listen("tcp", loopback(port)); err != nil {
			_ = mine.Close()
			continue
		}
		c.claims = append(c.claims, mine)
		return port, l.Close()
	}
	return 0, fmt.Errorf("no free port on loopback: %w", err)
}

// release gives the claims back.
func (c *Cluster) release() {
	for _, l := range c.claims {
		_ = l.Close()
	}
}

// loopback is a listening address for the port.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// URL is where a component serves: beside its API its metrics, to the
// administrator.
func (c *Cluster) URL(name Component) string { return "https://" + loopback(c.ports[name]) }
