package cluster

import (
	"context"
	"testing"
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
