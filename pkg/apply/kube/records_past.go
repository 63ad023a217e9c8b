package kube

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// The bounds of past rollouts in a record, as kept and unpacked. A plan needs the room
// more: the oldest rollouts make way for it.
const (
	mostPastBytes    = 64 << 10
	mostPastUnpacked = 1 << 20
)

// packedPast is past rollouts, oldest first, as they are kept in at most so many bytes; nil
// where none has room.
func packedPast(list []plan.PastRollout, most int) []byte {
	for list = plan.Recent(list); len(list) > 0; list = list[1:] {
		text, err := json.Marshal(list)
		if err != nil {
			return nil // times beyond the year 9999, in an edited record
		}
		if out := packed(text); len(out) <= most {
			return out
		}
	}
	return nil
}

// readPast reads past rollouts. They are data of whoever may write ConfigMaps: they are
// bounded here, and decide nothing.
func readPast(text []byte) ([]plan.PastRollout, error) {
	if len(text) == 0 {
		return nil, nil
	}
	text, err := unpackedTo(text, mostPastUnpacked)
	if err != nil {
		return nil, fmt.Errorf("past rollouts: %w", err)
	}
	var list []plan.PastRollout
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("past rollouts: %w", err)
	}
	return plan.Recent(list), nil
}
