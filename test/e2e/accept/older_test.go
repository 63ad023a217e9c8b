package accept

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// since says from which minor version on API servers have a field on by default,
// for those that were added after the oldest version that is rendered for
// (docs/facts/kubernetes.md#features-by-version). A field is the end of a path, after the kind
// where only one has it; never is for fields that are off or do not exist.
var since = map[string]int{
	"StatefulSet.spec.updateStrategy.rollingUpdate.maxUnavailable": 37,

	".volumes.image":                 35,
	".containers.restartPolicy":      35,
	".containers.restartPolicyRules": 35,
	".lifecycle.preStop.sleep":       30,
	".lifecycle.stopSignal":          never,
	".template.spec.resources":       never,

	"Job.spec.successPolicy":                        31,
	"Job.spec.managedBy":                            32,
	"CronJob.spec.jobTemplate.spec.successPolicy":   31,
	"Deployment.spec.podReplacementPolicy":          never,
	"StatefulSet.spec.updateStrategy.type=Recreate": never,
}

// apis are the kinds that came after the oldest version.
var apis = map[string]int{
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy":        30,
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": 30,
	"admissionregistration.k8s.io/v1/MutatingAdmissionPolicy":          36,
	"admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding":   36,
}

const never = 1000

// TestOlderServers_GetOnlyKindsTheyServe: nothing is made for a version of Kubernetes that its server
// has not, unless the input has it.
func TestOlderServers_GetOnlyKindsTheyServe(t *testing.T) {
	list := inputs(t)
	ways := []render.Options{
		{Kubernetes: 29, ProtectAll: true, SidecarSetAs: stage.Admission},
		{Kubernetes: 35, SidecarSetAs: stage.Admission},
		{Kubernetes: 29, Driver: stage.Client},
	}
	for version := stage.OldestKubernetes; version < stage.NewestKubernetes; version++ {
		ways = append(ways, render.Options{Kubernetes: version})
	}
	each(len(list), runtime.GOMAXPROCS(0), func(i int) {
		given := asked(list[i])
		for _, opt := range ways {
			for _, fault := range newer(list[i], opt, given) {
				t.Errorf("%s for 1.%d: %s", list[i].name, opt.Kubernetes, fault)
			}
		}
	})
}

// asked are the fields by their names that an input itself gives to native objects.
func asked(in input) map[string]bool {
	given := map[string]bool{}
	for _, d := range in.stream {
		native := !strings.Contains(fmt.Sprint(d["apiVersion"]), "kruise.io/")
		for _, path := range paths(d, "") {
			if native || strings.Contains(path, ".containers.") || strings.Contains(path, ".template.spec") || strings.Contains(path, ".statefulSetTemplate.") {
				given[end(path)] = true
			}
		}
	}
	return given
}

// newer renders an input and tells what the version has not.
func newer(in input, opt render.Options, given map[string]bool) []string {
	opt.Workers = 1
	opt.Context = append(parsed(in.context), parsed(world())...)
	res, err := render.Render(context.Background(), parsed(in.stream), opt)
	if err != nil {
		return nil // another test's matter
	}
	var out []string
	for _, r := range res.Resources {
		if !r.Changed() {
			continue
		}
		if from := apis[r.APIVersion()+"/"+r.Kind()]; from > opt.Kubernetes || preview(r.APIVersion()) {
			out = append(out, fmt.Sprintf("%s of %s", r.Kind(), r.APIVersion()))
		}
		for _, path := range paths(tree.Value(r.Node()), r.Kind()) {
			if from := added(path); from > opt.Kubernetes && !given[end(path)] {
				out = append(out, fmt.Sprintf("%s is there from 1.%d on", path, from))
			}
		}
	}
	return out
}

// preview reports an API of Kubernetes that is off by default.
func preview(apiVersion string) bool {
	group, version, _ := strings.Cut(apiVersion, "/")
	return strings.HasSuffix(group, ".k8s.io") && (strings.Contains(version, "alpha") || strings.Contains(version, "beta"))
}

func added(path string) int {
	for field, from := range since {
		if path == field || strings.HasPrefix(field, ".") && strings.HasSuffix(path, field) {
			return from
		}
	}
	return 0
}

// end is what a field is known by in an input, whose kind is another.
func end(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// paths are those of all values, without the indexes of lists; texts stand behind
// their path.
func paths(v any, path string) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			out = append(append(out, path+"."+key), paths(value, path+"."+key)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, paths(item, path)...)
		}
	case string:
		out = append(out, path+"="+v)
	}
	return out
}
