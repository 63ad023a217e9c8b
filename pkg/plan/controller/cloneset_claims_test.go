package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// tidied is what tidyClaims does, with a look at every claim and pod: the actions, and the claims
// that stay.
func tidied(v *View, reuse bool) (actions []Action, stay []*cluster.Claim) {
	active, leaving := map[string]*cluster.Pod{}, map[string]*cluster.Pod{}
	for _, p := range v.Pods {
		if rules.Active(p) {
			active[instanceID(p.Labels)] = p
		} else {
			leaving[instanceID(p.Labels)] = p
		}
	}
	for _, c := range v.Claims {
		id := instanceID(c.Labels)
		switch {
		case c.Deleting || c.Owner.UID != v.Workload.UID:
		case reuse || id == "" || active[id] != nil:
			stay = append(stay, c)
		case leaving[id] != nil:
			p := leaving[id]
			actions = append(actions, ChangeClaim{Claim: c, Owner: &cluster.Owner{Kind: "Pod", Name: p.Name, UID: p.UID}})
		default:
			actions = append(actions, ChangeClaim{Claim: c, Delete: true})
		}
	}
	return actions, stay
}

// unused are the IDs of the claims that stay and whose pod is lost.
func unused(v *View, stay []*cluster.Claim) []string {
	var ids []string
	for _, c := range stay {
		id := instanceID(c.Labels)
		taken := slices.ContainsFunc(v.Pods, func(p *cluster.Pod) bool { return rules.Active(p) && instanceID(p.Labels) == id })
		if id != "" && !taken && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// randomPod is one of an instance, active in most cases.
func randomPod(r *rand.Rand, n int) *cluster.Pod {
	p := &cluster.Pod{Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: fmt.Sprint(n), Phase: corev1.PodRunning, Labels: map[string]string{}}
	if id := r.IntN(7); id > 0 {
		p.Labels[kruise.CloneSetInstanceIDLabel] = fmt.Sprint("i", id)
	}
	switch r.IntN(5) {
	case 0:
		p.Phase = corev1.PodFailed
	case 1:
		p.Phase = corev1.PodSucceeded
	}
	return p
}

// randomClaim is one of an instance, owned by the CloneSet in most cases.
func randomClaim(r *rand.Rand) *cluster.Claim {
	id, template := r.IntN(7), []string{"data", "logs"}[r.IntN(2)]
	c := &cluster.Claim{Namespace: "shop", Name: fmt.Sprintf("%s-web-i%d", template, id), Deleting: r.IntN(6) == 0, Labels: map[string]string{}}
	if id > 0 {
		c.Labels[kruise.CloneSetInstanceIDLabel] = fmt.Sprint("i", id)
	}
	c.Owner = []cluster.Owner{{Kind: "CloneSet", Name: "web", UID: "w"}, {Kind: "CloneSet", Name: "web", UID: "w"}, {Kind: "Pod", Name: "web-1", UID: "1"}, {}}[r.IntN(4)]
	return c
}

// TestCloneSet_ClaimsAsALookAtAll has pods and claims come, change and go between passes: with and
// without what is remembered, the controller does what a look at all of them says.
func TestCloneSet_ClaimsAsALookAtAll(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		var remembered cluster.Answers
		v := &View{Workload: &cluster.Workload{}}
		v.Workload.Namespace, v.Workload.Name, v.Workload.UID = "shop", "web", "w"
		for pass := range 40 {
			for range r.IntN(4) {
				changePods(r, v)
			}
			for range r.IntN(3) {
				v.Claims = changedClaims(r, v.Claims, randomClaim(r))
			}
			if r.IntN(20) == 0 {
				v.Workload.UID = []string{"w", "other"}[r.IntN(2)]
			}
			for _, reuse := range []bool{false, true} {
				want, stay := tidied(v, reuse)
				for _, v.Answers = range []*cluster.Answers{nil, &remembered} {
					s := &cloneSet{view: v, CloneSet: &kruise.CloneSet{}}
					s.Spec.ScaleStrategy.EnablePVCReuse = reuse
					s.readClaims()
					s.tidyClaims()
					if diff := cmp.Diff(want, s.pass.Actions); diff != "" {
						t.Fatalf("seed %d, pass %d, reuse %t: actions (-want +got):\n%s", seed, pass, reuse, diff)
					}
					n := r.IntN(4)
					free := unused(v, stay)
					if diff := cmp.Diff(append([]string{}, free[:min(n, len(free))]...), append([]string{}, s.freeIDs(n)...)); diff != "" {
						t.Fatalf("seed %d, pass %d, reuse %t: free IDs (-want +got):\n%s", seed, pass, reuse, diff)
					}
					for _, p := range v.Pods {
						if !rules.Active(p) {
							continue
						}
						var mine []*cluster.Claim
						for _, c := range stay {
							if id := instanceID(c.Labels); id != "" && id == instanceID(p.Labels) {
								mine = append(mine, c)
							}
						}
						if diff := cmp.Diff(mine, s.claimsOf(p)); diff != "" {
							t.Fatalf("seed %d, pass %d, reuse %t: claims of a pod (-want +got):\n%s", seed, pass, reuse, diff)
						}
					}
				}
			}
		}
	}
}

// changePods puts another pod in a place, adds one or takes the last ones away.
func changePods(r *rand.Rand, v *View) {
	v.Pods = slices.Clone(v.Pods)
	place := r.IntN(len(v.Pods) + 1)
	switch {
	case r.IntN(6) == 0:
		v.Pods = v.Pods[:max(0, len(v.Pods)-1-r.IntN(2))]
		return
	case place == len(v.Pods):
		v.Pods = append(v.Pods, nil)
	}
	v.Pods[place] = randomPod(r, r.IntN(1000))
}
