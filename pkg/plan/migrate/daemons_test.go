package migrate

import (
	"fmt"
	"strings"
	"testing"
)

// daemons reads pods written NODE:STATE, where the state has t (taken over), u (of the
// newest revision), a (available), g (going). The UID is the text.
func daemons(text string) []Daemon {
	var out []Daemon
	for one := range strings.FieldsSeq(text) {
		node, state, _ := strings.Cut(one, ":")
		has := func(flag string) bool { return strings.Contains(state, flag) }
		out = append(out, Daemon{Name: one, UID: one, Node: node, Taken: has("t"), Updated: has("u"), Available: has("a"), Going: has("g")})
	}
	return out
}

func said(t Turn) string {
	s := fmt.Sprintf("%s %d/%d", t.Verb, t.Moved, t.All)
	for _, p := range t.Pods {
		s += " " + p.Name
	}
	if t.Verb == Wait {
		s += ": " + t.Why
	}
	return s
}

func TestNextTurn_MovesPodsNodeByNode(t *testing.T) {
	for name, c := range map[string]struct {
		surge, desired int32
		turn           string
		pods, want     string
	}{
		"nothing is taken over yet":         {1, 2, "", "a:a b:a", "wait 0/2: pod a:a has not been taken over yet"},
		"one node at a time":                {1, 3, "", "a:ta b:ta c:ta", "replace 0/3 a:ta"},
		"two nodes at a time":               {2, 3, "", "a:ta b:ta c:ta", "replace 0/3 a:ta b:ta"},
		"it goes":                           {1, 2, "a:tg", "a:tg b:ta", "wait 0/2: 1 node has no pod that is available"},
		"it has gone":                       {1, 2, "a:ta", "b:ta", "wait 0/2: 1 node has no pod that is available"},
		"its successor is not available":    {1, 2, "", "a:tu b:ta", "wait 0/2: 1 node has no pod that is available"},
		"it is: the next":                   {1, 2, "", "a:tua b:ta", "replace 1/2 b:ta"},
		"the last goes":                     {1, 2, "", "a:tua b:tag", "wait 1/2: pod b:tag is going"},
		"all of the newest revision":        {1, 2, "", "a:tua b:tua", "done 2/2"},
		"no node wants one":                 {1, 0, "", "", "done 0/0"},
		"one that does not work costs none": {1, 3, "", "a:t b:ta c:ta", "replace 0/3 a:t"},
		"its turn has begun":                {1, 2, "b:ta", "a:ta b:ta", "replace 0/2 b:ta"},
		"its turn, and one has moved":       {1, 3, "b:ta", "a:tua b:ta c:ta", "replace 1/3 b:ta"},
		"beside: the new one first":         {1, 2, "", "a:a a:tua b:a b:tua", "replace 0/2 a:a b:a"},
		"beside: one waits for the port":    {1, 2, "", "a:a a:tu b:a b:tu", "replace 0/2 a:a"},
		"beside: and comes":                 {1, 2, "", "a:tu b:a b:tu", "wait 0/2: 1 node has no pod that is available"},
		"beside: the next":                  {1, 2, "", "a:tua b:a b:tu", "replace 1/2 b:a"},
		"beside: some are not made yet":     {1, 2, "", "a:tua b:a", "wait 1/2: pod b:a has not been taken over yet"},
		"a node joins":                      {1, 3, "", "a:tua b:ta", "wait 1/3: 1 node has no pod that is available"},
	} {
		h := Handover{Surge: c.surge, Turn: strings.Fields(c.turn)}
		if got := said(NextTurn(h, c.desired, daemons(c.pods))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNextTurn_EndsWithinTheLimit plays handovers to their end: never are more nodes away than may be,
// whether pods are taken over or not.
func TestNextTurn_EndsWithinTheLimit(t *testing.T) {
	for _, adopts := range []bool{true, false} {
		for surge := int32(1); surge <= 3; surge++ {
			state := map[string]string{"a": "a", "b": "a", "c": "a", "d": "a"}
			if adopts {
				state = map[string]string{"a": "ta", "b": "ta", "c": "ta", "d": "ta"}
			}
			own := map[string]string{}
			for range 40 {
				var pods []string
				for _, n := range []string{"a", "b", "c", "d"} {
					if s, ok := state[n]; ok {
						pods = append(pods, n+":"+s)
					}
					if s, ok := own[n]; ok {
						pods = append(pods, n+":"+s)
					}
				}
				turn := NextTurn(Handover{Surge: surge}, 4, daemons(strings.Join(pods, " ")))
				if turn.Verb == Done {
					break
				}
				for n := range own { // what was made has become available
					if _, held := state[n]; !held {
						own[n] = "tua"
					}
				}
				for _, p := range turn.Pods {
					delete(state, p.Node)
				}
				for _, n := range []string{"a", "b", "c", "d"} {
					if _, ok := own[n]; !ok && (!adopts || state[n] == "") {
						own[n] = "tu" // it waits for the port
					}
				}
				away := int32(0)
				for _, n := range []string{"a", "b", "c", "d"} {
					if state[n] == "" && own[n] != "tua" {
						away++
					}
				}
				if away > surge {
					t.Fatalf("adopts %v: %d nodes away, %d may be", adopts, away, surge)
				}
			}
			if len(state) > 0 {
				t.Errorf("adopts %v, %d at a time: left %v", adopts, surge, state)
			}
		}
	}
}

func TestKindOf_DaemonSets(t *testing.T) {
	for word, want := range map[string]string{
		"daemonset": "DaemonSet", "ds": "DaemonSet", "daemonset.apps": "DaemonSet",
		"ads": "AdvancedDaemonSet", "AdvancedDaemonSet": "AdvancedDaemonSet", "daemonsets.apps.kruise.io": "AdvancedDaemonSet",
	} {
		k := KindOf(word)
		if k == nil || k.Word != want || !k.Nodes || !k.Counterpart.Nodes || k.Counterpart.Word == want {
			t.Errorf("%s: %+v", word, k)
		}
	}
}

// TestWorkload_String: two sides never have the same name.
func TestWorkload_String(t *testing.T) {
	for _, k := range kinds {
		here, there := Workload{k.Group, k.Kind, "web"}, Workload{k.Counterpart.Group, k.Counterpart.Kind, "web"}
		if here.String() == there.String() || here.String() != k.Word+"/web" {
			t.Errorf("%s and %s", here, there)
		}
	}
}
