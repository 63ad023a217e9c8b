package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// InPlace is the answer to whether a change of template can be made in place.
type InPlace struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Object     resource.ID      `json:"object"`
	Mode       rules.UpdateMode `json:"mode"`
	// Policy is the one in force; Policies has the answers under all of them.
	Policy   string              `json:"policy"`
	Why      string              `json:"why"`
	Restarts []string            `json:"restarts"`
	Fields   []rules.FieldChange `json:"fields"`
	Policies []policyAnswer      `json:"policies"`
	Remarks  []string            `json:"remarks,omitempty"`
	// Surge is set where surge pods replace pods although the change is possible in place.
	Surge *surge `json:"surge,omitempty"`
	// Reached are how many pods change, of Total, which is -1 where a remark says why that is not known.
	Reached, Total int `json:"-"`
}

// surge is how many of the pods that a change reaches are recreated because of maxSurge.
type surge struct {
	Pods      int    `json:"pods"`
	Recreated int    `json:"recreated"`
	Text      string `json:"text"`
}

type policyAnswer struct {
	Policy  string           `json:"policy"`
	InForce bool             `json:"inForce"`
	Mode    rules.UpdateMode `json:"mode"`
	Why     string           `json:"why"`
}

// newInPlace holds the answer under the policy in force. Policies are spelt as
// the kind spells them.
func newInPlace(ref cluster.Ref, e rules.Eligibility) InPlace {
	restarts := []string{}
	if e.Mode == rules.ModeInPlace {
		restarts = append(restarts, e.Restarts...)
	}
	return InPlace{
		APIVersion: plan.APIVersion, Kind: "InPlaceExplanation",
		Object: resource.ID(ref),
		Mode:   e.Mode, Policy: policyWord(ref, e.Policy), Why: e.Why,
		Restarts: restarts, Fields: append([]rules.FieldChange{}, e.Fields...),
	}
}

// Explained is the answer to a change of a workload, with what else is to know of it.
func Explained(old, updated *cluster.Workload, gates cluster.Gates) InPlace {
	e := rules.Change(old, updated, rules.PolicyOf(updated.Object), gates)
	answer := newInPlace(updated.Ref, e)
	answer.Remarks = rules.Warnings(old, updated, e)
	if err := rules.CheckClaims(old, updated); err != nil {
		answer.Remarks = append(answer.Remarks, err.Error())
	}
	unknown := func(why string) InPlace {
		answer.Remarks, answer.Total = append(answer.Remarks, "how many pods change is not known: "+why), -1
		return answer
	}
	l := plan.CurrentSpecPlan(plan.Snapshot{Workload: updated, Gates: gates}).Limits
	before := plan.CurrentSpecPlan(plan.Snapshot{Workload: old, Gates: gates}).Limits.Replicas
	if simulate.Work(max(before, l.Replicas), l.MaxUnavailable+l.MaxSurge) > simulate.MostWork {
		return unknown(simulate.TooMuch)
	}
	line, err := simulate.Applied(updated, plan.Snapshot{Workload: old, Gates: gates})
	if err != nil {
		return unknown(err.Error())
	}
	answer.Total = line.Present
	answer.Remarks = append(answer.Remarks, line.LostClaims(old)...)
	for _, t := range line.Touches {
		if t.Mode != rules.ModeDelete {
			answer.Reached++
		}
	}
	if e.Mode == rules.ModeInPlace || e.Mode == rules.ModeMetadataOnly {
		if s := plan.SurgeOf(updated, line.Touches); s.Recreated > 0 {
			answer.Surge = &surge{Pods: s.Pods, Recreated: s.Recreated, Text: s.String()}
		}
	}
	return answer
}

// Add adds the answer under one policy.
func (x *InPlace) Add(e rules.Eligibility) {
	policy := policyWord(cluster.Ref{Group: x.Object.Group, Kind: x.Object.Kind}, e.Policy)
	x.Policies = append(x.Policies, policyAnswer{Policy: policy, InForce: policy == x.Policy, Mode: e.Mode, Why: e.Why})
}

func policyWord(ref cluster.Ref, p rules.UpdatePolicy) string {
	if ref.Kind == kruise.KindDaemonSet && p == rules.PolicyRecreate && ref.Group != "apps" {
		return "Standard"
	}
	return string(p)
}

// Text writes the answer for people: the mode, every field, every policy.
func (x InPlace) Text(w io.Writer, st Style) error {
	b := &builder{st: st}
	b.line("%s: %s", strings.ToLower(x.Object.Kind)+"/"+x.Object.Name, x.headline(st))
	if x.Mode != rules.ModeUnchanged {
		b.line("  %s", x.Why)
	}
	if x.Surge != nil {
		b.line("  %s", x.Surge.Text)
	}
	if len(x.Fields) > 0 {
		b.line("")
		b.line("%s", st.paint(bold, "fields"))
		b.fields(x.Fields, x.Mode)
	}
	if len(x.Policies) > 1 {
		b.line("")
		b.line("%s", st.paint(bold, "under each policy"))
		for _, p := range x.Policies {
			b.line("  %-18s %s%s", p.Policy, modeWords[p.Mode], when(p.InForce, "  (in force)"))
		}
	}
	for i, r := range x.Remarks {
		if i == 0 {
			b.line("")
		}
		b.line("%s %s", st.paint(yellow, "note:"), r)
	}
	return b.write(w)
}

// headline is the answer in a few words: where surge pods replace some pods, how many.
func (x InPlace) headline(st Style) string {
	text := modeText(x.Mode, x.Restarts)
	if x.Surge == nil {
		return st.paint(modeColors[x.Mode], text)
	}
	recreated := fmt.Sprintf("%d of %s recreated", x.Surge.Recreated, counted.PodsAre(x.Surge.Pods))
	if x.Surge.Recreated < x.Surge.Pods {
		recreated += "; others: " + text
	}
	return st.paint(yellow, recreated)
}

var modeWords = map[rules.UpdateMode]string{
	rules.ModeUnchanged: "unchanged", rules.ModeInPlace: "in place", rules.ModeMetadataOnly: "metadata only",
	rules.ModeRecreate: "recreate", rules.ModeDelete: "delete", rules.ModeNotAllowed: "not allowed",
}

var modeColors = map[rules.UpdateMode]string{
	rules.ModeUnchanged: green, rules.ModeInPlace: green, rules.ModeMetadataOnly: green,
	rules.ModeRecreate: yellow, rules.ModeDelete: yellow, rules.ModeNotAllowed: red,
}

// modeText says in a few words what a mode is for the pods.
func modeText(mode rules.UpdateMode, restarts []string) string {
	switch mode {
	case rules.ModeInPlace:
		if len(restarts) == 0 {
			return "in place, nothing restarts"
		}
		return "in place, " + strings.Join(restarts, ", ") + " " + counted.Word(len(restarts), "restarts", "restart") + " inside the pod"
	case rules.ModeMetadataOnly:
		return "metadata only, nothing restarts"
	case rules.ModeRecreate:
		return "recreate: each pod is deleted, and its controller creates a new one"
	case rules.ModeNotAllowed:
		return "not allowed, running pods stay as they are"
	}
	return "unchanged, the pods stay as they are"
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

// builder gathers lines and cuts them to the terminal. What a line is made of cannot
// end it, nor act on the terminal.
type builder struct {
	st   Style
	text strings.Builder
}

func (b *builder) line(format string, args ...any) {
	b.text.WriteString(strings.TrimRight(text.Line(fmt.Sprintf(format, args...)), " ") + "\n")
}

func (b *builder) write(w io.Writer) error {
	return writePage(w, b.text.String())
}
