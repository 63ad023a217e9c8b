package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// nothing is an option whose function the compiler copies into each of its callers.
func nothing(name string) Option {
	return WithAddOn(name, func(context.Context, *Cluster) error { return nil })
}

func here() Option  { return nothing("kruise") }
func there() Option { return nothing("kruise") }

// keyOf is the key of a set of options.
func keyOf(opts ...Option) string {
	o := defaults()
	for _, opt := range opts {
		opt(&o)
	}
	return o.key()
}

// TestKey_IsThatOfTheOptions: requests for the same options share a control plane,
// from whichever line of code; another option, or another order of what is installed, is
// another one.
func TestKey_IsThatOfTheOptions(t *testing.T) {
	key := keyOf(here())
	if other := keyOf(there()); other != key {
		t.Errorf("two lines of code, two keys:\n%s\n%s", key, other)
	}
	seen := map[string]string{key: "the same"}
	for name, other := range map[string]string{
		"none":          keyOf(),
		"another":       keyOf(nothing("kruise 1.8")),
		"one more":      keyOf(here(), nothing("stand-ins")),
		"the other way": keyOf(nothing("stand-ins"), here()),
		"audit":         keyOf(WithAudit(), here()),
		"a gate":        keyOf(here(), WithFeatureGate("MaxUnavailableStatefulSet", true)),
		"without nodes": keyOf(WithNodes(), here()),
	} {
		if first, ok := seen[other]; ok {
			t.Errorf("%s has the key of %s", name, first)
		}
		seen[other] = name
	}
}

// TestShared_EndsUnused: a control plane waits for its next user, and not for ever.
func TestShared_EndsUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = "of this test"
		s := &sharedCluster{start: func() (*Cluster, error) { return nil, errors.New("there are no servers") }, users: 1}
		there := func() bool {
			shared.Lock()
			defer shared.Unlock()
			return shared.clusters[key] == s
		}
		shared.Lock()
		if shared.clusters == nil {
			shared.clusters = map[string]*sharedCluster{}
		}
		shared.clusters[key] = s
		shared.Unlock()
		s.release(key, time.Minute)
		time.Sleep(59 * time.Second)
		shared.Lock()
		s.users++
		shared.Unlock()
		time.Sleep(time.Hour)
		if !there() {
			t.Error("it ended while it was used")
		}
		s.release(key, time.Minute)
		time.Sleep(59 * time.Second)
		if !there() {
			t.Error("it ended at once")
		}
		time.Sleep(2 * time.Second)
		if there() {
			t.Error("it does not end")
		}
	})
}
