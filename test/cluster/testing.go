package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Start gives the test a control plane of its own, gone when the test ends. A
// component that ends by itself fails the test.
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	c, err := New(tb.Context(), opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Fault(); err != nil {
			tb.Error(err)
		}
		c.keepLogs(tb)
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// Shared gives the test a namespace of its own in a control plane that all tests
// of this binary with the same options share. It ends some time after the last of them, or
// with the binary.
func Shared(tb testing.TB, opts ...Option) (c *Cluster, namespace string) {
	tb.Helper()
	c, release, err := share(opts)
	tb.Cleanup(release)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Fault(); err != nil {
			tb.Error(err)
		}
		c.keepLogs(tb)
	})
	return c, c.Namespace(tb)
}

// unusedFor is how long a control plane waits for the next test that shares it. A waiting one
// takes as much of the processor in this time as it takes to start another.
const unusedFor = 2 * time.Minute

var shared struct {
	sync.Mutex
	clusters map[string]*sharedCluster
}

// sharedCluster is the control plane of one set of options.
type sharedCluster struct {
	start  func() (*Cluster, error)
	users  int
	ending *time.Timer // while no test uses it
}

// key tells sets of options apart. Add-ons are known by their names: where the function that
// makes an option is inlined, each of its callers has a copy of what it installs.
func (o options) key() string {
	var names []string
	for _, a := range o.addOns {
		names = append(names, a.name)
	}
	o.addOns = nil
	return fmt.Sprintf("%+v %q", o, names)
}

// share starts a control plane once for each set of options. A user releases it once.
func share(opts []Option) (c *Cluster, release func(), err error) {
	o := defaults()
	for _, opt := range opts {
		opt(&o)
	}
	key := o.key()
	shared.Lock()
	if shared.clusters == nil {
		shared.clusters = map[string]*sharedCluster{}
	}
	s := shared.clusters[key]
	if s == nil {
		s = &sharedCluster{start: sync.OnceValues(func() (*Cluster, error) {
			return New(context.Background(), opts...)
		})}
		shared.clusters[key] = s
	}
	s.users++
	if s.ending != nil {
		s.ending.Stop()
	}
	shared.Unlock()
	c, err = s.start()
	return c, func() { s.release(key, unusedFor) }, err
}

// release ends the control plane after a time, unless it has a user then.
func (s *sharedCluster) release(key string, after time.Duration) {
	shared.Lock()
	defer shared.Unlock()
	if s.users--; s.users == 0 {
		s.ending = time.AfterFunc(after, func() { s.end(key) })
	}
}

// end ends a control plane without users. The next test with its options starts another one.
func (s *sharedCluster) end(key string) {
	shared.Lock()
	if s.users > 0 || shared.clusters[key] != s {
		shared.Unlock()
		return
	}
	delete(shared.clusters, key)
	shared.Unlock()
	if c, err := s.start(); err == nil {
		if err := c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "ending a control plane that no test uses:", err)
		}
	}
}

// Namespace makes a namespace for the test, ready for pods. What the test leaves in it
// stays there for a while, see ended.
func (c *Cluster) Namespace(tb testing.TB) string {
	tb.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: generateName(tb.Name())}}
	ns, err := c.client.CoreV1().Namespaces().Create(tb.Context(), ns, metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		most := mostEnded
		if c.Real != nil {
			most = 0 // real containers would go on running
		}
		c.Nodes.Freeze(ns.Name)
		oldest, over := c.ended.add(ns.Name, most)
		if !over {
			return
		}
		c.Nodes.Thaw(oldest)
		if err := c.client.CoreV1().Namespaces().Delete(context.Background(), oldest, metav1.DeleteOptions{}); err != nil {
			tb.Log(err)
		}
	})
	if err := c.awaitServiceAccount(tb.Context(), ns.Name); err != nil {
		tb.Fatal(err)
	}
	return ns.Name
}

// mostEnded is how many namespaces of ended tests a cluster keeps.
const mostEnded = 300

// ended are namespaces whose tests have ended, oldest first. Deleting one takes more than
// a hundred requests and sets all controllers in motion, and most clusters end soon after
// the test: only what a long run would pile up is deleted. Pods in the others are frozen.
type ended struct {
	mu    sync.Mutex
	names []string
}

// add keeps a namespace. It returns the oldest one when there are more than most.
func (e *ended) add(name string, most int) (oldest string, over bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.names = append(e.names, name)
	if len(e.names) <= most {
		return "", false
	}
	oldest, e.names = e.names[0], e.names[1:]
	return oldest, true
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// generateName makes a prefix for names out of a test's name.
func generateName(test string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(test), "-"), "-")
	return name[:min(len(name), 40)] + "-"
}

// keepLogs copies the components' logs to the failed test's artifacts.
func (c *Cluster) keepLogs(tb testing.TB) {
	tb.Helper()
	if !tb.Failed() {
		return
	}
	for name, p := range c.parts {
		text, err := os.ReadFile(p.log)
		if err != nil {
			continue
		}
		_ = os.WriteFile(filepath.Join(tb.ArtifactDir(), string(name)+".log"), text, 0o600) //nolint:gosec // the log of a component
	}
}
