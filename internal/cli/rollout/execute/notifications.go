package execute

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/metrics"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/notify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// notifications are the flags that say who else is notified of the progress of a rollout.
type notifications struct {
	URLs       []string
	secretFile string
	Listen     string
}

func (t *notifications) AddFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&t.URLs, "notify", nil, "URL of a web hook that gets a CloudEvent when the rollout starts, waits for approval or ends; can be repeated")
	fl.StringVar(&t.secretFile, "notify-secret-file", "", "file with the key that signs these events; default: $"+runner.SecretVariable)
	fl.StringVar(&t.Listen, "listen", "", "address on which to serve /metrics and /healthz during the rollout, such as :8080")
	_ = c.MarkFlagFilename("notify-secret-file")
}

// Check refuses addresses that cannot be, before a plan is made.
func (t *notifications) Check() error {
	for _, text := range t.URLs {
		if _, err := notify.Check(text); err != nil {
			return command.Usagef("for instance https://hooks.example.com/rollouts", "--notify: %v", err)
		}
	}
	if t.Listen == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(t.Listen); err != nil {
		return command.Usagef("for instance :8080 or 127.0.0.1:8080", "--listen: %v", err)
	}
	return nil
}

// CheckGroup refuses what is for one rollout alone.
func (t *notifications) CheckGroup() error {
	if t.Listen == "" {
		return nil
	}
	return command.Usagef("'kubectl kruise rollout status --group NAME --watch -o json' shows the status of the group", "--listen is for the rollout of one workload")
}

// secret is what signs notifications: that of the file, or of the environment; none without.
func (t *notifications) secret(getenv func(string) string) ([]byte, error) {
	if t.secretFile == "" {
		text := getenv(runner.SecretVariable)
		secret := bytes.TrimSpace([]byte(text))
		if len(secret) == 0 && text != "" {
			return nil, command.Usagef("", "$%s is empty", runner.SecretVariable)
		}
		return secret, nil
	}
	text, err := load.File(t.secretFile, nil, maxSecret)
	if err != nil {
		return nil, fmt.Errorf("--notify-secret-file: %w", err)
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, command.Usagef("", "--notify-secret-file: %s is empty", t.secretFile)
	}
	return text, nil
}

const (
	// maxSecret is how large a file with a secret may be, in bytes.
	maxSecret = 1 << 20
	// notifyWithin bounds an attempt to call a web hook.
	notifyWithin = 10 * time.Second
	// notifyAtEnd is how long the end of a rollout waits for notifications that are not sent yet.
	notifyAtEnd = 10 * time.Second
	// scrapedWithin bounds a request for metrics and its answer, idleWithin a connection between two.
	scrapedWithin, idleWithin = 5 * time.Second, 2 * time.Minute
)

// Serve serves metrics until stop is called; nothing without --listen, or where it is served
// already.
func (d *Execution) Serve() (stop func(), err error) {
	if d.Notifications.Listen == "" || d.served != nil {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", d.Notifications.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	d.served = metrics.New()
	s := &http.Server{Handler: byAddress(d.served), ReadTimeout: scrapedWithin, WriteTimeout: scrapedWithin, IdleTimeout: idleWithin}
	var all sync.WaitGroup
	all.Go(func() { _ = s.Serve(l) }) // it ends by Close
	return func() { _ = s.Close(); all.Wait(); d.served = nil }, nil
}

// byAddress answers requests that come over the loopback address only where they are for an address or localhost: a
// web page reaches what listens on this machine by a name of its own that leads there.
func byAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if local != nil && local.IP.IsLoopback() && host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			http.Error(w, "ask for localhost, or the address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// listeners is who else hears of a rollout that is about to be driven; end is called when it is
// over.
func (d *Execution) listeners(ctx context.Context, e *apply.Executor) (emit func(event.Event), end func(), err error) {
	stop, err := d.Serve()
	if err != nil {
		return nil, nil, err
	}
	hooks, err := d.hooks(ctx, e)
	if err != nil {
		stop()
		return nil, nil, err
	}
	shown := d.served
	return func(e event.Event) {
			if shown != nil {
				shown.Event(e)
			}
			if hooks != nil {
				hooks.Event(e)
			}
		}, func() {
			if hooks != nil {
				hooks.Close(notifyAtEnd)
			}
			stop()
		}, nil
}

// hooks are the web hooks of --notify; nil for none.
func (d *Execution) hooks(ctx context.Context, e *apply.Executor) (*notify.Notifier, error) {
	if len(d.Notifications.URLs) == 0 {
		return nil, nil
	}
	opt, err := d.hookOptions(ctx)
	if err != nil {
		return nil, err
	}
	rec, err := e.Record()
	if err != nil {
		return nil, err
	}
	opt.ID = rec.UID + " " + rec.Begun.UTC().Format(time.RFC3339Nano)
	return notify.New(opt)
}

// hookOptions say where notifications go. The ID is still to be set.
func (d *Execution) hookOptions(ctx context.Context) (notify.Options, error) {
	secret, err := d.Notifications.secret(d.Factory.Streams.Getenv)
	if err != nil {
		return notify.Options{}, err
	}
	cfg, err := d.Factory.Config()
	if err != nil {
		return notify.Options{}, err
	}
	client, err := d.Clientset()
	if err != nil {
		return notify.Options{}, err
	}
	return notify.Options{
		URLs: d.Notifications.URLs, Secret: secret, Client: verify.Client(d.Authority.Asks, notifyWithin), Source: sourceOfEvents(planning.ClusterIdentities(ctx, client, cfg)[0]),
		Warnings: d.Factory.Streams.Err,
	}, nil
}

// groupHooks are the web hooks of a group: each of its rollouts is reported as one by itself
// is. Its methods are called one at a time.
type groupHooks struct {
	opt notify.Options
	// id is the same for the same run of the same group, by whichever process.
	id        string
	notifiers map[event.Workload]*notify.Notifier
}

func (d *Execution) hooksOf(ctx context.Context) (*groupHooks, error) {
	h := &groupHooks{notifiers: map[event.Workload]*notify.Notifier{}}
	if len(d.Notifications.URLs) == 0 {
		return h, nil
	}
	var err error
	h.opt, err = d.hookOptions(ctx)
	return h, err
}

// recorded takes in the record of the group, before any event.
func (h *groupHooks) recorded(rec plan.Rollout) {
	h.id = rec.Namespace + "/" + rec.Name + " " + rec.Begun.UTC().Format(time.RFC3339Nano)
}

func (h *groupHooks) event(e event.Event) {
	if len(h.opt.URLs) == 0 {
		return
	}
	n := h.notifiers[e.Workload]
	if n == nil {
		opt := h.opt
		opt.ID = h.id + " " + e.Workload.Kind + "/" + e.Workload.Namespace + "/" + e.Workload.Name
		var err error
		if n, err = notify.New(opt); err != nil {
			return // the addresses were checked before
		}
		h.notifiers[e.Workload] = n
	}
	n.Event(e)
}

// close waits until all is sent, as long as for one rollout.
func (h *groupHooks) close() {
	var all sync.WaitGroup
	for _, n := range h.notifiers {
		all.Go(func() { n.Close(notifyAtEnd) })
	}
	all.Wait()
}

// sourceOfEvents is the source of CloudEvents, a URI, by the identity of a cluster.
func sourceOfEvents(id string) string {
	if uid, ok := strings.CutPrefix(id, "uid:"); ok {
		return "urn:uuid:" + uid
	}
	return "/kubectl-kruise/" + id
}
