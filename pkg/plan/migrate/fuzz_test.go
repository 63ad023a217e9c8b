package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzDecode: no annotation panics, and an accepted record is written as it was read.
func FuzzDecode(f *testing.F) {
	texts := []string{
		Record{From: Workload{Group: "apps", Kind: "Deployment", Name: "web"}, UID: "u", Replicas: 3, Source: 5, Surge: 1}.Encode(),
		`{"from": {"kind": "a", "name": "b"}, "surge": 2147483648, "replicas": -1}`,
		`{"from": null, "surge": 1e3}`,
		`[]`,
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		r, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Decode(r.Encode())
		if diff := cmp.Diff(r, again); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		_ = r.Back(r.From, Side{Replicas: r.Source}, Side{Replicas: r.Destination})
	})
}
