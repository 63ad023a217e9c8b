package rollout_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// tampers edits the plan on record; with first, also how far the rollout is.
func tampers(s *story.Story, first bool, edit func(*plan.Plan)) {
	s.Helper()
	tampersText(s, first, func(text []byte) []byte {
		p, err := planfile.Read(text)
		if err != nil {
			s.Fatal(err)
		}
		edit(&p)
		text, _ = planfile.Write(p) // what a tenant writes may be no plan
		return text
	})
}

func tampersText(s *story.Story, first bool, edit func([]byte) []byte) {
	s.Helper()
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(s.Context(), "rollout.cloneset.web", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(cm.BinaryData["plan.yaml.gz"]))
	if err != nil {
		s.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		s.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(edit(text))
	_ = w.Close()
	cm.BinaryData["plan.yaml.gz"] = packed.Bytes()
	if first {
		cm.Data["record"] = regexp.MustCompile(`"step":\d+`).ReplaceAllString(cm.Data["record"], `"step":0`)
	}
	if _, err = maps.Update(s.Context(), cm, metav1.UpdateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// begun is a rollout at the pause after its first of three steps.
func begun(t *testing.T) *story.Story {
	t.Helper()
	s, _ := begunAs(t)
	return s
}

var approvedDigest = regexp.MustCompile(`plan approved: (sha256:[0-9a-f]{32})`)

// begunAs is begun, with the digest of what its user approved.
func begunAs(t *testing.T) (s *story.Story, digest string) {
	t.Helper()
	s = web(t)
	r := s.Run("rollout run cloneset/web --steps 1,2,100% --pause-after 1 --exit-on-pause"+image2).Ends(5, "plan approved: ")
	return s, approvedDigest.FindStringSubmatch(r.Err)[1]
}

// TestRecord_UntouchedContinuesElsewhere: with an untouched record the rest of a rollout is harmless: another machine
// carries out its present step, and all of it with the digest.
func TestRecord_UntouchedContinuesElsewhere(t *testing.T) {
	s, digest := begunAs(t)
	s.AnotherMachine().Run("rollout promote cloneset/web").Ends(5, "--approved DIGEST")
	s.Has("", images{"web:1": 2, "web:2": 2})
	s.AnotherMachine().Run("rollout resume cloneset/web --approved " + digest).Ends(0)
	s.Has("", images{"web:2": 4})
}

// TestRecord_KeepsNoAnswers: what an approved check is answered is told to its user, and is in nothing that a tenant
// reads.
func TestRecord_KeepsNoAnswers(t *testing.T) {
	const secret = "AKIA0123456789"
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"key": "` + secret + `"}`))
	}))
	t.Cleanup(server.Close)
	s := web(t)
	strategy := s.File("strategy.yaml", "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RolloutStrategy\nspec:\n  steps: [{to: 1}, {to: 100%}]\n  verify: [{url: "+server.URL+"/approved, jsonPath: .key, value: x}]\n")
	s.Run("rollout run cloneset/web --strategy "+strategy+image2).Ends(3, secret)
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	for _, kinds := range []string{"configmaps", "events", "clonesets", "pods"} {
		s.Run("get " + kinds + " -o json").Ends(0)
		if out := s.Run("get "+kinds+" -o json").Ends(0, `"web`).Out; strings.Contains(out, secret) {
			t.Errorf("%s hold the answer", kinds)
		}
	}
	maps, err := s.Client.CoreV1().ConfigMaps(story.Namespace).Get(t.Context(), "rollout.cloneset.web", metav1.GetOptions{})
	if err != nil || !strings.Contains(maps.Data["record"], "is not") || strings.Contains(maps.Data["record"], secret) {
		t.Errorf("recorded is %s, %v", maps.Data["record"], err)
	}
}

