package plan

import "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"

func (r *run) pods(s *Step) (Decision, bool) { return Decision{}, true }

func (r *run) containers(s *Step) (Decision, bool) { return Decision{}, true }

func (r *run) clientPending(n int) rules.Pending { return nil }
