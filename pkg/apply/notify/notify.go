// Package notify sends what a rollout tells to web hooks, as CloudEvents 1.0 in JSON. It knows
// events and no cluster. Nothing that it does holds up a rollout: it queues, sends behind, and
// gives up in the end.
package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
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
	// Warn is told what could not be delivered, by any goroutine.
	Warn func(text string)
	// Wait is the time before the second attempt, which doubles with each; 0 is a second.
	Wait time.Duration
}

const (
	// mostQueued is how many notifications wait for a web hook that does not answer: more than
	// a rollout has, unless people pause it all the time.
	mostQueued = 64
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
		n.hooks = append(n.hooks, &hook{url: text, host: host, queue: make(chan []byte, mostQueued)})
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
	if n.opt.Warn != nil {
		n.opt.Warn(fmt.Sprintf("the web hook at %s was not told: %s", h.host, why))
	}
}