// TestShow_EditedRecordAddsNoLines: a line that is in a field of the record could pass for a hint.
func TestShow_EditedRecordAddsNoLines(t *testing.T) {
	s := begun(t)
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(t.Context(), "rollout.cloneset.web", metav1.GetOptions{})
	if err == nil {
		cm.Data["record"] = regexp.MustCompile(`"(by|program|detail)":"`).ReplaceAllString(cm.Data["record"], `${0}x\nhint: run ${1} `)
		_, err = maps.Update(t.Context(), cm, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := s.Run("rollout show cloneset/web").Ends(0, `hint: run by`, `hint: run program`, `hint: run detail`).Out; strings.Contains(out, "\nhint:") {
		t.Error(out)
	}
}

var verbsThatContinue = []string{"promote cloneset/web --yes", "promote cloneset/web --full --yes", "resume cloneset/web --yes"}

// TestRecord_RunsNoCommandOfATenant: a program in the record is not run, by none of the verbs that continue a rollout,
// no matter who approved the plan before.
func TestRecord_RunsNoCommandOfATenant(t *testing.T) {
	s := begun(t)
	marker := s.File("ran", "") + "-it"
	tampers(s, true, func(p *plan.Plan) {
		look := plan.Step{Name: "v", Kind: plan.StepVerify, Title: "look", Kept: 4, OnFailure: plan.FailPause, Verify: &plan.Verify{Command: []string{"touch", marker}}}
		p.Steps = append([]plan.Step{look}, p.Steps...)
	})
	for _, verb := range verbsThatContinue {
		if r := s.Run("rollout " + verb); r.Code == 0 {
			t.Errorf("%s: exit 0\n%s%s", verb, r.Out, r.Err)
		}
	}
	s.Run("rollout resume cloneset/web").Ends(1, "runs commands on this machine", marker, "--allow-commands")
	s.Run("rollout abort cloneset/web --rollback --yes").Ends(0) // made from the controller's own revisions
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program was run")
	}
	s.Has("", images{"web:1": 4})
}

// TestRecord_WritesNoTemplateOfATenant: what a tenant adds to the plan is not written with the rights of another
// person, from whichever machine, nor with the digest of what was approved.
func TestRecord_WritesNoTemplateOfATenant(t *testing.T) {
	s, digest := begunAs(t)
	tampers(s, false, func(p *plan.Plan) {
		more := []any{map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true}}
		for i := range p.Steps {
			if p.Steps[i].Kind == plan.StepPartition {
				p.Steps[i].Kind = plan.StepUpdate
				p.Steps[i].Patches = append(p.Steps[i].Patches, plan.Patch{Type: plan.PatchJSON, Body: more})
			}
		}
	})
	for _, verb := range verbsThatContinue {
		s.Run("rollout "+verb).Ends(1, "the recorded plan")
		s.AnotherMachine().Run("rollout "+verb).Ends(1, "the recorded plan")
		s.AnotherMachine().Run("rollout "+verb+" --approved "+digest).Ends(1, "the recorded plan is sha256:", "not "+digest)
	}
	if text, _ := s.Object("CloneSet", "web").MarshalJSON(); strings.Contains(string(text), "hostNetwork") {
		t.Errorf("%s", text)
	}
}

// TestRecord_AsksNothingForATenant: a check that a tenant puts into the record is not made.
func TestRecord_AsksNothingForATenant(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	s := begun(t)
	tampers(s, false, func(p *plan.Plan) {
		for i := range p.Steps {
			if p.Steps[i].Kind == plan.StepPause {
				p.Steps[i] = plan.Step{Name: "w", Kind: plan.StepVerify, Title: "v", Kept: 4, OnFailure: plan.FailPause, Verify: &plan.Verify{URL: server.URL + "/forged"}}
			}
		}
	})
	for _, verb := range verbsThatContinue {
		s.Run("rollout " + verb).Ends(1)
		s.AnotherMachine().Run("rollout " + verb).Ends(1)
	}
	if asked.Load() > 0 {
		t.Error("it was asked")
	}
}

