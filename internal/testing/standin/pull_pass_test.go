package standin

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func pullJob(change func(*kruise.ImagePullJob)) *kruise.ImagePullJob {
	job := &kruise.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Name: "ahead", UID: "u"}}
	job.Spec.Image, job.Spec.Parallelism = "web:1", new(intstr.FromInt32(2))
	if change != nil {
		change(job)
	}
	kruise.Default(job)
	return job
}

// nodesAt are NodeImages in which a job's image is in a phase; "" is one that was
// not asked.
func nodesAt(t *testing.T, job *kruise.ImagePullJob, phases ...kruise.ImagePullPhase) []*kruise.NodeImage {
	t.Helper()
	var out []*kruise.NodeImage
	for i, phase := range phases {
		n := &kruise.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}}
		if phase != "" {
			p := pullPass{job: job, name: "web", tag: "1"}
			p.give(n, noon)
			n.Status.ImageStatuses = map[string]kruise.ImageStatus{"web": {Tags: []kruise.ImageTagStatus{{Tag: "1", Version: 1, Phase: phase}}}}
		}
		out = append(out, n)
	}
	return out
}

func TestPullPass(t *testing.T) {
	const done, bad, busy, idle = kruise.ImagePhaseSucceeded, kruise.ImagePhaseFailed, kruise.ImagePhasePulling, kruise.ImagePullPhase("")
	for name, c := range map[string]struct {
		change                    func(*kruise.ImagePullJob)
		phases                    []kruise.ImagePullPhase
		start                     []string
		active, succeeded, failed int32
		message                   string
		over                      bool
	}{
		"two at a time":  {nil, []kruise.ImagePullPhase{idle, idle, idle}, []string{"a", "b"}, 2, 0, 0, "job is running, no progress", false},
		"one is through": {nil, []kruise.ImagePullPhase{done, busy, idle, idle}, []string{"c"}, 2, 1, 0, "job is running, progress 25.0%", false},
		"all are":        {nil, []kruise.ImagePullPhase{done, bad}, nil, 0, 1, 1, "job has completed", true},
		"none is wanted": {nil, nil, nil, 0, 0, 0, "job has completed", true},
		"paused": {
			func(j *kruise.ImagePullJob) { j.Spec.Parallelism = new(intstr.FromInt32(0)) },
			[]kruise.ImagePullPhase{idle},
			nil, 0, 0, 0, "job is running, no progress", false,
		},
		"never": {
			func(j *kruise.ImagePullJob) { j.Spec.CompletionPolicy.Type = kruise.NeverCompletionPolicyType },
			[]kruise.ImagePullPhase{done},
			nil, 0, 1, 0, "job is running, progress 100.0%", false,
		},
		"deadline": {
			func(j *kruise.ImagePullJob) {
				j.Spec.CompletionPolicy.ActiveDeadlineSeconds = new(int64(60))
				j.Status.StartTime = &metav1.Time{Time: noon.Add(-time.Minute)}
			},
			[]kruise.ImagePullPhase{done, busy, idle},
			nil, 0, 1, 2, "job exceeds activeDeadlineSeconds", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := pullJob(c.change)
			p, err := newPull(job, nodesAt(t, job, c.phases...), noon)
			if err != nil {
				t.Fatal(err)
			}
			var start []string
			for _, n := range p.start {
				start = append(start, n.Name)
			}
			s := p.status
			if !slices.Equal(start, c.start) || s.Active != c.active || s.Succeeded != c.succeeded || s.Failed != c.failed {
				t.Errorf("start %v, %+v", start, s)
			}
			if s.Message != c.message || (s.CompletionTime != nil) != c.over {
				t.Errorf("%q, over %v", s.Message, s.CompletionTime)
			}
		})
	}
}

func TestPullJob_PullsAFinishedTagAgain(t *testing.T) {
	first, second := pullJob(nil), pullJob(func(j *kruise.ImagePullJob) { j.UID = "other" })
	nodes := nodesAt(t, first, kruise.ImagePhaseSucceeded)
	p, err := newPull(second, nodes, noon)
	if err != nil {
		t.Fatal(err)
	}
	tag := nodes[0].Spec.Images["web"].Tags[0]
	if len(p.start) != 1 || tag.Version != 2 || len(tag.OwnerReferences) != 2 {
		t.Errorf("%+v", tag)
	}
}

func TestFamiliarNames_OfImages(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string][2]string{
		"web": {"web", "latest"}, "docker.io/library/web:1": {"web", "1"}, "r.example.com/a/web:2": {"r.example.com/a/web", "2"},
		"web@" + digest: {"web", digest},
	} {
		name, tag, err := familiar(image)
		if err != nil || name != want[0] || tag != want[1] {
			t.Errorf("%s: %s %s %v", image, name, tag, err)
		}
	}
	if _, _, err := familiar("Not An Image"); err == nil {
		t.Error("a bad image has a name")
	}
}
