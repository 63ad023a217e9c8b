package plan

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// pull adds the step that has new images on the nodes before any pod changes.
func (b *builder) pull() {
	images := b.newImages()
	nodes := nodesOf(b.snap.Members())
	wanted := b.policy.Pull == PullFirst || b.policy.Pull == PullAuto && b.plan.Change.Mode == rules.ModeInPlace
	if !wanted || len(images) == 0 || nodes == 0 {
		return
	}
	b.add(Step{
		Name: "pull", Kind: StepPullImages, Title: fmt.Sprintf("pull %s on %s", plural(len(images), "image"), plural(nodes, "node")),
		Updated: b.sub.updated, Kept: b.sub.total - b.sub.updated,
		Pull:   &Pull{Images: images, Parallel: b.policy.Parallel},
		Before: []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
		After:  []Condition{{HoldsPulled, itoa(nodes)}},
	})
}

// newImages are images that the new template asks for and the old did not, in the
// order of the fields.
func (b *builder) newImages() []string {
	var out []string
	for _, f := range b.plan.Change.Fields {
		image, ok := f.New.(string)
		if ok && f.Effect == rules.EffectImage && !slices.Contains(out, image) {
			out = append(out, image)
		}
	}
	return out
}

// nodesOf counts the nodes that pods are on.
func nodesOf(list []*cluster.Pod) int {
	seen := map[string]bool{}
	for _, p := range list {
		if p.Node != "" && rules.Active(p) {
			seen[p.Node] = true
		}
	}
	return len(seen)
}

// afterRung adds what a step is followed by: its questions, then its pause.
func (b *builder) afterRung(r rung, last bool) {
	at := r.To.String()
	questions := slices.Concat(b.policy.Verify, r.Verify)
	for i := range questions {
		name := "verify-" + at
		if len(questions) > 1 {
			name = fmt.Sprintf("%s-%d", name, i+1)
		}
		b.add(b.holding(Step{Name: name, Kind: StepVerify, Title: questionTitle(&questions[i]), Verify: &questions[i]}))
	}
	if r.Pause != nil && !last {
		b.add(b.holding(Step{Name: "pause-" + at, Kind: StepPause, Title: pauseText(r.Pause), Pause: r.Pause}))
	}
}

// holding fills in a step that changes nothing.
func (b *builder) holding(s Step) Step {
	s.Updated = b.reached()
	s.Kept = max(b.sub.total-s.Updated, 0)
	s.Before = []Condition{{HoldsTemplate, b.plan.Change.ToHash}}
	return s
}

func pauseText(p *Pause) string {
	if p.For == 0 {
		return "wait for approval"
	}
	return "wait for " + p.For.String()
}

// questionTitle is the title of a step that asks.
func questionTitle(v *Verify) string { return "ask: " + questionText(v) }

func questionText(v *Verify) string {
	switch {
	case v.URL != "":
		return address(v.URL)
	case v.Prometheus != "":
		return fmt.Sprintf("%s %s at %s", v.Query, v.Threshold, address(v.Prometheus))
	case v.Job != nil:
		return "a Job in the cluster"
	}
	return fmt.Sprint(v.Command)
}

// address is a URL without the password that may be in it, and without its query.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
