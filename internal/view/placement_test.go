package view

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

func TestPlacement_PrintsSubsets(t *testing.T) {
	p := &diagnose.Placement{Object: "workloadspread/web", Target: "cloneset/web", Namespace: "shop", Replicas: 1, Strategy: "Fixed", Subsets: []diagnose.Subset{{Name: "a", Wish: 1}}}
	p.Subsets[0].Pods = []diagnose.PlacedPod{{Name: "web-0", Unschedulable: "0/3 nodes are available."}}
	p.Subsets[0].Why = []string{"1 pod finds no node: 0/3 nodes are available"}
	var b bytes.Buffer
	if err := Placement(&b, p, true, Style{}); err != nil {
		t.Fatal(err)
	}
	const want = `workloadspread/web of cloneset/web in namespace shop: 1 replica, Fixed

SUBSET   LIMIT   WISH   PODS   READY   WHY
a        -       1      1      0       1 pod finds no node: 0/3 nodes are available

POD     SUBSET   NODE   READY
web-0   a        -      false
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := JSON(&b, p); err != nil {
		t.Fatal(err)
	}
	var back diagnose.Placement
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, &back); diff != "" {
		t.Error(diff)
	}
}
