package tui

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestVerbs_HaveKeysAndPrompts: each verb has one key, and a sentence of its own that asks.
func TestVerbs_HaveKeysAndPrompts(t *testing.T) {
	keys := map[world.Verb]int{}
	for _, v := range verbs {
		keys[v.verb]++
	}
	for _, verb := range world.Verbs() {
		d := dialog{act: world.Act{Verb: verb}}
		if keys[verb] != 1 {
			t.Errorf("%s has %d keys", verb, keys[verb])
		}
		if asked := d.sentence(); asked == string(verb)+" ?" {
			t.Errorf("%s asks %q", verb, asked)
		}
	}
}
