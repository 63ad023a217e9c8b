package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// TestCheckWrites_RefusesWhatAStepMayNotWrite holds the table of writable fields against
// patches that a person who may edit plans, but not workloads, would like to have sent.
func TestCheckWrites_RefusesWhatAStepMayNotWrite(t *testing.T) {
	merge := func(body map[string]any) plan.Patch { return plan.Patch{Type: plan.PatchMerge, Body: body} }
	spec := func(v any, path ...string) plan.Patch {
		for _, p := range slices.Backward(path) {
			v = map[string]any{p: v}
		}
		return merge(map[string]any{"spec": v})
	}
	ops := func(list ...map[string]any) plan.Patch {
		var body []any
		for _, op := range list {
			body = append(body, op)
		}
		return plan.Patch{Type: plan.PatchJSON, Body: body}
	}
	op := func(name, path string, value any) map[string]any {
		out := map[string]any{"op": name, "path": path}
		if value != nil {
			out["value"] = value
		}
		return out
	}
	at := func(p plan.Patch, t plan.Target) plan.Patch { p.Target = &t; return p }
	of := func(p plan.Patch, sub string) plan.Patch { p.Subresource = sub; return p }
	clone := plan.Target{APIVersion: beta, Kind: "CloneSet", Namespace: "shop", Name: "web"}
	other := plan.Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "api"}
	deployment := plan.Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}

	for name, c := range map[string]struct {
		target plan.Target
		kind   plan.StepKind
		patch  plan.Patch
		want   string
	}{
		"template":                {clone, plan.StepUpdate, ops(op("add", "/spec/template/spec/hostNetwork", true)), ""},
		"strategy":                {clone, plan.StepUpdate, ops(op("test", "/spec/x/image", "a"), op("remove", "/spec/minReadySeconds", nil)), ""},
		"partition":               {clone, plan.StepPartition, spec(int64(3), "updateStrategy", "rollingUpdate", "partition"), ""},
		"partition in per cent":   {clone, plan.StepPartition, spec("40%", "updateStrategy", "rollingUpdate", "partition"), ""},
		"pause of a Deployment":   {deployment, plan.StepPartition, spec(true, "paused"), ""},
		"scale":                   {clone, plan.StepScale, spec(4, "replicas"), ""},
		"scale, subresource":      {clone, plan.StepScale, of(spec(4.0, "replicas"), "scale"), ""},
		"own target named":        {clone, plan.StepUpdate, at(ops(op("add", "/spec/template", "x")), clone), ""},
		"another object":          {clone, plan.StepUpdate, at(ops(op("add", "/spec/template", "x")), other), "it changes Deployment api, and a plan changes its own object only"},
		"another namespace":       {clone, plan.StepUpdate, at(ops(op("add", "/spec/template", "x")), plan.Target{APIVersion: beta, Kind: "CloneSet", Namespace: "kube-system", Name: "web"}), "own object only"},
		"metadata":                {clone, plan.StepUpdate, merge(map[string]any{"metadata": map[string]any{"finalizers": nil}}), "may not write metadata.finalizers"},
		"metadata by JSON":        {clone, plan.StepUpdate, ops(op("add", "/metadata/labels/a", "b")), "outside of the spec"},
		"the whole spec":          {clone, plan.StepUpdate, ops(op("add", "/spec", map[string]any{})), "outside of the spec"},
		"the whole spec by merge": {clone, plan.StepUpdate, merge(map[string]any{"spec": nil}), "may not write spec"},
		"the whole object":        {clone, plan.StepUpdate, ops(op("add", "", map[string]any{})), "outside of the spec"},
		"replicas in an update":   {clone, plan.StepUpdate, ops(op("replace", "/spec/replicas", 0)), "may not write spec.replicas"},
		"replicas, escaped":       {clone, plan.StepUpdate, spec(0, "replicas"), "may not write spec.replicas"},
		"copy":                    {clone, plan.StepUpdate, ops(map[string]any{"op": "copy", "path": "/spec/template", "from": "/metadata"}), `operation "copy" is not taken`},
		"move":                    {clone, plan.StepUpdate, ops(map[string]any{"op": "move", "path": "/spec/template", "from": "/spec/x"}), `operation "move" is not taken`},
		"an operation without":    {clone, plan.StepUpdate, ops(map[string]any{"op": "add", "path": "/spec/template"}), "has a value where none is due"},
		"no operation":            {clone, plan.StepUpdate, plan.Patch{Type: plan.PatchJSON, Body: []any{"x"}}, `operation "" is not taken`},
		"status":                  {clone, plan.StepUpdate, of(spec("x", "template"), "status"), "may not write spec.template"},
		"strategic":               {clone, plan.StepUpdate, plan.Patch{Type: plan.PatchStrategic, Body: map[string]any{"spec": map[string]any{"template": "x"}}}, "a patch of type strategic is not taken"},
		"template in a partition": {clone, plan.StepPartition, spec("x", "template"), "may not write spec.template"},
		"partition as an object":  {clone, plan.StepPartition, spec(map[string]any{"a": 1}, "updateStrategy", "rollingUpdate", "partition"), "may not write spec.updateStrategy.rollingUpdate.partition.a"},
		"partition below 0":       {clone, plan.StepPartition, spec(-1, "updateStrategy", "rollingUpdate", "partition"), "may not write"},
		"partition removed":       {clone, plan.StepPartition, spec(nil, "updateStrategy", "rollingUpdate", "partition"), "may not write"},
		"partition of words":      {clone, plan.StepPartition, spec("all", "updateStrategy", "rollingUpdate", "partition"), "may not write"},
		"beside the partition":    {clone, plan.StepPartition, spec(map[string]any{"partition": 1, "maxUnavailable": "100%"}, "updateStrategy", "rollingUpdate"), "may not write spec.updateStrategy.rollingUpdate.maxUnavailable"},
		"v1beta1 path in v1alpha1": {
			plan.Target{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Namespace: "shop", Name: "web"},
			plan.StepPartition, spec(1, "updateStrategy", "rollingUpdate", "partition"), "may not write",
		},
		"scale below 0":       {clone, plan.StepScale, spec(-1, "replicas"), "may not write"},
		"scale by half":       {clone, plan.StepScale, spec(1.5, "replicas"), "may not write"},
		"scale beyond":        {clone, plan.StepScale, spec(int64(1)<<40, "replicas"), "may not write"},
		"a pause that writes": {clone, plan.StepPause, spec(1, "replicas"), "sends no patch"},
		"a pull that writes":  {clone, plan.StepPullImages, spec("x", "template"), "sends no patch"},
		"pods that write":     {clone, plan.StepInPlace, spec("x", "template"), "sends no patch"},
		"nothing":             {clone, plan.StepUpdate, merge(nil), "a merge patch is a mapping"},
	} {
		p := plan.Plan{Target: c.target, Steps: []plan.Step{{Name: "x", Kind: c.kind, Patches: []plan.Patch{c.patch}}}}
		faults := p.CheckWrites()
		switch {
		case c.want == "" && len(faults) > 0:
			t.Errorf("%s: %s", name, faults[0].Msg)
		case c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Msg, c.want)):
			t.Errorf("%s: %+v, want %q", name, faults, c.want)
		}
	}
}

