package life_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// bed is one pod on one node with a clock of its own.
type bed struct {
	t    *testing.T
	now  time.Time
	pod  *corev1.Pod
	life *life.Pod
	host *life.Host
	gone bool
}

func newBed(t *testing.T, document string) *bed {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, pod); err != nil {
		t.Fatal(err)
	}
	if pod.Spec.RestartPolicy == "" {
		pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	timing := life.Timing{Pull: 3 * time.Second, Start: time.Second, Stop: 500 * time.Millisecond, BackOff: 10 * time.Second, BackOffLimit: time.Minute}
	return &bed{t: t, now: begin, pod: pod, life: life.New(pod, "10.64.0.1"), host: &life.Host{Timing: timing, Images: life.NewImages(), IP: "127.0.0.1"}}
}

// pass lets time pass, waking whenever the pod asks for it, and returns the
// status at the end.
func (b *bed) pass(d time.Duration) corev1.PodStatus {
	b.t.Helper()
	end := b.now.Add(d)
	for range 1000 {
		r := b.life.Step(b.now, b.pod, b.host)
		b.pod.Status, b.gone = r.Status, r.Gone
		if r.Wake.IsZero() || r.Wake.After(end) || r.Gone {
			b.now = end
			return b.pod.Status
		}
		if !r.Wake.After(b.now) {
			b.t.Fatalf("wakes at %s, which is not later than %s", r.Wake, b.now)
		}
		b.now = r.Wake
	}
	b.t.Fatal("never at rest")
	return corev1.PodStatus{}
}

// is compares a word about the pod with the one wanted.
func (b *bed) is(what, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s after %s: %s, want %s", what, b.now.Sub(begin), got, want)
	}
}

// word is a container's state in a word: ready, running, the waiting reason, or
// the exit code's reason.
func word(s corev1.ContainerStatus) string {
	switch {
	case s.Ready && s.State.Running != nil:
		return "ready"
	case s.State.Running != nil:
		return "running"
	case s.State.Waiting != nil:
		return s.State.Waiting.Reason
	case s.State.Terminated != nil:
		return s.State.Terminated.Reason
	}
	return "nothing"
}

func condition(s corev1.PodStatus, kind corev1.PodConditionType) string {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return string(c.Status)
		}
	}
	return "absent"
}

const simple = `{metadata: {name: web}, spec: {containers: [{name: app, image: "app:1"}]}}`

func TestPod_PullsStartsAndBecomesReady(t *testing.T) {
	b := newBed(t, simple)
	s := b.pass(2 * time.Second)
	b.is("app", word(s.ContainerStatuses[0]), "ContainerCreating")
	b.is("phase", string(s.Phase), "Pending")
	b.is("address", s.PodIP, "10.64.0.1")
	s = b.pass(2 * time.Second)
	b.is("app", word(s.ContainerStatuses[0]), "ready")
	b.is("phase", string(s.Phase), "Running")
	b.is("Ready", condition(s, corev1.PodReady), "True")
	if !b.host.Images.Has("app:1", b.now) {
		t.Error("the node does not keep the image")
	}
}