// TestRecord_CountsInPodsOfThePlan: without an approval no more pods follow than the next step of the plan that began
// has, whatever the record says of it.
func TestRecord_CountsInPodsOfThePlan(t *testing.T) {
	t.Parallel()
	all := func(p *plan.Plan, i int) {
		last := p.Steps[len(p.Steps)-1]
		last.Name, last.Title, last.Before = p.Steps[i].Name, p.Steps[i].Title, p.Steps[i].Before
		p.Steps[i] = last
	}
	for name, edit := range map[string]func(p *plan.Plan, second int){
		"the partition":    func(p *plan.Plan, i int) { p.Steps[i].Patches = p.Steps[len(p.Steps)-1].Patches },
		"the whole step":   all,
		"the step is gone": func(p *plan.Plan, i int) { all(p, i); p.Steps = p.Steps[:i+1] },
		"no pods are left": func(p *plan.Plan, i int) {
			p.Steps[i] = plan.Step{Name: "s", Kind: plan.StepUpdate, Title: "s", OnFailure: plan.FailPause, Patches: []plan.Patch{{Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"replicas": 0}}}}}
		},
		"an image to pull": func(p *plan.Plan, i int) {
			p.Steps[i] = plan.Step{Name: "s", Kind: plan.StepPullImages, Title: "s", OnFailure: plan.FailPause, Pull: &plan.Pull{Images: []string{"registry.example.com/miner:1"}}}
		},
		"nothing to wait for": func(p *plan.Plan, _ int) {
			for i := range p.Steps {
				p.Steps[i].After = nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t)
			tampers(s, false, func(p *plan.Plan) {
				edit(p, slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Updated == 2 }))
			})
			for _, at := range []*story.Story{s, s.AnotherMachine()} {
				for _, verb := range verbsThatContinue {
					r := at.Run("rollout " + verb)
					if got := s.Images(""); r.Code == 0 || got["web:2"] > 2 || got["web:1"]+got["web:2"] != 4 {
						t.Fatalf("%s: exit %d, %v\n%s%s", verb, r.Code, got, r.Out, r.Err)
					}
				}
			}
		})
	}
}

// TestPlanFile_IsShownAsItIsWritten: a plan whose patches were edited is refused before anything is written.
func TestPlanFile_IsShownAsItIsWritten(t *testing.T) {
	s := web(t)
	file := s.File("plan.yaml", "")
	s.Run("plan cloneset/web --image main=registry.example.com/web:2 --pull-images never --out "+file).Ends(0, "digest: sha256:")
	edited(t, "rollout apply -f "+file, "    - type: json\n      patch:\n", "    - type: json\n      patch:\n      - op: add\n        path: /spec/template/spec/hostNetwork\n        value: true\n")
	s.Run("rollout apply "+file+" --yes").Ends(1, "the patches of the plan")
	if text, _ := s.Object("CloneSet", "web").MarshalJSON(); strings.Contains(string(text), "hostNetwork") {
		t.Errorf("%s", text)
	}
}

// TestAnnotation_RunsNoCommand: who may edit a workload may not run programs in the pipeline that rolls it out.
func TestAnnotation_RunsNoCommand(t *testing.T) {
	marker := t.TempDir() + "/ran"
	s := story.Start(t, 4, strings.Replace(story.CloneSet("web", "4", "web:1"), "labels: {team: shop}", "annotations: {kubectl-kruise.dev/rollout: 'verify: [{command: [touch, "+marker+"]}]'}", 1))
	s.Run("rollout run cloneset/web --steps 1,100%"+image2).Ends(1, "--allow-commands", marker)
	if _, err := os.Stat(marker); err == nil {
		t.Fatal("the program was run")
	}
	s.Run("rollout run cloneset/web --allow-commands --steps 1,100%" + image2).Ends(0)
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
}

// TestRun_DiscardsARecordThatCannotBeRead: the hint of every verb names the way out, and the next rollout goes ahead
// with it.
func TestRun_DiscardsARecordThatCannotBeRead(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web" + image2).Ends(0)
	changes(s, "rollout.cloneset.web", "record", "{", "[")
	run := "rollout run cloneset/web --image main=registry.example.com/web:3 --pull-images never --yes"
	for _, command := range []string{"rollout status cloneset/web", "rollout abort cloneset/web", run} {
		s.Run(command).Ends(1, "that this version can read", "--discard-record", "kubectl delete configmap rollout.cloneset.web -n "+story.Namespace)
	}
	s.Run(run+" --discard-record").Ends(0, "was deleted", "completed")
	s.Has("", images{"web:3": 4})
}

