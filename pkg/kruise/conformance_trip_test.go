package kruise_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestTrip: the comparison with recorded conversions lets pass what they leave
// open, and nothing else.
func TestTrip(t *testing.T) {
	const alpha, beta = kruise.V1alpha1, kruise.V1beta1
	for _, tc := range []struct {
		name, kind, from, to, input, want, back, complaint string
	}{
		{
			"one namespace comes back as a selector", "SidecarSet", alpha, beta, `{spec: {namespace: shop}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`, "",
		},
		{
			"one namespace beside a selector", "SidecarSet", alpha, beta, `{spec: {namespace: shop, namespaceSelector: {matchLabels: {a: b}}}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`, "",
		},
		{"a stated false is left out", "DaemonSet", alpha, beta, `{spec: {updateStrategy: {rollingUpdate: {paused: false, partition: 1}}}}`, `{spec: {updateStrategy: {rollingUpdate: {partition: 1}}}}`, `{spec: {updateStrategy: {rollingUpdate: {partition: 1}}}}`, ""},
		{"a true is not", "DaemonSet", alpha, beta, `{spec: {updateStrategy: {rollingUpdate: {paused: true}}}}`, `{}`, `{}`, "the other version differs"},
		{"in a list of a mapping", "NodeImage", beta, alpha, `{spec: {images: {a: {pullSecrets: [{name: s, mode: batch}]}}}}`, `{spec: {images: {a: {pullSecrets: [{name: s}]}}}}`, `{spec: {images: {a: {pullSecrets: [{name: s}]}}}}`, ""},
		{"a loss that nobody reports", "DaemonSet", alpha, beta, `{spec: {minReadySeconds: 5}}`, `{spec: {minReadySeconds: 5}}`, `{spec: {}}`, "the way back differs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := trip(written(t, tc.kind, tc.from, tc.input), written(t, tc.kind, tc.to, tc.want), written(t, tc.kind, tc.from, tc.back))
			if (err == nil) != (tc.complaint == "") || err != nil && !strings.Contains(err.Error(), tc.complaint) {
				t.Errorf("%v, want %q", err, tc.complaint)
			}
		})
	}
}
