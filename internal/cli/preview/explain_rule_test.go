package preview

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
)

// TestExplainID_KnowsEveryFindingAndRule: whatever ID a command prints is explained, with what it says.
func TestExplainID_KnowsEveryFindingAndRule(t *testing.T) {
	want := map[string]string{}
	for _, r := range lint.Rules() {
		want[r.ID] = r.Doc
	}
	for _, r := range finding.Rules() {
		want[r.ID] = r.Becomes
	}
	for id, text := range want {
		var out strings.Builder
		if err := explainID(&out, id); err != nil || !strings.Contains(out.String(), id+"\n") || !strings.Contains(out.String(), text) {
			t.Errorf("%s: %v\n%s", id, err, out.String())
		}
	}
	if err := explainID(&strings.Builder{}, "cloneset/none"); err == nil || !strings.Contains(err.Error(), `there is no finding or rule "cloneset/none"`) {
		t.Errorf("%v", err)
	}
}