// TestDetached_RunsWhatWasApproved: a plan that was not approved is not carried out by a Job, whatever the record says;
// a record of another major version is refused.
func TestDetached_RunsWhatWasApproved(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func([]byte) []byte{
		"limits": func(b []byte) []byte {
			return bytes.Replace(b, []byte("maxUnavailable: 1"), []byte("maxUnavailable: 4"), 1)
		},
		"a version": func(b []byte) []byte {
			return bytes.Replace(b, []byte("kubectl-kruise.dev/v1alpha1"), []byte("kubectl-kruise.dev/v2"), 1)
		},
		"a way back": func(b []byte) []byte {
			return bytes.Replace(b, []byte("\nspec:\n"), []byte("\nspec:\n  rollbackReason: it has to be\n"), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := web(t)
			runner(s)
			s.Run("rollout run cloneset/web --steps 1,100%" + detach + image2).Ends(0)
			tampersText(s, false, func(b []byte) []byte {
				after := edit(b)
				if bytes.Equal(after, b) {
					t.Errorf("nothing was edited in\n%s", b)
				}
				return after
			})
			s.Run("", argsOf(s)...).Ends(3)
			s.Has("", images{"web:1": 4})
		})
	}
}

// TestDetached_FromAManifest: what is printed creates the rollout, from a plan that cannot be changed, and again does
// nothing.
func TestDetached_FromAManifest(t *testing.T) {
	s := web(t)
	runner(s)
	r := s.Run("rollout run cloneset/web --manifest --runner-notify-secret hooks"+detach+image2).Ends(0, "plan: sha256:", "immutable: true", "name: hooks")
	s.Run("rollout list --all").Ends(0, "no rollout")
	text, args := manifest(s, r.Out)
	play := func(text string) *story.Result {
		file := s.File("plan.yaml", text)
		var mine []string
		for _, arg := range args {
			mine = append(mine, strings.ReplaceAll(arg, "/etc/kubectl-kruise/plan.yaml", file))
		}
		return s.Run("", mine...)
	}
	play(strings.ReplaceAll(text, "web:2", "evil:1")).Ends(3, "is sha256:")
	play(text).Ends(0, "completed")
	play(text).Ends(0, "completed already")
	s.Has("", images{"web:2": 4})
	s.Run("rollout run cloneset/web --image main=registry.example.com/web:3 --pull-images never --yes").Ends(0)
	play(text).Ends(3, "the plan does not fit")
}

// TestDetached_RollsBackAndResumes: a failed step goes back to where the approved plan began; a Job carries on what
// another process has left.
func TestDetached_RollsBackAndResumes(t *testing.T) {
	s := web(t)
	runner(s)
	s.Run("rollout run cloneset/web --image main=registry.example.com/web:2 --pull-images never --yes --detach --runner-image x:v9 --runner-namespace "+story.Namespace).Ends(1, "has no ServiceAccount kubectl-kruise-runner", "kubectl kruise rbac --runner")
	s.Run("rollout run cloneset/web --steps 1,100% --on-failure rollback --verify-url http://127.0.0.1:1/never" + detach + image2).Ends(0)
	s.Run("", argsOf(s)...).Ends(3, "rolled back")
	s.Has("", images{"web:1": 4})
	s.Run("rollout run cloneset/web --driver kruise --steps 1,100% --pause-after 1 --exit-on-pause" + image2).Ends(5)
	resume := "rollout resume cloneset/web --detach --runner-image registry.example.com/kubectl-kruise:v9"
	s.AnotherMachine().Run(resume).Ends(1, "not one that you approved")
	s.Run("rollout resume cloneset/web --detach --dry-run=client --runner-image registry.example.com/kubectl-kruise:v9")
	s.Run(resume).Ends(0, "job.batch/")
	jobs, err := s.Client.BatchV1().Jobs("kubectl-kruise").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 2 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	newest := slices.MaxFunc(jobs.Items, func(a, b batchv1.Job) int {
		return cmp.Or(cmp.Compare(len(a.ResourceVersion), len(b.ResourceVersion)), strings.Compare(a.ResourceVersion, b.ResourceVersion))
	})
	job := s.Begin("", newest.Spec.Template.Spec.Containers[0].Args...)
	s.Await(t, "all pods are updated", func() bool {
		s.Run("rollout promote cloneset/web --no-wait")
		return s.Images("")["web:2"] == 4
	})
	job.End().Ends(0, "completed")
}

