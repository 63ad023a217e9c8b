package rules

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// FuzzAnnotations: whatever annotations of Kruise's say, which all who may write pods can write, each reader has an answer;
// the hash that is found without reading JSON is the one that JSON has.
func FuzzAnnotations(f *testing.F) {
	texts := []string{
		`{"revision":"r","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"main":{"imageID":"a"}},"nextContainerImages":{"log":"b"},"preCheckBeforeNext":{"containersRequiredReady":["main"]},"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main"]}]}`,
		`{"revision":"r","containerImages":{"main":"web:2"},"graceSeconds":30}`,
		`{"mesh":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"h1","sidecarSetName":"mesh"},"other":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"h2","sidecarSetName":"other"}}`,
		`{"mesh":"h1"}`, `{"mesh":{"hash":"h1","updateTimestamp":null}}`,
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		p := &cluster.Pod{
			Annotations: map[string]string{
				kruise.InPlaceUpdateStateAnnotation: text, kruise.InPlaceUpdateGraceAnnotation: text, kruise.SidecarSetHashAnnotation: text, kruise.NoProtectAnnotation: text,
			},
			Containers: []cluster.Container{{Name: "main", Image: "web:2", ImageID: "a", Reported: true}},
		}
		_, _ = GraceEnds(p)
		_ = InPlacePending(p, NodeReport{})
		_, _ = FailedBefore(p, &p.Containers[0])
		_ = sidecarHash(p, kruise.SidecarSetHashAnnotation, "")
		hash, found := writtenHash(text, "mesh")
		var entries map[string]struct {
			Hash string `json:"hash"`
		}
		if found && once(text) && json.Unmarshal([]byte(text), &entries) == nil && entries["mesh"].Hash != hash {
			t.Errorf("%q, where JSON has %q", hash, entries["mesh"].Hash)
		}
	})
}

// once reports whether a text is JSON in which no key is there twice, of which readers take one or the other.
func once(text string) bool {
	var all any
	var short bytes.Buffer
	if json.Unmarshal([]byte(text), &all) != nil || json.Compact(&short, []byte(text)) != nil {
		return false
	}
	plain, err := json.Marshal(all)
	return err == nil && len(plain) == short.Len()
}
