package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
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
		"replicas":                {clone, plan.StepUpdate, ops(op("add", "/spec/replicas", 4.0)), ""},
		"replicas, subresource":   {clone, plan.StepUpdate, of(spec(4, "replicas"), "scale"), "may not write spec.replicas"},
		"own target named":        {clone, plan.StepUpdate, at(ops(op("add", "/spec/template", "x")), clone), ""},
		"another object":          {clone, plan.StepUpdate, at(ops(op("add", "/spec/template", "x")), other), "it changes Deployment api, and a plan changes its own object only"},
		"another namespace":       {clone, plan.StepUpdate, at(ops(op("add", "/spec/template", "x")), plan.Target{APIVersion: beta, Kind: "CloneSet", Namespace: "kube-system", Name: "web"}), "own object only"},
		"metadata":                {clone, plan.StepUpdate, merge(map[string]any{"metadata": map[string]any{"finalizers": nil}}), "may not write metadata.finalizers"},
		"metadata by JSON":        {clone, plan.StepUpdate, ops(op("add", "/metadata/labels/a", "b")), "outside of the spec"},
		"the whole spec":          {clone, plan.StepUpdate, ops(op("add", "/spec", map[string]any{})), "outside of the spec"},
		"the whole spec by merge": {clone, plan.StepUpdate, merge(map[string]any{"spec": nil}), "may not write spec"},
		"the whole object":        {clone, plan.StepUpdate, ops(op("add", "", map[string]any{})), "outside of the spec"},
		"replicas in a partition": {clone, plan.StepPartition, spec(0, "replicas"), "may not write spec.replicas"},
		"replicas removed":        {clone, plan.StepUpdate, ops(op("remove", "/spec/replicas", nil)), "may not write spec.replicas"},
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
		"replicas below 0":    {clone, plan.StepUpdate, spec(-1, "replicas"), "may not write"},
		"half a replica":      {clone, plan.StepUpdate, spec(1.5, "replicas"), "may not write"},
		"replicas beyond":     {clone, plan.StepUpdate, spec(int64(1)<<40, "replicas"), "may not write"},
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

// TestWithDescription_ComparesPatches: a plan that shows an image and writes more
// is refused, in whichever of the two places it was edited.
func TestWithDescription_ComparesPatches(t *testing.T) {
	old := clones("")
	s := snapshot(t, old, 10)
	image := strings.ReplaceAll(old, "web:1", newer)
	bad := strings.Replace(image, `"web:2"`, `"web:2", env: [{name: TOKEN, value: hunter2}]`, 1)
	honest := must(plan.Build(read(t, image), s, plan.Policy{}))
	wide := must(plan.Build(read(t, bad), s, plan.Policy{}))

	if got, err := honest.WithDescription(s); err != nil || got.Change.Mode != honest.Change.Mode || len(got.Change.Fields) != 1 {
		t.Fatalf("an honest plan: %+v, %v", got.Change, err)
	}
	added := must(planfile.Read(must(planfile.Write(honest))))
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
	undone := must(planfile.Read(must(planfile.Write(honest))))
	undone.Steps[1].Patches[0].Body.([]any)[0] = map[string]any{"op": "test", "path": "/spec/replicas", "value": 11.0}
	again := func(edit func(*plan.Plan)) plan.Plan {
		p := must(planfile.Read(must(planfile.Write(honest))))
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
		"other limits":       {limits, "but the object needs"},
		"a wider partition":  {faster, "updates 10 pods, more than the 5 of the plan"},
		"an operation added": {added, "another template than the described one"},
		"a field struck":     {struck, "change other fields than described: spec.containers[0].env"},
		"a value changed":    {relabelled, "change other fields than described: spec.containers[0].image"},
		"an empty one":       {undone, ""},
	} {
		_, err := c.p.WithDescription(s)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWithDescription_TitlesNameTheChange: a title is text of the plan's author.
func TestWithDescription_TitlesNameTheChange(t *testing.T) {
	old := clones("")
	s := snapshot(t, old, 10)
	p := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), s, plan.Policy{Verify: []plan.Verify{{Command: []string{"rm", "-r", "x"}}}}))
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.StepVerify })
	p.Steps[i].Title = "ask: https://shop.example.com/health"
	if got := must(p.WithDescription(s)); got.Steps[i].Title != "ask: [rm -r x]" || p.Steps[i].Title == got.Steps[i].Title {
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
	// A plan from a file has what a rollback returns to; one that was never compared lists all that its patches write.
	read := must(planfile.Read(must(planfile.Write(p))))
	if diff := cmp.Diff(p.SpecWrites(), read.SpecWrites()); diff != "" {
		t.Error(diff)
	}
	uncompared := read
	uncompared.Change.Spec = nil
	if got := uncompared.SpecWrites(); len(got) != 1 || got[0].Path != "spec.updateStrategy" || got[0].New == nil {
		t.Errorf("%+v", got)
	}
	if got := must(read.WithDescription(snapshot(t, old, 10))); len(got.Change.Spec) != 1 || got.Change.Spec[0].Path != path {
		t.Errorf("%+v", got.Change.Spec)
	}
}

