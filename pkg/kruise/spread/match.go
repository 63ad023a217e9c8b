package spread

import (
	"encoding/json"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Match is what the annotation [kruise.MatchedWorkloadSpreadAnnotation] of a pod
// says. UID replaces the name of a pod that had none yet when it was counted.
// The order of the fields is that of the JSON.
type Match struct {
	Spread string `json:"name"`
	Subset string `json:"subset"`
	UID    string `json:"uid,omitempty"`
}

// String is the annotation's value.
func (m Match) String() string {
	text, err := json.Marshal(m)
	if err != nil {
		return "" // texts always encode
	}
	return string(text)
}

// node is the value in the quotes that leave JSON readable.
func (m Match) node() *tree.Node {
	n := tree.String(m.String())
	n.Style = yaml.SingleQuotedStyle
	return n
}

// ReadMatch reads a pod's annotation; ok is false when it has none that can be
// read.
func ReadMatch(annotations map[string]string) (m Match, ok bool) {
	text := annotations[kruise.MatchedWorkloadSpreadAnnotation]
	return m, text != "" && json.Unmarshal([]byte(text), &m) == nil
}
