package controller

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"
)

// podTemplateHash is what tells the ReplicaSets of a Deployment apart. Kubernetes
// hashes its own Go structure, so that a cluster of the version whose types we
// use comes to the same name, and others to another of the same kind.
func podTemplateHash(template *corev1.PodTemplateSpec, collisions *int32) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(dump.ForHash(*template)))
	if collisions != nil {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(uint32(*collisions))))
	}
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}
