package controller

import (
	"encoding/json"
	"hash/fnv"
	"strconv"

	"k8s.io/apimachinery/pkg/util/rand"
)

// podTemplateHash is what tells the ReplicaSets of a Deployment apart. Kubernetes
// hashes its own types in memory, which differ from version to version, so that
// a real cluster comes to another text of the same kind.
func podTemplateHash(template map[string]any) string {
	text, _ := json.Marshal(template)
	sum := fnv.New32a()
	_, _ = sum.Write(text)
	return rand.SafeEncodeString(strconv.FormatUint(uint64(sum.Sum32()), 10))
}
