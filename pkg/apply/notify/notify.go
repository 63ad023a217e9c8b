// Package notify sends what a rollout reports to web hooks, as CloudEvents 1.0 in JSON. It knows
// events and no cluster. Nothing that it does holds up a rollout: it queues, sends behind, and
// gives up in the end.
package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

// Options say where notifications go.
type Options struct {
	// URLs are the web hooks.
	URLs []string
	// Secret signs each body; empty signs none.
	Secret []byte
	// Source identifies the cluster, ID the rollout in it.
	Source, ID string
	// Client sends them; its timeout bounds an attempt.
	Client *http.Client
	// Warnings is where what could not be delivered is written, a line each, by any goroutine; it may be nil.
	Warnings io.Writer
	// Wait is the time before the second attempt, which doubles with each; 0 is a second.
	Wait time.Duration
}

const (
	// maxQueued is how many notifications wait for a web hook that does not answer: more than
	// a rollout has, unless people pause it all the time.
	maxQueued = 64
	// mostTries is how often one is sent; with the usual wait that is within two minutes.
	mostTries = 8
	// mostWait is the longest time between two attempts.
	mostWait = time.Minute
)

// Notifier sends notifications.
type Notifier struct {
	opt   Options
	hooks []*hook
	// steps is how many the plan has.
	steps int
	stop  context.CancelFunc
	all   sync.WaitGroup
}

// hook is one web hook with what is still to be sent to it, in order.
type hook struct {
	url, host string
	queue     chan []byte
}

// New returns a Notifier. The error names an address that cannot be one of a web hook.
func New(o Options) (*Notifier, error) {
	if o.Wait == 0 {
		o.Wait = time.Second
	}
	n := &Notifier{opt: o}
	for _, text := range o.URLs {
		host, err := Check(text)
		if err != nil {
			return nil, err
		}
		n.hooks = append(n.hooks, &hook{url: text, host: host, queue: make(chan []byte, maxQueued)})
	}
	var ctx context.Context
	ctx, n.stop = context.WithCancel(context.Background())
	for _, h := range n.hooks {
		n.all.Go(func() { n.deliver(ctx, h) })
	}
	return n, nil
}

// Check returns the host of an address, by which messages name it: the rest may be secret.
func Check(text string) (host string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", errors.New("it is no http or https address")
	case u.User != nil:
		return "", fmt.Errorf("the address at %s has a password in it, which others could read in the list of processes", u.Host)
	}
	return u.Host, nil
}

// Event takes an event in. It never waits.
func (n *Notifier) Event(e event.Event) {
	if e.Plan != nil {
		n.steps = len(e.Plan.Steps)
	}
	body, ok := n.body(e)
	if !ok {
		return
	}
	for _, h := range n.hooks {
		select {
		case h.queue <- body:
		default:
			n.warn(h, "too many are waiting already")
		}
	}
}

// Close waits until all is sent, no longer than that, and ends what is not.
func (n *Notifier) Close(within time.Duration) {
	for _, h := range n.hooks {
		close(h.queue)
	}
	late := time.AfterFunc(within, n.stop)
	defer late.Stop()
	n.all.Wait()
	n.stop()
}

// deliver sends what is queued for a web hook, one after the other.
func (n *Notifier) deliver(ctx context.Context, h *hook) {
	for body := range h.queue {
		if err := n.try(ctx, h, body); err != nil {
			n.warn(h, err.Error())
		}
	}
}

// try sends one until it is taken, refused for good, or there was no answer too often.
func (n *Notifier) try(ctx context.Context, h *hook, body []byte) error {
	wait := n.opt.Wait
	for i := 1; ; i++ {
		final, err := n.send(ctx, h, body)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return errors.New("the program ended before it was taken")
		case final || i == mostTries:
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, mostWait)
	}
}

func (n *Notifier) warn(h *hook, why string) {
	if n.opt.Warnings != nil {
		_, _ = fmt.Fprintf(n.opt.Warnings, "warning: the web hook at %s was not told: %s\n", h.host, why)
	}
}

// The types of notifications.
const (
	Started    = "dev.kubectl-kruise.rollout.started"
	Waiting    = "dev.kubectl-kruise.rollout.waiting"
	failed     = "dev.kubectl-kruise.rollout.failed"
	Completed  = "dev.kubectl-kruise.rollout.completed"
	rolledBack = "dev.kubectl-kruise.rollout.rolledback"
)

// cloudEvent is an event of the CloudEvents specification 1.0 in its JSON format.
type cloudEvent struct {
	SpecVersion string       `json:"specversion"`
	ID          string       `json:"id"`
	Source      string       `json:"source"`
	Type        string       `json:"type"`
	Subject     string       `json:"subject"`
	Time        time.Time    `json:"time"`
	ContentType string       `json:"datacontenttype"`
	Data        templateData `json:"data"`
}

// templateData is what a notification says. It has no part of a manifest.
type templateData struct {
	Workload event.Workload `json:"workload"`
	// Step is the present step, from 1; 0 where none is meant.
	Step  int `json:"step,omitempty"`
	Steps int `json:"steps,omitempty"`
	// Reason describes what is waited for, or why it failed.
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
		return failed
	case event.RolledBack:
		return rolledBack
	case event.AtPause, event.TimedOut, event.Interrupted, event.TakenOver: // another process continues
	}
	return ""
}

// body is the notification of an event. The ID is the same for the same state of the same
// rollout: a process that takes a rollout over reports again what the one before may not have
// reported.
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
		Data: templateData{Workload: e.Workload, Step: max(e.Step+1, 0), Steps: n.steps, Reason: reason, Pods: e.Counts},
	})
	return body, err == nil
}

// SignatureHeader has the HMAC-SHA256 of the body by the secret: "sha256=" and 64 hexadecimal
// digits.
const SignatureHeader = "Kubectl-Kruise-Signature"

// contentType is that of the structured mode (CloudEvents 1.0, HTTP protocol binding, 3.2).
const contentType = "application/cloudevents+json; charset=utf-8"

// maxAnswerBytes is how much of an answer is read, so that a connection can be used again.
const maxAnswerBytes = 64 << 10

// send sends one notification; final indicates that another attempt would not change the error.
// Errors do not have the address, which may be secret.
func (n *Notifier) send(ctx context.Context, h *hook, body []byte) (final bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return true, withoutAddress(err)
	}
	req.Header.Set("Content-Type", contentType)
	if len(n.opt.Secret) > 0 {
		req.Header.Set(SignatureHeader, Sign(n.opt.Secret, body))
	}
	res, err := n.opt.Client.Do(req)
	if err != nil {
		return false, withoutAddress(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswerBytes)) // only the status counts
	_ = res.Body.Close()
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	return isPermanentRefusal(res.StatusCode), fmt.Errorf("status %d", res.StatusCode)
}

// isPermanentRefusal reports whether a status says that the same request would not be taken later.
func isPermanentRefusal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4 || status/100 == 3
}

// Sign returns the value of [SignatureHeader].
func Sign(secret, body []byte) string {
	h := hmac.New(sha256.New, secret)
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

func withoutAddress(err error) error {
	if about, ok := errors.AsType[*url.Error](err); ok {
		return about.Err
	}
	return err
}
