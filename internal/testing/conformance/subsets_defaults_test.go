package conformance

import (
	"regexp"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// written are the values that are filled in on the way into a cluster, by
// kind ("" = any) and path below the object. A value that one side has and the
// other has not is left out when it is such a default; values that both have
// are compared.
var written = map[string]map[string]any{
	kruise.KindCloneSet: {
		"spec.scaleStrategy.enablePVCReuse":                       false,
		"spec.updateStrategy.type":                                "RollingUpdate",
		"spec.updateStrategy.rollingUpdate.maxSurge":              int64(0),
		"spec.updateStrategy.rollingUpdate.maxUnavailable":        "20%",
		"spec.updateStrategy.rollingUpdate.podUpdatePolicy":       "ReCreate",
		"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy": nil,
		"spec.revisionHistoryLimit":                               int64(10),
		"spec.template.spec.containers[].imagePullPolicy":         "Always",
	},
	"Kruise StatefulSet": {
		"spec.volumeClaimUpdateStrategy":                          nil,
		"spec.updateStrategy.type":                                "RollingUpdate",
		"spec.updateStrategy.rollingUpdate.maxUnavailable":        int64(1),
		"spec.updateStrategy.rollingUpdate.minReadySeconds":       int64(0),
		"spec.updateStrategy.rollingUpdate.podUpdatePolicy":       "ReCreate",
		"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy": nil,
		"spec.revisionHistoryLimit":                               int64(10),
		"spec.podManagementPolicy":                                "OrderedReady",
		"spec.template.spec.containers[].imagePullPolicy":         "Always",
	},
	kruise.KindStatefulSet: {
		"spec.updateStrategy.type":  "RollingUpdate",
		"spec.revisionHistoryLimit": int64(10),
		"spec.podManagementPolicy":  "OrderedReady",
	},
	kruise.KindDeployment: {
		"spec.progressDeadlineSeconds":               int64(600),
		"spec.revisionHistoryLimit":                  int64(10),
		"spec.strategy.type":                         "RollingUpdate",
		"spec.strategy.rollingUpdate.maxSurge":       "25%",
		"spec.strategy.rollingUpdate.maxUnavailable": "25%",
	},
	"": {
		"spec.template.spec.restartPolicy":                      "Always",
		"spec.template.spec.securityContext":                    nil,
		"spec.template.spec.containers[].resources":             nil,
		"spec.template.spec.initContainers[].resources":         nil,
		"spec.volumeClaimTemplates[].apiVersion":                "v1",
		"spec.volumeClaimTemplates[].kind":                      "PersistentVolumeClaim",
		"spec.volumeClaimTemplates[].status.phase":              "Pending",
		"spec.volumeClaimTemplates[].spec.volumeMode":           "Filesystem",
		"spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
		"spec.persistentVolumeClaimRetentionPolicy.whenScaled":  "Retain",
	},
}

// kindKey names the kind in the table.
func kindKey(o map[string]any) string {
	if kindOf(o) == kruise.KindStatefulSet && strings.HasPrefix(text(o, "apiVersion"), "apps.kruise.io/") {
		return "Kruise StatefulSet"
	}
	return kindOf(o)
}

// equalise removes from a and b what is a default on one side only, and writes
// quantities alike.
func equalise(a, b map[string]any) {
	quantities(a)
	quantities(b)
	d := filledIn{kind: kindKey(a)}
	d.level(a, b, "")
	d.ours = true
	d.level(b, a, "")
}

// filledIn drops defaults from one of two objects.
type filledIn struct {
	kind string
	// ours: the object is the rendered one, in which stated zero values stand as
	// they were written. The API server leaves them out where they mean nothing.
	ours bool
}

// level drops from a what b has not, when it is a default.
func (d filledIn) level(a, b any, path string) {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		for k, v := range a {
			at := strings.TrimPrefix(path+"."+k, ".")
			theirs, there := other[k]
			if there || isCollection(v) {
				d.level(v, theirs, at)
			}
			if !there && (d.is(at, v) || k == "imagePullPolicy" && v == policyFor(text(a, "image"))) {
				delete(a, k)
			}
		}
	case []any:
		other, _ := b.([]any)
		for i, v := range a {
			if len(other) == len(a) {
				d.level(v, other[i], path+"[]")
			}
		}
	}
}

func isCollection(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) > 0
}

// is reports whether v is the default at this path; nil in the table is an
// empty mapping. A mapping that held nothing but defaults is one, too.
func (d filledIn) is(path string, v any) bool {
	m, isMap := v.(map[string]any)
	if d.ours && isZero(v) && !textMaps.MatchString(path) {
		return true
	}
	if strings.HasPrefix(path, podSpec) && filledInPod(path[strings.LastIndexByte(path, '.')+1:], v) {
		return true
	}
	for _, kind := range []string{d.kind, ""} {
		want, listed := written[kind][path]
		if listed && (v == want || want == nil && isMap && len(m) == 0) {
			return true
		}
		if isMap && len(m) == 0 && above(written[kind], path) {
			return true
		}
	}
	return false
}

// podSpec begins the paths of what Kubernetes itself fills in, as it does in Jobs.
const podSpec = "spec.template.spec."

// textMaps end the paths of values with keys that users choose: an empty one is a
// value there.
var textMaps = regexp.MustCompile(`\.(labels|annotations|matchLabels|nodeSelector|limits|requests)\..*$`)

// isZero reports whether v is what a field has that is not set.
func isZero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil || v == false || v == "" || v == int64(0)
}

// above reports whether the table has a default below path.
func above(table map[string]any, path string) bool {
	for at := range table {
		if strings.HasPrefix(at, path+".") {
			return true
		}
	}
	return false
}
