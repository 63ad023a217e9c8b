package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// hashedContainer is a sidecar in the form that Kruise hashes: its field order
// and what is omitted decide about the result.
type hashedContainer struct {
	corev1.Container
	PodInjectPolicy         string           `json:"podInjectPolicy,omitempty"`
	UpgradeStrategy         hashedUpgrade    `json:"upgradeStrategy"`
	ShareVolumePolicy       hashedShare      `json:"shareVolumePolicy"`
	ShareVolumeDevicePolicy *hashedShare     `json:"shareVolumeDevicePolicy,omitempty"`
	TransferEnv             []hashedTransfer `json:"transferEnv,omitempty"`
	ResourcesPolicy         *hashedResources `json:"resourcesPolicy,omitempty"`
}

type hashedUpgrade struct {
	UpgradeType          string `json:"upgradeType,omitempty"`
	HotUpgradeEmptyImage string `json:"hotUpgradeEmptyImage,omitempty"`
}

type hashedShare struct {
	Type string `json:"type,omitempty"`
}

type hashedTransfer struct {
	SourceContainerName     string        `json:"sourceContainerName,omitempty"`
	SourceContainerNameFrom *hashedSource `json:"sourceContainerNameFrom,omitempty"`
	EnvName                 string        `json:"envName,omitempty"`
	EnvNames                []string      `json:"envNames,omitempty"`
}

type hashedSource struct {
	FieldRef *corev1.ObjectFieldSelector `json:"fieldRef,omitempty"`
}

type hashedResources struct {
	TargetContainersMode      string            `json:"targetContainersMode"`
	TargetContainersNameRegex string            `json:"targetContainersNameRegex,omitempty"`
	ResourcesExpr             hashedExpressions `json:"resourcesExpr"`
}

type hashedExpressions struct {
	Limits   *hashedExpression `json:"limits,omitempty"`
	Requests *hashedExpression `json:"requests,omitempty"`
}

type hashedExpression struct {
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
}

// Hashes computes the two hashes that Kruise keeps on a SidecarSet with this
// spec: of its containers, and of the same without their images (semantics
// sidecarset 2.12). Init containers count only when one of them is native.
func Hashes(spec *tree.Node) (full, withoutImage string, err error) {
	containers, err := hashed(spec, "containers", "BeforeAppContainer")
	if err != nil {
		return "", "", err
	}
	inits, err := hashed(spec, "initContainers", "AfterAppContainer")
	if err != nil {
		return "", "", err
	}
	if !slices.ContainsFunc(inits, isNative) {
		inits = nil
	}
	if full, err = digest(containers, inits); err != nil {
		return "", "", err
	}
	for _, list := range [][]hashedContainer{containers, inits} {
		for i := range list {
			list[i].Image = ""
		}
	}
	withoutImage, err = digest(containers, inits)
	return full, withoutImage, err
}

func isNative(c hashedContainer) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func hashed(spec *tree.Node, field, policy string) ([]hashedContainer, error) {
	n := tree.Get(spec, field)
	if n == nil {
		return nil, nil
	}
	var list []hashedContainer
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

func digest(containers, inits []hashedContainer) (string, error) {
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