func TestPull_IsSkippedForAPresentImage(t *testing.T) {
	b := newBed(t, simple)
	if _, err := b.host.Images.Ask("app:1", corev1.PullIfNotPresent, begin.Add(-time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	b.is("app", word(b.pass(time.Second).ContainerStatuses[0]), "ready")
}

func TestImage_ChangeRestartsTheContainer(t *testing.T) {
	b := newBed(t, simple)
	before := b.pass(4 * time.Second).ContainerStatuses[0]
	b.pod.Spec.Containers[0].Image = "app:2"
	s := b.pass(time.Second)
	b.is("app", word(s.ContainerStatuses[0]), "ContainerCreating")
	b.is("phase", string(s.Phase), "Running")
	b.is("Ready", condition(s, corev1.PodReady), "False")
	after := b.pass(4 * time.Second).ContainerStatuses[0]
	b.is("app", word(after), "ready")
	if after.RestartCount != 1 || after.ContainerID == before.ContainerID || after.ImageID == before.ImageID {
		t.Errorf("restarts %d, container %s, image %s", after.RestartCount, after.ContainerID, after.ImageID)
	}
}

func TestAlias_KeepsTheImageID(t *testing.T) {
	b := newBed(t, simple)
	before := b.pass(4 * time.Second).ContainerStatuses[0]
	b.pod.Spec.Containers[0].Image = before.ImageID
	after := b.pass(2 * time.Second).ContainerStatuses[0] // stop and start, no pull
	b.is("app", word(after), "ready")
	if after.RestartCount != 1 || after.ImageID != before.ImageID {
		t.Errorf("restarts %d, image %s", after.RestartCount, after.ImageID)
	}
}

// TestImage_BadOneEndsTheContainerFirst: the running container is killed first; a good image then starts
// at once.
func TestImage_BadOneEndsTheContainerFirst(t *testing.T) {
	b := newBed(t, simple)
	b.pass(4 * time.Second)
	b.pod.Spec.Containers[0].Image = "app:bad"
	b.is("app", word(b.pass(time.Second).ContainerStatuses[0]), "ErrImagePull")
	b.is("app", word(b.pass(20 * time.Second).ContainerStatuses[0]), "ImagePullBackOff")
	b.pod.Spec.Containers[0].Image = "app:1"
	b.is("app", word(b.pass(0).ContainerStatuses[0]), "ready")
}

func TestCrash_BacksOff(t *testing.T) {
	b := newBed(t, `{metadata: {name: web, annotations: {lab.test/crash-start: "2"}}, spec: {containers: [{name: app, image: "app:1"}]}}`)
	s := b.pass(6 * time.Second).ContainerStatuses[0]
	b.is("app", word(s), "CrashLoopBackOff")
	if s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 1 {
		t.Errorf("last end: %v", s.LastTerminationState)
	}
	s = b.pass(20 * time.Second).ContainerStatuses[0]
	b.is("app", word(s), "ready")
	if s.RestartCount != 2 {
		t.Errorf("restarts %d", s.RestartCount)
	}
}

func TestPhase_FollowsExitCodesAndRestartPolicy(t *testing.T) {
	tests := []struct {
		name, policy, code string
		phase              corev1.PodPhase
		restarts           int32
	}{
		{"succeeds", "Never", "0", corev1.PodSucceeded, 0},
		{"fails", "Never", "3", corev1.PodFailed, 0},
		{"succeeds on its own", "OnFailure", "0", corev1.PodSucceeded, 0},
		{"fails again", "OnFailure", "3", corev1.PodRunning, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBed(t, `{metadata: {name: task, annotations: {lab.test/run: 1s, lab.test/exit-code: "`+test.code+`"}},
				spec: {restartPolicy: `+test.policy+`, containers: [{name: app, image: "app:1"}],
				initContainers: [{name: mesh, image: "mesh:1", restartPolicy: Always}]}}`)
			s := b.pass(12 * time.Second)
			b.is("phase", string(s.Phase), string(test.phase))
			if got := s.ContainerStatuses[0].RestartCount; got != test.restarts {
				t.Errorf("restarts %d, want %d", got, test.restarts)
			}
			if over := s.InitContainerStatuses[0].State.Terminated != nil; over != (test.phase != corev1.PodRunning) {
				t.Errorf("sidecar: %v", s.InitContainerStatuses[0].State)
			}
		})
	}
}

func TestInitContainers_RunInOrder(t *testing.T) {
	b := newBed(t, `{metadata: {name: web}, spec: {containers: [{name: app, image: "app:1"}], initContainers: [
		{name: first, image: "app:1"}, {name: mesh, image: "mesh:1", restartPolicy: Always}]}}`)
	s := b.pass(5 * time.Second)
	b.is("first", word(s.InitContainerStatuses[0]), "Completed")
	b.is("mesh", word(s.InitContainerStatuses[1]), "ContainerCreating")
	b.is("app", word(s.ContainerStatuses[0]), "PodInitializing")
	s = b.pass(5 * time.Second)
	b.is("mesh", word(s.InitContainerStatuses[1]), "ready")
	b.is("Ready", condition(s, corev1.PodReady), "True")
	b.pod.Spec.InitContainers[0].Image = "app:2"
	s = b.pass(5 * time.Second)
	if s.InitContainerStatuses[0].RestartCount != 0 || s.ContainerStatuses[0].RestartCount != 0 {
		t.Error("patching a finished init container did something")
	}
}

func TestDeletion_KeepsTheGracePeriod(t *testing.T) {
	for _, test := range []struct {
		name, stop   string
		grace        int64
		early, after time.Duration
		code         int32
	}{
		{"ends by itself", "2s", 30, 1900 * time.Millisecond, 2 * time.Second, 0},
		{"is cut short", "60s", 5, 4900 * time.Millisecond, 5 * time.Second, 137},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBed(t, `{metadata: {name: web, annotations: {lab.test/stop: `+test.stop+`}}, spec: {containers: [{name: app, image: "app:1"}]}}`)
			b.pass(4 * time.Second)
			at := metav1.NewTime(b.now)
			b.pod.DeletionTimestamp, b.pod.DeletionGracePeriodSeconds = &at, &test.grace
			b.pass(test.early)
			if b.gone {
				t.Error("gone too early")
			}
			s := b.pass(test.after - test.early)
			if !b.gone || s.ContainerStatuses[0].State.Terminated.ExitCode != test.code {
				t.Errorf("gone %v, %v", b.gone, s.ContainerStatuses[0].State)
			}
		})
	}
}

