package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Comparison is how new pods do beside old ones, for the user who decides whether the rollout
// continues: logs and metrics are handed to it.
type Comparison struct {
	New Side `json:"new"`
	Old Side `json:"old"`
	// Checks are the Prometheus queries of the plan.
	Checks []Check `json:"checks,omitempty"`
	// Skipped are parts that could not be read, with the reason.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Side is the pods of one revision.
type Side struct {
	Pods  int `json:"pods"`
	Ready int `json:"ready"`
	// Restarts are those of all containers, Restarted is how many pods have any.
	Restarts  int `json:"restarts"`
	Restarted int `json:"restarted"`
	// Ends are how containers ended last, most frequent first.
	Ends []End `json:"lastTerminations,omitempty"`
	// Logs is a sample of the logs; nil where none was read.
	Logs *Logs `json:"logs,omitempty"`
}

// End is how containers ended, and how many.
type End struct {
	How   string `json:"how"`
	Count int    `json:"count"`
}

// Check is one query of the plan.
type Check struct {
	Step  string `json:"step"`
	Query string `json:"query"`
	// Answer is the value against its threshold, Good whether it holds.
	Answer string `json:"answer"`
	Good   bool   `json:"good"`
}

// Skipped is a part that could not be read.
type Skipped struct {
	Part string `json:"part"`
	Why  string `json:"why"`
}

// AwaitsApproval reports whether the rollout waits for approval, so that there is something to decide.
func AwaitsApproval(d Diagnosis) bool {
	return slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Gate == plan.GatePromote })
}

// Compare compares the pods of a question; old and updated are those pods, for who reads logs.
func Compare(q Question) (c Comparison, updated, old []*cluster.Pod) {
	carries := plan.UpdatedTest(q.Plan, q.Snapshot)
	for _, p := range q.Snapshot.Members() {
		switch {
		case !rules.Active(p):
		case carries(p):
			updated = append(updated, p)
		default:
			old = append(old, p)
		}
	}
	c.New, c.Old = side(updated), side(old)
	return c, updated, old
}

// maxEnds is how many ways to end are named.
const maxEnds = 3

func side(pods []*cluster.Pod) Side {
	s := Side{Pods: len(pods)}
	ends := map[string]int{}
	for _, p := range pods {
		if p.IsReady() {
			s.Ready++
		}
		restarts := 0
		for _, list := range [][]cluster.Container{p.InitContainers, p.Containers} {
			for i := range list {
				restarts += list[i].Restarts
				if list[i].Ended != "" {
					ends[list[i].Ended]++
				}
			}
		}
		s.Restarts += restarts
		if restarts > 0 {
			s.Restarted++
		}
	}
	for how, n := range ends {
		s.Ends = append(s.Ends, End{how, n})
	}
	slices.SortFunc(s.Ends, func(a, b End) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.How, b.How)
	})
	s.Ends = s.Ends[:min(len(s.Ends), maxEnds)]
	return s
}

// Row is a line of the comparison: what, and how it is of the new and of the old pods.
type Row struct{ What, New, Old string }

// Rows are the comparison for users, in two columns.
func (c Comparison) Rows() []Row {
	rows := []Row{
		{"pods ready", fmt.Sprintf("%d of %d", c.New.Ready, c.New.Pods), fmt.Sprintf("%d of %d", c.Old.Ready, c.Old.Pods)},
		{"restarts", c.New.restarts(), c.Old.restarts()},
		{"last terminations", c.New.ends(), c.Old.ends()},
	}
	if c.New.Logs != nil || c.Old.Logs != nil {
		rows = append(rows, Row{"error lines/min", c.New.Logs.text(), c.Old.Logs.text()})
	}
	return rows
}

// Notes are what has no two columns: the queries, and what could not be read.
func (c Comparison) Notes() []string {
	var out []string
	for _, k := range c.Checks {
		verdict := "fails"
		if k.Good {
			verdict = "passes"
		}
		out = append(out, fmt.Sprintf("query %s %s: %s (%s)", k.Step, verdict, k.Answer, k.Query))
	}
	for _, s := range c.Skipped {
		out = append(out, fmt.Sprintf("%s skipped: %s", s.Part, s.Why))
	}
	return out
}

func (s Side) restarts() string {
	if s.Restarts == 0 {
		return "0"
	}
	return fmt.Sprintf("%d in %s", s.Restarts, counted.Of(s.Restarted, "pod"))
}

func (s Side) ends() string {
	if len(s.Ends) == 0 {
		return "none"
	}
	parts := make([]string, len(s.Ends))
	for i, e := range s.Ends {
		parts[i] = e.How
		if e.Count > 1 {
			parts[i] += fmt.Sprintf(" x%d", e.Count)
		}
	}
	return strings.Join(parts, "; ")
}
