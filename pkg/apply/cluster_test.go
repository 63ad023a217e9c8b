package apply_test

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// The executor runs on the model cluster as it runs on a real one.
var _ apply.Cluster = (*simulate.World)(nil)