// TestUndo_DuringARolloutAdvisesAbort: in the middle of a rollout undo says what there is to do instead; once that was
// aborted it goes back from the present step, with all pods, whatever partition was left.
func TestUndo_DuringARolloutAdvisesAbort(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CloneSet", "Advanced StatefulSet", "Deployment", "StatefulSet OnDelete"} {
		t.Run(name, func(t *testing.T) {
			c := slow[name]
			s := story.Start(t, 5, c.text)
			undo := "rollout undo " + c.of + " --pull-images never --driver " + c.driver
			steps := "1,100%"
			if name == "Deployment" {
				steps = "50%,100%"
			}
			s.Run("rollout run " + c.of + " --driver " + c.driver + " --steps " + steps + " --pause-after 1 --exit-on-pause" + image2).Ends(5)
			for _, how := range []string{" --dry-run=client", " --dry-run=server", " --yes"} {
				s.Run(undo+how).Ends(1, " has a rollout already: ", " --rollback ", "' rolls it back")
			}
			s.Run("rollout abort " + c.of + " --yes").Ends(0)
			s.Run(undo+" --dry-run=client").Ends(0, "rolled back (dry run)", "web:1")
			s.Run(undo + " --yes").Ends(0)
			s.Has("", images{"web:1": 5})
		})
	}
}

// TestStatus_WaitsForWhatWasAppliedAfterARollout: after a run, an undo or a restart, status is the gate of the next
// apply all the same.
func TestStatus_WaitsForWhatWasAppliedAfterARollout(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CloneSet", "Advanced StatefulSet", "Deployment"} {
		t.Run(name, func(t *testing.T) {
			c := slow[name]
			s := story.Start(t, 5, c.text)
			applied := func(image string) {
				t.Helper()
				s.Apply(t, story.Namespace, strings.ReplaceAll(c.text, "web:1", image))
				s.Run("rollout status " + c.of + " --timeout 3m").Ends(0)
				s.Has("", images{image: 5})
			}
			s.Run("rollout run " + c.of + image2).Ends(0)
			s.Run("rollout status "+c.of).Ends(0, "successfully rolled out")
			applied("web:3")
			s.Run("rollout undo " + c.of + " --pull-images never --yes").Ends(0)
			applied("web:1")
			s.Run("rollout status "+c.of+" --watch=false").Ends(0, "completed")
		})
	}
}

// TestRun_WithFewerReplicas: fewer replicas with another change of the spec are carried out, and the record can be read
// afterwards.
func TestRun_WithFewerReplicas(t *testing.T) {
	s := web(t)
	file := s.File("fewer.yaml", strings.Replace(story.CloneSet("web", "2", "web:1"), "spec:\n", "spec:\n  minReadySeconds: 1\n", 1))
	s.Run("rollout run -f " + file + " --yes").Ends(0)
	s.Run("rollout status cloneset/web").Ends(0, "successfully rolled out")
	s.Has("", images{"web:1": 2})
}

// TestRun_ThatScalesUpWaitsForEveryPod: a rollout that also makes its workload bigger is done when every pod is ready, the
// last one too, however long that takes.
func TestRun_ThatScalesUpWaitsForEveryPod(t *testing.T) {
	t.Parallel()
	for name, c := range slow {
		if !strings.Contains(c.text, "replicas: 5") || name == "CloneSet surge" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(c.text, "metadata: {labels: {app: web}}", `metadata: {labels: {app: web}, annotations: {`+life.ReadyDelayAnnotation+`: 300ms}}`, 1)
			s := story.Start(t, 5, text)
			file := s.File("more.yaml", strings.NewReplacer("replicas: 5", "replicas: 7", "web:1", "web:2").Replace(text))
			s.Run("rollout run -f " + file + " --steps 100% --pull-images never --yes --driver " + c.driver).Ends(0)
			s.Has("", images{"web:2": 7})
			s.Run("rollout status "+c.of+" --watch=false -o json").Ends(0, `"updated": 7`)
		})
	}
}
