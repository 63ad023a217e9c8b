package kruise_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestTemplate: a pod that the API takes, with the image where the kubelet pulls it.
func TestTemplate(t *testing.T) {
	for name, p := range map[string]kruise.PullPod{
		"volume": {Volumes: true, Secrets: []string{"registry"}, Labels: map[string]string{"a": "b"}},
		"binary": {Helper: "helper:1", Policy: kruise.PullAlways, Secrets: []string{"registry"}, Labels: map[string]string{"a": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var pod corev1.PodTemplateSpec
			if unknown, err := tree.Decode(p.Template("web:2"), &pod); err != nil || len(unknown) > 0 {
				t.Fatal(unknown, err)
			}
			s := pod.Spec
			if s.RestartPolicy != corev1.RestartPolicyNever || s.ImagePullSecrets[0].Name != "registry" || pod.Labels["a"] != "b" || *s.AutomountServiceAccountToken {
				t.Errorf("%+v", pod)
			}
			pull := s.Containers[0]
			if p.Volumes {
				v := s.Volumes[0]
				if v.Image.Reference != "web:2" || v.Image.PullPolicy != corev1.PullIfNotPresent || pull.VolumeMounts[0].Name != v.Name || pull.Image != kruise.PullHelperImage {
					t.Errorf("%+v", s)
				}
			} else if pull.Image != "web:2" || pull.ImagePullPolicy != corev1.PullAlways || s.InitContainers[0].Image != "helper:1" || pull.Command == nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestDeadline: all attempts together, or what the job allows.
func TestDeadline(t *testing.T) {
	job := &kruise.ImagePullJob{}
	kruise.Default(job)
	if d := kruise.PullDeadline(&job.Spec.ImagePullJobTemplate); d != 2400 {
		t.Error(d)
	}
	job.Spec.CompletionPolicy.ActiveDeadlineSeconds = new(int64(900))
	if d := kruise.PullDeadline(&job.Spec.ImagePullJobTemplate); d != 900 {
		t.Error(d)
	}
}