// TestDescribed_ComparesPatchesWithDescription: a plan that shows an image and writes more
// is refused, in whichever of the two places it was edited.
func TestDescribed_ComparesPatchesWithDescription(t *testing.T) {
	old := clones("")
	s := snapshot(t, old, 10)
	image := strings.ReplaceAll(old, "web:1", newer)
	bad := strings.Replace(image, `"web:2"`, `"web:2", env: [{name: TOKEN, value: hunter2}]`, 1)
	honest := must(plan.Build(read(t, image), s, plan.Policy{}))
	wide := must(plan.Build(read(t, bad), s, plan.Policy{}))

	if got, err := honest.Described(s); err != nil || got.Change.Mode != honest.Change.Mode || len(got.Change.Fields) != 1 {
		t.Fatalf("an honest plan: %+v, %v", got.Change, err)
	}
	added := must(planfile.Read(planfile.Write(honest)))
	body := added.Steps[1].Patches[0].Body.([]any)
	added.Steps[1].Patches[0].Body = slices.Concat(body, []any{map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true}})
	struck := wide
	struck.Change.Fields = nil
	for _, f := range wide.Change.Fields {
		if strings.HasSuffix(f.Path, "image") {
			struck.Change.Fields = append(struck.Change.Fields, f)
		}
	}
	if len(struck.Change.Fields) == len(wide.Change.Fields) {
		t.Fatal("nothing was struck")
	}
	relabelled := honest
	relabelled.Change.Fields = slices.Clone(honest.Change.Fields)
	relabelled.Change.Fields[0].New = "web:1.0.1"
	undone := must(planfile.Read(planfile.Write(honest)))
	undone.Steps[1].Patches[0].Body.([]any)[0] = map[string]any{"op": "test", "path": "/spec/replicas", "value": 11.0}
	again := func(edit func(*plan.Plan)) plan.Plan {
		p := must(planfile.Read(planfile.Write(honest)))
		edit(&p)
		return p
	}
	limits := again(func(p *plan.Plan) { p.Limits.MaxUnavailable = 1 })
	faster := again(func(p *plan.Plan) {
		p.Steps[2].Patches[0].Body = map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"rollingUpdate": map[string]any{"partition": 0}}}}
	})
	for name, c := range map[string]struct {
		p    plan.Plan
		want string
	}{
		"other limits":       {limits, "the object comes to"},
		"a wider partition":  {faster, "updates 10 pods, more than the 5 that the plan says"},
		"an operation added": {added, "another template than its description says"},
		"a field struck":     {struck, "change other fields than its description says: spec.containers[0].env"},
		"a value changed":    {relabelled, "change other fields than its description says: spec.containers[0].image"},
		"an empty one":       {undone, ""},
	} {
		_, err := c.p.Described(s)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDescribed_TitlesSayWhatIsAsked: a title is text of the plan's author.
func TestDescribed_TitlesSayWhatIsAsked(t *testing.T) {
	old := clones("")
	s := snapshot(t, old, 10)
	p := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), s, plan.Policy{Verify: []plan.Verify{{Command: []string{"rm", "-r", "x"}}}}))
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.StepVerify })
	p.Steps[i].Title = "ask: https://shop.example.com/health"
	if got := must(p.Described(s)); got.Steps[i].Title != "ask: [rm -r x]" || p.Steps[i].Title == got.Steps[i].Title {
		t.Errorf("%q", got.Steps[i].Title)
	}
}