// TestDeletion_ShorterGracePeriodCountsFromThen: a shorter grace period counts from when it is given.
func TestDeletion_ShorterGracePeriodCountsFromThen(t *testing.T) {
	b := newBed(t, `{metadata: {name: web, annotations: {lab.test/stop: 1h}}, spec: {containers: [{name: app, image: "app:1"}]}}`)
	b.pass(4 * time.Second)
	at := metav1.NewTime(b.now)
	b.pod.DeletionTimestamp, b.pod.DeletionGracePeriodSeconds = &at, new(int64(3600))
	b.pass(time.Minute)
	b.pod.DeletionGracePeriodSeconds = new(int64(2))
	if b.pass(1900 * time.Millisecond); b.gone {
		t.Error("gone too early")
	}
	s := b.pass(100 * time.Millisecond)
	if !b.gone || s.ContainerStatuses[0].State.Terminated.ExitCode != 137 {
		t.Errorf("gone %v, %v", b.gone, s.ContainerStatuses[0].State)
	}
}

func TestRestart_KeepsThePod(t *testing.T) {
	b := newBed(t, simple)
	b.pass(4 * time.Second)
	if !b.life.Restart("app", time.Second) || b.life.Restart("none", 0) {
		t.Error("restart")
	}
	s := b.pass(2 * time.Second).ContainerStatuses[0]
	b.is("app", word(s), "ready")
	if s.RestartCount != 1 {
		t.Errorf("restarts %d", s.RestartCount)
	}
}

// TestModel_ContinuesAfterARestart: a model that is started again continues where the last one was.
func TestModel_ContinuesAfterARestart(t *testing.T) {
	b := newBed(t, simple)
	before := b.pass(4 * time.Second)
	b.life = life.New(b.pod, "10.64.9.9")
	after := b.pass(time.Second)
	if before.PodIP != after.PodIP || before.ContainerStatuses[0].ContainerID != after.ContainerStatuses[0].ContainerID {
		t.Errorf("address %s, container %s", after.PodIP, after.ContainerStatuses[0].ContainerID)
	}
	b.is("app", word(after.ContainerStatuses[0]), "ready")
}

func TestScripts_AreForOneContainer(t *testing.T) {
	b := newBed(t, `{metadata: {name: web, annotations: {lab.test/unready: "slow", lab.test/ready-delay: "app=5s"}},
		spec: {containers: [{name: app, image: "app:1"}, {name: slow, image: "app:1"}]}}`)
	s := b.pass(6 * time.Second)
	b.is("app", word(s.ContainerStatuses[0]), "running")
	s = b.pass(3 * time.Second)
	b.is("app", word(s.ContainerStatuses[0]), "ready")
	b.is("slow", word(s.ContainerStatuses[1]), "running")
}

func TestUnready_CanBeAnImage(t *testing.T) {
	for image, want := range map[string]string{"app:1": "running", "app:2": "ready"} {
		b := newBed(t, `{metadata: {name: web, annotations: {lab.test/unready: "app:1"}}, spec: {containers: [{name: app, image: "`+image+`"}]}}`)
		b.is("app", word(b.pass(9 * time.Second).ContainerStatuses[0]), want)
	}
}