// TestDigest_CoversWhatIsApproved covers what was approved: it survives files and records, and changes with
// everything that is done.
func TestDigest_CoversWhatIsApproved(t *testing.T) {
	old := clones("")
	p := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), snapshot(t, old, 10), plan.Policy{
		Steps: []plan.PolicyStep{{To: plan.Amount{Value: 1}, Pause: &plan.Pause{}, Verify: []plan.Verify{{URL: "https://shop.example.com/health"}}}, {To: plan.All}},
	}))
	digest := p.Digest("cluster-1")
	if len(digest) != len("sha256:")+32 {
		t.Fatalf("%q", digest)
	}
	again := func() plan.Plan { return must(planfile.Read(must(planfile.Write(p)))) }
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

// TestNeedsApproval_ListsWritesOfARecord separates what a record alone may have caused from what changes what runs.
func TestNeedsApproval_ListsWritesOfARecord(t *testing.T) {
	old := clones("")
	next := strings.ReplaceAll(old, "web:1", newer)
	before := snapshot(t, old, 10)
	p := must(plan.Build(read(t, next), before, plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%")), OnFailure: plan.FailPause}))
	if got := outline(p); got != "pull 0/10:0, update 1/9:1, step-50% 5/5:4, step-100% 10/0:5" {
		t.Fatal(got)
	}
	// after is the cluster when the template is written and the record is at a step.
	after := func(step int) plan.Snapshot {
		s := before
		s.Workload = must(p.Outcome(before.Workload))
		s.Progress = plan.Progress{Step: step}
		return s
	}
	at := func(step int) plan.Snapshot { s := before; s.Progress.Step = step; return s }
	edited := func(edit func(*plan.Plan)) plan.Plan {
		q := p
		q.Steps = slices.Clone(p.Steps)
		edit(&q)
		return q
	}
	evil := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", "evil:1")), before, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Pull: plan.PullNever}))
	back := must(plan.Rollback(p, func() plan.Snapshot { s := after(2); s.Base = before.Workload.Template; return s }(), "it failed"))

	for name, c := range map[string]struct {
		p    plan.Plan
		s    plan.Snapshot
		want string
	}{
		"from the start":             {p, at(0), "step pull pulls the image web:2 to the nodes; step update writes the template or the strategy"},
		"the template is to come":    {p, at(1), "step update writes the template or the strategy"},
		"only partitions are left":   {p, after(2), ""},
		"done":                       {p, after(4), ""},
		"a step that there never is": {p, after(99), ""},
		"a step before the first":    {p, at(-5), "step pull pulls the image web:2 to the nodes; step update writes the template or the strategy"},
		"a plan for another image":   {evil, after(0), "step update writes the template or the strategy"},
		"a Job": {edited(func(q *plan.Plan) {
			q.Steps = append(q.Steps, plan.Step{Name: "v", Kind: plan.StepVerify, Verify: &plan.Verify{Job: map[string]any{"a": "b"}}})
		}), after(2), "step v creates a Job"},
		"a scale": {edited(func(q *plan.Plan) {
			q.Steps = append(q.Steps, plan.Step{Name: "s", Kind: plan.StepUpdate, Patches: []plan.Patch{{Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"replicas": 0}}}}})
		}), after(2), "step s changes the number of pods"},
		"back, with no pods":        {forged(back, "/spec/replicas", 0), after(0), "step update changes the number of pods"},
		"back, with another budget": {forged(back, "/spec/minReadySeconds", 600), after(0), "step update writes the template or the strategy"},
		"another image pulled": {edited(func(q *plan.Plan) {
			q.Steps = append(q.Steps, plan.Step{Name: "x", Kind: plan.StepPullImages, Pull: &plan.Pull{Images: []string{newer, "miner:1"}}})
		}), after(2), "step x pulls the image miner:1 to the nodes"},
		"back to a kept revision": {back, after(0), ""},
		"back to no revision":     {back, func() plan.Snapshot { s := after(0); s.Revisions = nil; return s }(), "step update writes the template or the strategy"},
		"called a way back":       {func() plan.Plan { q := evil; q.RollbackReason = "x"; return q }(), after(0), "step update writes the template or the strategy"},
		"goes back on failure":    {edited(func(q *plan.Plan) { q.Steps[3].OnFailure = plan.FailRollback }), after(2), ""},
		"goes back to what nobody kept": {
			edited(func(q *plan.Plan) { q.Steps[3].OnFailure = plan.FailRollback }),
			func() plan.Snapshot { s := after(2); s.Revisions = nil; return s }(), "a failed step goes back to a template that no revision of the workload has",
		},
	} {
		if got := strings.Join(c.p.NeedsApproval(c.s), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := p.NeedsApproval(plan.Snapshot{Workload: &cluster.Workload{}}); got != nil {
		t.Errorf("without an object: %q", got)
	}
}

// forged is a plan whose first write was edited to set one field more.
func forged(p plan.Plan, path string, v any) plan.Plan {
	p.Steps = slices.Clone(p.Steps)
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.StepUpdate })
	patch := p.Steps[i].Patches[0]
	patch.Body = append(slices.Clone(patch.Body.([]any)), map[string]any{"op": "add", "path": path, "value": v})
	p.Steps[i].Patches = []plan.Patch{patch}
	return p
}

