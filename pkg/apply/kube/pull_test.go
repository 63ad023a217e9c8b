package kube

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

const (
	imagePullJobs = "apps.kruise.io/v1beta1/imagepulljobs"
	jobs          = "batch/v1/jobs"
)

func pullStep(p *plan.Pull) plan.Step { return plan.Step{Kind: plan.StepPullImages, Pull: p} }

// pullOf has the present step of an opened workload pull.
func pullOf(t *testing.T, c *Cluster, p *plan.Pull) error {
	t.Helper()
	return c.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Pull: p})
}

// observedPulls is what a snapshot shows of a pull, in one line.
func observedPulls(t *testing.T, c *Cluster, image string) string {
	t.Helper()
	s, err := c.Observe(t.Context(), shopWeb.Ref)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("asked %t, pulled %d, over %t", s.Pulling[image], s.Pulled[image], s.Pulls[image].Over)
	for _, trouble := range s.Pulls[image].Troubles {
		out += fmt.Sprintf("; %s: %s", trouble.Node, trouble.Why)
	}
	return out
}

// TestPull_ByKruiseOncePerImage: each image is one ImagePullJob for the nodes of the pods, with
// the secrets of the pods that are and that will be; the step that is resumed makes no other.
func TestPull_ByKruiseOncePerImage(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	_, pods := newStatefulSet("web-0", "web-1")
	pods[0].Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "of-pod"}}
	s.put(t, "v1/serviceaccounts", &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "of-account"}},
	})
	p := &plan.Pull{Images: []string{"web:2", "log:2"}}
	c := openAt(t, s, pullStep(p), pods...)
	second, err := Open(t.Context(), s.config(), Options{Target: shopWeb, Holder: "ben@desk"})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, opened := range []*Cluster{c, c, second} {
		if err := pullOf(t, opened, p); err != nil {
			t.Fatal(err)
		}
	}
	list := s.list(imagePullJobs)
	if len(list) != 2 {
		t.Fatalf("%d jobs after %q", len(list), s.written())
	}
	for _, u := range list {
		job, err := decodeKruise[kruise.ImagePullJob](u)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.Images, job.Spec.Image) || job.Spec.Parallelism.IntValue() != defaultPullParallelism || job.Spec.PodSelector.MatchLabels["app"] != "web" || job.Spec.Selector != nil {
			t.Errorf("%+v", job.Spec)
		}
		if diff := cmp.Diff([]string{"of-account", "of-pod"}, job.Spec.PullSecrets); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPull_ByKruiseShowsState: what an ImagePullJob reports about its nodes is in the snapshot.
func TestPull_ByKruiseShowsState(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	_, pods := newStatefulSet("web-0", "web-1")
	p := &plan.Pull{Images: []string{"web:2"}, Parallel: 1}
	c := openAt(t, s, pullStep(p), pods...)
	if got := observedPulls(t, c, "web:2"); got != "asked false, pulled 0, over false" {
		t.Error(got)
	}
	if err := pullOf(t, c, p); err != nil {
		t.Fatal(err)
	}
	if got := observedPulls(t, c, "web:2"); got != "asked true, pulled 0, over false" {
		t.Error(got)
	}
	u := s.list(imagePullJobs)[0].DeepCopy()
	u.Object["status"] = map[string]any{"desired": int64(2), "succeeded": int64(1), "failed": int64(1), "failedNodes": []any{"node-of-web-1"}, "completionTime": "2026-07-01T12:05:00Z"}
	s.put(t, imagePullJobs, u)
	eventually(t, c.changes, "the job is over", func() bool {
		return observedPulls(t, c, "web:2") == "asked true, pulled 1, over true; node-of-web-1: see status of NodeImage node-of-web-1"
	})
}

// endJob ends a Job of a server, as Kubernetes' controller does.
func endJob(t *testing.T, s *apiServer, u *unstructured.Unstructured, with batchv1.JobConditionType, message string) {
	t.Helper()
	u = u.DeepCopy()
	u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": string(with), "status": "True", "reason": "Because", "message": message}}}
	s.put(t, jobs, u)
}

