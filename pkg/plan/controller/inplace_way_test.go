package controller

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func TestUpdates(t *testing.T) {
	template := func(image, env string) map[string]any {
		c := map[string]any{"name": "main", "image": image}
		if env != "" {
			c["env"] = []any{map[string]any{"name": "A", "value": env}}
		}
		return map[string]any{"spec": map[string]any{"containers": []any{c}}}
	}
	all := []cluster.Revision{
		{Name: "web-image", Template: template("web:1", "")},
		{Name: "web-env", Template: template("web:2", "b")},
		{Name: "web-same", Template: template("web:2", "")},
		{Name: "web-new", Template: template("web:2", "")},
	}
	for _, c := range []struct {
		revision string
		policy   rules.UpdatePolicy
		gate     bool
		mode     rules.UpdateMode
		inPlace  bool
	}{
		{"web-image", rules.PolicyInPlaceIfPossible, true, rules.ModeInPlace, true},
		{"web-image", rules.PolicyInPlaceIfPossible, false, rules.ModeRecreate, false},
		{"web-image", rules.PolicyRecreate, true, rules.ModeRecreate, false},
		{"web-image", "", true, rules.ModeRecreate, false},
		{"web-env", rules.PolicyInPlaceIfPossible, true, rules.ModeRecreate, false},
		{"web-env", rules.PolicyInPlaceOnly, true, rules.ModeNotAllowed, false},
		{"web-gone", rules.PolicyInPlaceIfPossible, true, rules.ModeRecreate, false},
		{"web-same", rules.PolicyInPlaceIfPossible, true, rules.ModeUnchanged, true},
		{"web-same", rules.PolicyRecreate, true, rules.ModeUnchanged, false},
	} {
		u := &updates{view: &View{}, all: all, update: all[3], policy: c.policy, revision: "web-new", needsGate: true}
		p := &cluster.Pod{Name: "p", Labels: map[string]string{"controller-revision-hash": c.revision}}
		if c.gate {
			p.ReadinessGates = []string{"InPlaceUpdateReady"}
		}
		for range 2 {
			mode, why, update := u.of(p)
			if mode != c.mode || why == "" || (update != nil) != c.inPlace {
				t.Errorf("%s under %q: %s, %s, %v", c.revision, c.policy, mode, why, update)
			}
		}
		if len(u.known) != 1 {
			t.Errorf("templates were compared %d times", len(u.known))
		}
	}
}