// TestCommands_ListsWhatWouldRun names programs from the recorded step on.
func TestCommands_ListsWhatWouldRun(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{Name: "v1", Kind: plan.StepVerify, Verify: &plan.Verify{Command: []string{"sh", "-c", "true"}}},
		{Name: "v2", Kind: plan.StepVerify, Verify: &plan.Verify{URL: "https://x"}},
		{Name: "v3", Kind: plan.StepVerify, Verify: &plan.Verify{Command: []string{"curl", "x"}}},
	}}
	if got := p.Commands(-1); !slices.Equal(got, []string{"step v1: sh -c true", "step v3: curl x"}) {
		t.Errorf("%q", got)
	}
	if got := p.Commands(1); !slices.Equal(got, []string{"step v3: curl x"}) {
		t.Errorf("%q", got)
	}
}

// TestWithStricterLimits_TakesTheStricter: an edited record takes no more pods down at a time than the live object
// allows, and what is recorded as stricter stays.
func TestWithStricterLimits_TakesTheStricter(t *testing.T) {
	old := clones("")
	s := snapshot(t, old, 10)
	p := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), s, plan.Policy{}))
	live := p.Limits
	if live.MaxUnavailable != 2 {
		t.Fatalf("%+v", live)
	}
	for name, c := range map[string]struct{ record, want plan.Limits }{
		"as it was": {live, live},
		"wider":     {plan.Limits{Replicas: 10, MaxUnavailable: 10, MaxSurge: 7}, plan.Limits{Replicas: 10, MaxUnavailable: 2, MinReady: live.MinReady}},
		"stricter":  {plan.Limits{Replicas: 10, MaxUnavailable: 1, MinReady: plan.Duration(time.Hour)}, plan.Limits{Replicas: 10, MaxUnavailable: 1, MinReady: plan.Duration(time.Hour)}},
	} {
		q := p
		q.Limits = c.record
		if got := q.WithStricterLimits(s).Limits; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// The client takes pods out of service, as the live template is made for.
	own, now := carried(t, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}})
	if own.Drain != plan.DrainLabel {
		t.Fatalf("drains by %q", own.Drain)
	}
	edited := own
	edited.Drain, edited.Limits.MaxUnavailable = plan.DrainNone, 100
	if got := edited.WithStricterLimits(now); got.Drain != own.Drain || got.Limits != own.Limits {
		t.Errorf("%q, %+v, want %q, %+v", got.Drain, got.Limits, own.Drain, own.Limits)
	}
	pod := plan.Plan{Target: plan.Target{Kind: "Pod"}, Limits: plan.Limits{MaxUnavailable: 5}}
	if got := pod.WithStricterLimits(plan.Snapshot{}).Limits.MaxUnavailable; got != 1 {
		t.Error(got)
	}
}