// runningJobs are the Jobs of a server that have not ended, with the node of each.
func runningJobs(s *apiServer) (open []*unstructured.Unstructured, nodes []string) {
	for _, u := range s.list(jobs) {
		if u.Object["status"] == nil || len(u.Object["status"].(map[string]any)) == 0 {
			open, nodes = append(open, u), append(nodes, u.GetAnnotations()[nodeAnnotation])
		}
	}
	slices.Sort(nodes)
	return open, nodes
}

// TestPull_ByJobsKeepsParallel: without Kruise a Job pulls on each node, no more at a time than
// the plan says; the next begins when one ends.
func TestPull_ByJobsKeepsParallel(t *testing.T) {
	s := newAPIServer(t, nil)
	_, pods := newStatefulSet("web-0", "web-1", "web-2")
	p := &plan.Pull{Images: []string{"web:2"}, Parallel: 2}
	c := openAt(t, s, pullStep(p), pods...)
	if err := pullOf(t, c, p); err != nil {
		t.Fatal(err)
	}
	open, nodes := runningJobs(s)
	if diff := cmp.Diff([]string{"node-of-web-0", "node-of-web-1"}, nodes); diff != "" {
		t.Fatal(diff)
	}
	if got := observedPulls(t, c, "web:2"); got != "asked true, pulled 0, over false" {
		t.Error(got)
	}
	endJob(t, s, open[0], batchv1.JobComplete, "")
	eventually(t, c.changes, "the third node pulls", func() bool { return len(s.list(jobs)) == 3 })
	open, _ = runningJobs(s)
	if len(open) != 2 {
		t.Fatalf("%d jobs run", len(open))
	}
	endJob(t, s, open[0], batchv1.JobComplete, "")
	endJob(t, s, open[1], batchv1.JobFailed, "deadline")
	eventually(t, c.changes, "all have ended", func() bool {
		got := observedPulls(t, c, "web:2")
		return strings.HasPrefix(got, "asked true, pulled 2, over true; node-of-web-") && strings.HasSuffix(got, ": Because: deadline")
	})
	if err := pullOf(t, c, p); err != nil || len(s.list(jobs)) != 3 {
		t.Errorf("asked again: %d jobs, %v", len(s.list(jobs)), err)
	}
}

// TestPull_ByJobsResumes: another process that resumes the step finds the Jobs, and creates
// those that are missing.
func TestPull_ByJobsResumes(t *testing.T) {
	s := newAPIServer(t, nil)
	_, pods := newStatefulSet("web-0", "web-1")
	p := &plan.Pull{Images: []string{"web:2"}, Parallel: 1}
	first := openAt(t, s, pullStep(p), pods...)
	if err := pullOf(t, first, p); err != nil {
		t.Fatal(err)
	}
	first.Close()
	open, _ := runningJobs(s)
	second, err := Open(t.Context(), s.config(), Options{Target: shopWeb, Holder: "ben@desk"})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if got := observedPulls(t, second, "web:2"); got != "asked false, pulled 0, over false" {
		t.Errorf("before it asks: %s", got)
	}
	if err := pullOf(t, second, p); err != nil || len(s.list(jobs)) != 1 {
		t.Fatalf("%d jobs, %v", len(s.list(jobs)), err)
	}
	endJob(t, s, open[0], batchv1.JobComplete, "")
	eventually(t, second.changes, "the second node pulls", func() bool { return len(s.list(jobs)) == 2 })
}

