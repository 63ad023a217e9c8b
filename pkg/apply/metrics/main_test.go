package metrics

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/hermetic"
)

func TestMain(m *testing.M) { hermetic.Main(m) }
