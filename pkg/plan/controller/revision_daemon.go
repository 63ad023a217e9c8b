package controller

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"
)

// daemonHash is what Kruise calls the revision of a DaemonSet's template: a hash
// of the Go structure as printed by the version of the Kubernetes types that
// Kruise is built with. Ours are newer; the fields that its types lack are left
// out as long as they are not set.
func daemonHash(template map[string]any) string {
	var typed corev1.PodTemplateSpec
	if err := json.Unmarshal(encoded(template), &typed); err != nil {
		// An odd template still tells itself apart.
		typed.Name = string(encoded(template))
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(withoutNewFields.Replace(beforeEmptyDirMode.Replace(dump.ForHash(typed)))))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// beforeEmptyDirMode takes the mode of an emptyDir out, the last field of its
// volume; other modes are older, and followed by a user.
var beforeEmptyDirMode = strings.NewReplacer(" Mode:(*int32)<nil>}", "}")

// withoutNewFields takes out, when unset, what k8s.io/api has had since v0.34.
var withoutNewFields = strings.NewReplacer(
	" BindMountOptions:([]string)<nil>", "",
	" DefaultUser:(*int64)<nil>", "",
	" EvictionResponders:([]v1.EvictionResponder)<nil>", "",
	" FileKeyRef:(*v1.FileKeySelector)<nil>", "",
	" HostnameOverride:(*string)<nil>", "",
	" Mode:(*v1.GRPCProbeMode)<nil>", "",
	" PodCertificate:(*v1.PodCertificateProjection)<nil>", "",
	" Protocol:(*v1.HTTPProtocol)<nil>", "",
	" RestartPolicyRules:([]v1.ContainerRestartRule)<nil>", "",
	" SchedulingGroup:(*v1.PodSchedulingGroup)<nil>", "",
	" User:(*int64)<nil>", "",
)