// TestPull_ByJobsNamesTrouble: what a kubelet reports about an image that does not come is the
// trouble of the node.
func TestPull_ByJobsNamesTrouble(t *testing.T) {
	s := newAPIServer(t, nil)
	_, pods := newStatefulSet("web-0")
	p := &plan.Pull{Images: []string{"web:2"}}
	c := openAt(t, s, pullStep(p), pods...)
	if err := pullOf(t, c, p); err != nil {
		t.Fatal(err)
	}
	job := s.list(jobs)[0]
	labels := job.GetLabels()
	labels[batchv1.JobNameLabel] = job.GetName()
	s.put(t, "v1/pods", &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "puller", UID: "uid-puller", Labels: labels},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "pull", Image: "web:2", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "web:2 not found"}},
		}}},
	})
	eventually(t, c.changes, "the trouble is seen", func() bool {
		return observedPulls(t, c, "web:2") == "asked true, pulled 0, over false; node-of-web-0: ErrImagePull: web:2 not found"
	})
}

// TestPull_ForbiddenImagePullJobs: who may not read Kruise's jobs pulls for a native workload by
// Jobs, which do as well.
func TestPull_ForbiddenImagePullJobs(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	s.refuse(imagePullJobs, http.StatusForbidden)
	_, pods := newStatefulSet("web-0")
	p := &plan.Pull{Images: []string{"web:2"}}
	c := openAt(t, s, pullStep(p), pods...)
	if err := pullOf(t, c, p); err != nil || len(s.list(jobs)) != 1 {
		t.Errorf("%d jobs, %v", len(s.list(jobs)), err)
	}
}

// TestPull_RefusedJobIsTrouble: a Job that may not be created is the trouble of all nodes that
// have none, and final.
func TestPull_RefusedJobIsTrouble(t *testing.T) {
	s := newAPIServer(t, nil)
	_, pods := newStatefulSet("web-0", "web-1")
	p := &plan.Pull{Images: []string{"web:2"}, Parallel: 1}
	c := openAt(t, s, pullStep(p), pods...)
	if err := pullOf(t, c, p); err != nil {
		t.Fatal(err)
	}
	s.refuseWrites(jobs, http.StatusForbidden)
	open, _ := runningJobs(s)
	endJob(t, s, open[0], batchv1.JobComplete, "")
	eventually(t, c.changes, "the other node fails", func() bool {
		got := observedPulls(t, c, "web:2")
		return strings.HasPrefix(got, "asked true, pulled 1, over true; node-of-web-") && strings.Contains(got, "the test server says Forbidden")
	})
}

// TestPullImage_ReportsEachNode: a pull without a rollout tells how each node is doing; one that is over is
// done again, and one in progress goes on.
func TestPullImage_ReportsEachNode(t *testing.T) {
	s := newAPIServer(t, nil)
	pull := ImagePull{Image: "registry.example/team/web:2", Namespace: "shop", Nodes: []string{"n2", "n1", "n1"}}
	for n := 1; n <= 2; n++ {
		requests, err := PullRequests(t.Context(), s.config(), pull)
		if err != nil || len(requests) != 2 {
			t.Fatalf("pull %d: %+v, %v", n, requests, err)
		}
		told := map[kruise.ImagePullPhase]bool{}
		states, err := PullImage(t.Context(), s.config(), pull, func(p NodePull) {
			if told[p.Phase] = true; p.Phase == kruise.ImagePhasePulling {
				open, _ := runningJobs(s)
				for _, u := range open {
					switch {
					case u.GetAnnotations()[nodeAnnotation] != p.Node:
					case p.Node == "n1":
						endJob(t, s, u, batchv1.JobComplete, "")
					default:
						endJob(t, s, u, batchv1.JobFailed, "no space")
					}
				}
			}
		})
		want := []NodePull{{Node: "n1", Phase: kruise.ImagePhaseSucceeded}, {Node: "n2", Phase: kruise.ImagePhaseFailed, Why: "Because: no space"}}
		if diff := cmp.Diff(want, states); diff != "" || err != nil || !told[kruise.ImagePhasePulling] {
			t.Errorf("%v, told of %v: %s", err, told, diff)
		}
		if got := len(s.list(jobs)); got != 2*n {
			t.Errorf("%d jobs after pull %d", got, n)
		}
	}
	if _, err := PullImage(t.Context(), s.config(), ImagePull{Image: "web:2"}, nil); err == nil {
		t.Error("it pulled on no node")
	}
}

