package argocd

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

// chart are the values of the chart argo-cd that the project sets, by
// https://github.com/argoproj/argo-helm/blob/011824fa1821e43d42b58e0357ed95029e7453e3/charts/argo-cd/values.yaml.
type chart struct {
	RepoServer struct {
		ExtraContainers []corev1.Container `json:"extraContainers"`
		Volumes         []corev1.Volume    `json:"volumes"`
	} `json:"repoServer"`
	Configs struct {
		CM map[string]string `json:"cm"`
	} `json:"configs"`
}

// instance are the fields of the ArgoCD object that the project sets, by
// https://github.com/argoproj-labs/argocd-operator/blob/000c4a7257a8feaf9f244276ad35c26a2a0a4720/api/v1beta1/argocd_types.go.
type instance struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Repo struct {
			SidecarContainers []corev1.Container `json:"sidecarContainers"`
			Volumes           []corev1.Volume    `json:"volumes"`
		} `json:"repo"`
		ResourceHealthChecks []struct {
			Group string `json:"group"`
			Kind  string `json:"kind"`
			Check string `json:"check"`
		} `json:"resourceHealthChecks"`
		ResourceActions []struct {
			Group  string `json:"group"`
			Kind   string `json:"kind"`
			Action string `json:"action"`
		} `json:"resourceActions"`
		ResourceIgnoreDifferences struct {
			ResourceIdentifiers []struct {
				Group         string `json:"group"`
				Kind          string `json:"kind"`
				Customization struct {
					JSONPointers []string `json:"jsonPointers"`
				} `json:"customization"`
			} `json:"resourceIdentifiers"`
		} `json:"resourceIgnoreDifferences"`
	} `json:"spec"`
}

// mounted are volumes that Argo CD's own manifests, the chart and the operator all have in
// the repo server's pod.
var mounted = []string{"var-files", "plugins"}

// TestChartValues_EqualTheComponent: the values have the component's container, and Argo CD reads from them what it
// reads from the component.
func TestChartValues_EqualTheComponent(t *testing.T) {
	var values, ignored chart
	decode(t, "helm/values.yaml", &values)
	decode(t, "helm/ignore-differences.yaml", &ignored)
	pod := component(t)
	if diff := cmp.Diff(pod.Containers, values.RepoServer.ExtraContainers); diff != "" {
		t.Errorf("containers: -component +chart\n%s", diff)
	}
	if diff := cmp.Diff(pod.Volumes, values.RepoServer.Volumes); diff != "" {
		t.Errorf("volumes: -component +chart\n%s", diff)
	}
	maps.Copy(values.Configs.CM, ignored.Configs.CM)
	if diff := cmp.Diff(told(t), read(t, values.Configs.CM)); diff != "" {
		t.Errorf("customizations: -component +chart\n%s", diff)
	}
}

// TestOpenShift_EqualsTheComponent: the object has the component's container, without its user, and the same
// scripts and pointers.
func TestOpenShift_EqualsTheComponent(t *testing.T) {
	var o, ignored instance
	decode(t, "openshift/argocd.yaml", &o)
	decode(t, "openshift/ignore-differences.yaml", &ignored)
	for _, one := range []instance{o, ignored} {
		if one.APIVersion != "argoproj.io/v1beta1" || one.Kind != "ArgoCD" || one.Metadata.Name == "" || one.Metadata.Namespace == "" {
			t.Errorf("%s %s %s/%s", one.APIVersion, one.Kind, one.Metadata.Namespace, one.Metadata.Name)
		}
	}
	pod := component(t)
	pod.Containers[0].SecurityContext.RunAsUser = nil
	if diff := cmp.Diff(pod.Containers, o.Spec.Repo.SidecarContainers); diff != "" {
		t.Errorf("containers: -component +object\n%s", diff)
	}
	if diff := cmp.Diff(pod.Volumes, o.Spec.Repo.Volumes); diff != "" {
		t.Errorf("volumes: -component +object\n%s", diff)
	}
	const prefix = "resource.customizations."
	cm := map[string]string{}
	for _, h := range o.Spec.ResourceHealthChecks {
		cm[prefix+"health."+h.Group+"_"+h.Kind] = h.Check
	}
	for _, a := range o.Spec.ResourceActions {
		cm[prefix+"actions."+a.Group+"_"+a.Kind] = a.Action
	}
	for _, d := range ignored.Spec.ResourceIgnoreDifferences.ResourceIdentifiers {
		b, err := yaml.Marshal(d.Customization)
		if err != nil {
			t.Fatal(err)
		}
		cm[prefix+"ignoreDifferences."+d.Group+"_"+d.Kind] = string(b)
	}
	if diff := cmp.Diff(told(t), read(t, cm)); diff != "" {
		t.Errorf("customizations: -component +object\n%s", diff)
	}
}

// component is what the component adds to the repo server's pod.
func component(t *testing.T) corev1.PodSpec {
	t.Helper()
	var d appsv1.Deployment
	decode(t, "install/repo-server.yaml", &d)
	pod := d.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.Containers[0].VolumeMounts) == 0 {
		t.Fatalf("no container, or more than one: %v", pod.Containers)
	}
	known := slices.Clone(mounted)
	for _, v := range pod.Volumes {
		known = append(known, v.Name)
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.Contains(known, m.Name) {
			t.Errorf("no volume %s", m.Name)
		}
	}
	if image := pod.Containers[0].Image; !strings.Contains(image, ":v") {
		t.Errorf("%s is no released image", image)
	}
	return pod
}

// told is what Argo CD reads from the two components.
func told(t *testing.T) map[string]v1alpha1.ResourceOverride {
	t.Helper()
	all := map[string]string{}
	for _, file := range []string{"install/argocd-cm.yaml", "ignore-differences/argocd-cm.yaml"} {
		var cm corev1.ConfigMap
		decode(t, file, &cm)
		maps.Copy(all, cm.Data)
	}
	return read(t, all)
}

// read has Argo CD's own settings manager read a ConfigMap.
func read(t *testing.T, data map[string]string) map[string]v1alpha1.ResourceOverride {
	t.Helper()
	cm := &corev1.ConfigMap{Data: data}
	cm.Name, cm.Namespace, cm.Labels = "argocd-cm", "argocd", map[string]string{"app.kubernetes.io/part-of": "argocd"}
	secret := &corev1.Secret{}
	secret.Name, secret.Namespace, secret.Labels = "argocd-secret", "argocd", cm.Labels
	all, err := settings.NewSettingsManager(context.Background(), fake.NewClientset(cm, secret), "argocd").GetResourceOverrides()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 17 {
		t.Fatalf("%d kinds", len(all))
	}
	return all
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../plugins/argocd/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
