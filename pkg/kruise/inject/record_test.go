package inject

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestBookkeeping(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	set := contentOf(t, "aset", `{initContainers: [{name: zz, restartPolicy: Always}, {name: prep}], containers: [{name: b}]}`)
	notes := []Note{{Content: set, Hash: "H", HashWithoutImage: "H0", Revision: "aset-1"}}
	got, err := Bookkeeping(map[string]string{
		kruise.SidecarSetHashAnnotation:             `{"zset":"old"}`,
		kruise.SidecarSetHashWithoutImageAnnotation: `{"zset":{"updateTimestamp":"2026-01-02T03:04:05Z","hash":"zz","sidecarSetName":"zset","sidecarList":["other"]}}`,
	}, notes, now)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		kruise.SidecarSetHashAnnotation: `{"aset":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"H","sidecarSetName":"aset","sidecarList":["b","zz"],"controllerRevision":"aset-1"},` +
			`"zset":{"updateTimestamp":"","hash":"old","sidecarSetName":"zset","sidecarList":null}}`,
		kruise.SidecarSetHashWithoutImageAnnotation: `{"aset":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"H0","sidecarSetName":"aset","sidecarList":["b","zz"]},` +
			`"zset":{"updateTimestamp":"2026-01-02T03:04:05Z","hash":"zz","sidecarSetName":"zset","sidecarList":["other"]}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := Bookkeeping(map[string]string{kruise.SidecarSetHashAnnotation: "[]"}, notes, now); err == nil {
		t.Error("an annotation that is no map was accepted")
	}
}
