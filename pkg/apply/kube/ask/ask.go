// Package ask puts the questions of verify steps to the world outside the cluster: a
// command, a URL, a Prometheus server. It knows no cluster, and says in answers
// nothing that could be secret.
package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Answer is what one attempt has found.
type Answer struct {
	Good bool
	// Text is one line for people.
	Text string
}

// oneAttempt is how long an attempt may take.
const oneAttempt = 30 * time.Second

// Once makes one attempt at a question that is no Job.
func Once(ctx context.Context, v *plan.Verify, may Permissions) Answer {
	ctx, cancel := context.WithTimeoutCause(ctx, oneAttempt, errSlow)
	defer cancel()
	a := once(ctx, v, may)
	if !a.Good && errors.Is(context.Cause(ctx), errSlow) {
		a.Text = errSlow.Error()
	}
	return a
}

var errSlow = fmt.Errorf("no answer within %s", oneAttempt)

func once(ctx context.Context, v *plan.Verify, may Permissions) Answer {
	switch {
	case len(v.Command) > 0 && !may.Commands:
		return Answer{Text: errCommand.Error()}
	case len(v.Command) > 0:
		return command(ctx, v.Command)
	case v.URL != "":
		return fetch(ctx, may, v)
	case v.Prometheus != "":
		return query(ctx, may, v)
	}
	return Answer{Text: "there is no question"}
}

// byDefault is the interval between attempts.
const byDefault = 10 * time.Second

// Until makes attempts until one is good or all have failed, or ctx ends. told is
// told of each that failed and is not the last; n counts from 1.
func Until(ctx context.Context, v *plan.Verify, once func(ctx context.Context, n int) Answer, told func(text string)) Answer {
	every := v.Every
	if every <= 0 {
		every = byDefault
	}
	attempts := max(v.Attempts, 1)
	for n := 1; ; n++ {
		a := once(ctx, n)
		switch {
		case a.Good:
			return a
		case attempts > 1:
			a.Text = fmt.Sprintf("%s (attempt %d of %d)", a.Text, n, attempts)
		}
		if n >= attempts || ctx.Err() != nil {
			return a
		}
		told(a.Text)
		if !pause(ctx, every) {
			return a
		}
	}
}

// pause is false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
