package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Hashes computes the two hashes that Kruise keeps on a SidecarSet with this
// spec: of its containers, and of the same without their images (docs/kruise/sidecarset.md#hashes).
// Init containers count only when one of them is native.
func Hashes(spec *tree.Node) (full, withoutImage string, err error) {
	containers, err := hashed(spec, "containers", kruise.BeforeAppContainerType)
	if err != nil {
		return "", "", err
	}
	inits, err := hashed(spec, "initContainers", kruise.AfterAppContainerType)
	if err != nil {
		return "", "", err
	}
	if !slices.ContainsFunc(inits, isNative) {
		inits = nil
	}
	if full, err = digest(containers, inits); err != nil {
		return "", "", err
	}
	for _, list := range [][]kruise.SidecarContainer{containers, inits} {
		for i := range list {
			list[i].Image = ""
		}
	}
	withoutImage, err = digest(containers, inits)
	return full, withoutImage, err
}

func isNative(c kruise.SidecarContainer) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func hashed(spec *tree.Node, field string, policy kruise.PodInjectPolicyType) ([]kruise.SidecarContainer, error) {
	n := tree.Get(spec, field)
	if n == nil {
		return nil, nil
	}
	var list []kruise.SidecarContainer
	if _, err := tree.Decode(n, &list); err != nil {
		return nil, below(spec, field, err)
	}
	for i := range list {
		defaultSidecar(&list[i], policy)
	}
	return list, nil
}

// letters of the hash: 0 and f collide, as in Kruise.
var hashLetters = strings.NewReplacer(
	"0", "4", "1", "5", "2", "6", "3", "7", "4", "8", "5", "9", "6", "b", "7", "c",
	"8", "d", "9", "f", "a", "v", "b", "w", "c", "x", "d", "z", "e", "2", "f", "4",
)

func digest(containers, inits []kruise.SidecarContainer) (string, error) {
	content := map[string]any{"containers": containers}
	if inits != nil {
		content["initContainers"] = inits
	}
	b, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hashLetters.Replace(hex.EncodeToString(sum[:])), nil
}
