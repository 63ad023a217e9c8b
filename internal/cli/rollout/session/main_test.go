package session

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

func TestMain(m *testing.M) { hermetic.Main(m) }