// TestPullError_NamesImage: why an image does not come, and which.
func TestPullError_NamesImage(t *testing.T) {
	waiting := func(image, reason, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}}
	}
	volume := waiting("busybox:1", "ErrImagePull", "not found")
	volume.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "web:2"}}}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"starting":   {waiting("web:2", "ContainerCreating", ""), ""},
		"not found":  {waiting("web:2", "ErrImagePull", "not found"), "ErrImagePull: not found"},
		"as volume":  {volume, "ErrImagePull: not found"},
		"the helper": {waiting("busybox:1", "ImagePullBackOff", "busybox:1: not found"), "ImagePullBackOff for the helper image busybox:1"},
	} {
		if got := pullError(c.pod, "web:2"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPull_NamesFailedNodes: failed nodes are named, and a job that is over says so.
func TestPull_NamesFailedNodes(t *testing.T) {
	job := &kruise.ImagePullJob{}
	job.Status.Desired, job.Status.Succeeded = 3, 1
	if diff := cmp.Diff(plan.PullState{}, stateOfImagePullJob(job)); diff != "" {
		t.Error(diff)
	}
	job.Status.FailedNodes = []string{"n2"}
	if s := stateOfImagePullJob(job); s.Over || len(s.Troubles) != 1 || s.Troubles[0].Node != "n2" || !s.Troubles[0].Final {
		t.Errorf("%+v", s)
	}
	if _, ok := jobEnd(&batchv1.Job{}); ok {
		t.Error("a new Job has not ended")
	}
	n := &kruise.NodeImage{}
	n.Spec.Images = map[string]kruise.ImageSpec{"web": {Tags: []kruise.ImageTagSpec{{Tag: "2", Version: 2, OwnerReferences: []corev1.ObjectReference{{Namespace: "shop", Name: "job"}}}}}}
	for _, c := range []struct {
		version int64
		want    kruise.ImagePullPhase
	}{{1, kruise.ImagePhaseWaiting}, {2, kruise.ImagePhaseFailed}} {
		n.Status.ImageStatuses = map[string]kruise.ImageStatus{"web": {Tags: []kruise.ImageTagStatus{{Tag: "2", Version: c.version, Phase: kruise.ImagePhaseFailed, Message: "x"}}}}
		if s, ok := nodePullOfAgent(n, "shop", "job"); !ok || s.Phase != c.want {
			t.Errorf("version %d: %+v", c.version, s)
		}
	}
	if _, ok := nodePullOfAgent(n, "shop", "other"); ok {
		t.Error("that is another job's")
	}
}

// TestTemplateSecrets_OfServiceAccount: what a pod to come will pull with, whether there is one or not.
func TestTemplateSecrets_OfServiceAccount(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; name {
		case "default", "builder":
			_, _ = io.WriteString(w, `{"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "`+name+`"}, "imagePullSecrets": [{"name": "of-`+name+`"}, {"name": "more"}]}`)
		case "hidden":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		}
	}))
	defer srv.Close()
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL})
	for name, c := range map[string]struct {
		template map[string]any
		want     string
		bad      bool
	}{
		"nothing said":   {nil, "of-default more", false},
		"an account":     {map[string]any{"spec": map[string]any{"serviceAccountName": "builder"}}, "of-builder more", false},
		"its own":        {map[string]any{"spec": map[string]any{"serviceAccountName": "builder", "imagePullSecrets": []any{map[string]any{"name": "own"}}}}, "own", false},
		"no account":     {map[string]any{"spec": map[string]any{"serviceAccountName": "none"}}, "", false},
		"not to be read": {map[string]any{"spec": map[string]any{"serviceAccountName": "hidden"}}, "", true},
	} {
		got, err := TemplateSecrets(t.Context(), client, "shop", c.template)
		if strings.Join(got, " ") != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
