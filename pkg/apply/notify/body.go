package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

// The types of notifications.
const (
	Started    = "dev.kubectl-kruise.rollout.started"
	Waiting    = "dev.kubectl-kruise.rollout.waiting"
	Failed     = "dev.kubectl-kruise.rollout.failed"
	Completed  = "dev.kubectl-kruise.rollout.completed"
	RolledBack = "dev.kubectl-kruise.rollout.rolledback"
)

// cloudEvent is an event of the CloudEvents specification 1.0 in its JSON format.
type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        Data      `json:"data"`
}

// Data is what a notification says. It has no part of a manifest.
type Data struct {
	Workload event.Workload `json:"workload"`
	// Step is the present step, from 1; 0 where none is meant.
	Step  int `json:"step,omitempty"`
	Steps int `json:"steps,omitempty"`
	// Reason says what is waited for, or why it failed.
	Reason string        `json:"reason,omitempty"`
	Pods   *event.Counts `json:"pods,omitempty"`
}

// typeOf is the type of the notification that an event is worth; "" for none.
func typeOf(e event.Event) string {
	switch {
	case e.Type == event.Opened && e.Plan != nil && e.Plan.At == 0 && e.Text == "":
		return Started
	case e.Type == event.Paused:
		return Waiting
	case e.Type != event.Ended:
		return ""
	}
	switch e.Outcome {
	case event.Completed:
		return Completed
	case event.Failed:
		return Failed
	case event.RolledBack:
		return RolledBack
	case event.AtPause, event.TimedOut, event.Interrupted, event.TakenOver: // another process goes on
	}
	return ""
}

// body is the notification of an event. The ID is the same for the same state of the same
// rollout: a process that takes a rollout over tells again what the one before may not have
// told.
func (n *Notifier) body(e event.Event) ([]byte, bool) {
	kind := typeOf(e)
	if kind == "" {
		return nil, false
	}
	reason := ""
	if e.Type != event.Opened {
		reason = redact.Inside(e.Text)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{n.opt.ID, kind, strconv.Itoa(e.Step), reason}))
	body, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: hex.EncodeToString(sum[:16]), Source: n.opt.Source, Type: kind,
		Subject: e.Workload.Kind + "/" + e.Workload.Namespace + "/" + e.Workload.Name, Time: e.Time.UTC(), ContentType: "application/json",
		Data: Data{Workload: e.Workload, Step: max(e.Step+1, 0), Steps: n.steps, Reason: reason, Pods: e.Counts},
	})
	return body, err == nil
}