// TestSpecWrites_ListsWhatIsBesideTheTemplate: a strategy that changes is shown, too.
func TestSpecWrites_ListsWhatIsBesideTheTemplate(t *testing.T) {
	old := clones("")
	next := strings.Replace(strings.ReplaceAll(old, "web:1", newer), "InPlaceIfPossible", "InPlaceIfPossible, maxUnavailable: 100%", 1)
	p := must(plan.Build(read(t, next), snapshot(t, old, 10), plan.Policy{}))
	path := "spec.updateStrategy.rollingUpdate.maxUnavailable"
	if got := p.SpecWrites(); len(got) != 1 || got[0].Path != path || got[0].New != "100%" || got[0].Old != "20%" {
		t.Errorf("%+v", got)
	}
	// A plan from a file was not compared: all that its patches write is listed.
	read := must(planfile.Read(planfile.Write(p)))
	if got := read.SpecWrites(); len(got) != 1 || got[0].Path != "spec.updateStrategy" || got[0].New == nil {
		t.Errorf("%+v", got)
	}
	if got := must(read.Described(snapshot(t, old, 10))); len(got.Change.Spec) != 1 || got.Change.Spec[0].Path != path {
		t.Errorf("%+v", got.Change.Spec)
	}
}

// TestDigest covers what was approved: it survives files and records, and changes with
// everything that is done.
func TestDigest(t *testing.T) {
	old := clones("")
	p := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), snapshot(t, old, 10), plan.Policy{
		Steps: []plan.PolicyStep{{To: plan.Amount{Value: 1}, Pause: &plan.Pause{}, Verify: []plan.Verify{{URL: "https://shop.example.com/health"}}}, {To: plan.All}},
	}))
	digest := p.Digest("cluster-1")
	if len(digest) != len("sha256:")+32 {
		t.Fatalf("%q", digest)
	}
	again := func() plan.Plan { return must(planfile.Read(planfile.Write(p))) }
	if got := again(); got.Digest("cluster-1") != digest {
		t.Error("a plan that was written and read has another digest")
	}
	if p.Digest("cluster-2") == digest {
		t.Error("another cluster has the same digest")
	}
	for name, edit := range map[string]func(*plan.Plan){
		"a title":   func(p *plan.Plan) { p.Steps[0].Title = "x" },
		"a warning": func(p *plan.Plan) { p.Warnings = append(p.Warnings, "x") },
		"pods":      func(p *plan.Plan) { p.Steps[1].Pods = nil },
	} {
		q := again()
		if edit(&q); q.Digest("cluster-1") != digest {
			t.Errorf("%s: another digest", name)
		}
	}
	step := func(kind plan.StepKind, edit func(*plan.Step)) func(*plan.Plan) {
		return func(p *plan.Plan) {
			for i := range p.Steps {
				if p.Steps[i].Kind == kind {
					edit(&p.Steps[i])
					return
				}
			}
			t.Fatalf("the plan has no step of kind %s", kind)
		}
	}
	for name, edit := range map[string]func(*plan.Plan){
		"target":      func(p *plan.Plan) { p.Target.UID = "other" },
		"name":        func(p *plan.Plan) { p.Target.Name = "other" },
		"base":        func(p *plan.Plan) { p.Change.FromHash = "other" },
		"limits":      func(p *plan.Plan) { p.Limits.MaxUnavailable++ },
		"driver":      func(p *plan.Plan) { p.Driver = plan.DriverClient },
		"a step less": func(p *plan.Plan) { p.Steps = p.Steps[:len(p.Steps)-1] },
		"pause":       step(plan.StepPause, func(s *plan.Step) { s.Pause.For = 1 }),
		"verify":      step(plan.StepVerify, func(s *plan.Step) { s.Verify.Command, s.Verify.URL = []string{"sh"}, "" }),
		"patch": step(plan.StepUpdate, func(s *plan.Step) {
			s.Patches[0].Body = append(s.Patches[0].Body.([]any), map[string]any{"op": "add", "path": "/spec/x", "value": 1})
		}),
		"null":     step(plan.StepPartition, func(s *plan.Step) { s.Patches[0].Body.(map[string]any)["status"] = nil }),
		"images":   step(plan.StepPullImages, func(s *plan.Step) { s.Pull.Images = []string{"x"} }),
		"rollback": step(plan.StepUpdate, func(s *plan.Step) { s.OnFailure = plan.FailRollback }),
	} {
		q := again()
		if edit(&q); q.Digest("cluster-1") == digest {
			t.Errorf("%s: the same digest", name)
		}
	}
}

// TestBack_TakesNoOtherTemplate: the template on record may have been edited; the way back
// leads to the one that the plan started from, or nowhere.
func TestBack_TakesNoOtherTemplate(t *testing.T) {
	old := clones("")
	next := strings.ReplaceAll(old, "web:1", newer)
	s := snapshot(t, old, 10)
	p := must(plan.Build(read(t, next), s, plan.Policy{}))
	rolled := plan.Snapshot{Workload: read(t, next), Pods: s.Pods, Gates: s.Gates, Base: s.Workload.Template}
	if _, err := plan.Back(p, rolled, "it failed"); err != nil {
		t.Fatal(err)
	}
	rolled.Base = read(t, strings.ReplaceAll(old, "web:1", "evil:1")).Template
	if _, err := plan.Back(p, rolled, "it failed"); err == nil || !strings.Contains(err.Error(), "not the one that the workload had") {
		t.Errorf("%v", err)
	}
}
