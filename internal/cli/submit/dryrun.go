package submit

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// DryRunFlag is --dry-run, as kubectl has it.
type DryRunFlag struct{ Strategy cmdutil.DryRunStrategy }

// AddFlag adds it to a verb.
func (f *DryRunFlag) AddFlag(c *cobra.Command) {
	cmdutil.AddDryRunFlag(c)
	command.Offer(c, "dry-run", "none", "client", "server")
}

// Read reads it from the command line of a verb, which may not have it. Errors are of
// usage.
func (f *DryRunFlag) Read(c *cobra.Command) (err error) {
	if c.Flags().Lookup("dry-run") == nil {
		return nil
	}
	if f.Strategy, err = cmdutil.GetDryRunStrategy(c); err != nil {
		return command.Usagef("one of: none, client, server", "--dry-run: unknown value %q", cmdutil.GetFlagString(c, "dry-run"))
	}
	return nil
}

// Only reports whether nothing is written.
func (f DryRunFlag) Only() bool { return f.Strategy != cmdutil.DryRunNone }

// AtServer reports whether the server is asked what it would write.
func (f DryRunFlag) AtServer() bool { return f.Strategy == cmdutil.DryRunServer }

// Suffix tells what was not done from what was.
func (f DryRunFlag) Suffix() string {
	switch f.Strategy {
	case cmdutil.DryRunClient:
		return " (dry run)"
	case cmdutil.DryRunServer:
		return " (server dry run)"
	}
	return ""
}

// Requests are to be shown.
type Requests struct {
	// JSON has them one a line.
	JSON bool
	// Manager is who would write; "" is the default.
	Manager string
	// Note describes what is written besides.
	Note string
	List []event.Request
}

// Show shows requests. Where the server is asked, what it would refuse is the error.
func (f DryRunFlag) Show(ctx context.Context, w io.Writer, cfg *rest.Config, r Requests) error {
	if err := r.write(w); err != nil || !f.AtServer() {
		return err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	var errs resource.Errors
	for _, one := range representatives(r.List) {
		errs.Add(kube.ServerDryRun(ctx, client.CoreV1().RESTClient(), r.Manager, one))
	}
	return errs.Err()
}

func (r Requests) write(w io.Writer) error {
	if r.JSON {
		return view.RequestsJSON(w, r.List)
	}
	return view.Requests(w, r.Note, r.List)
}

// representatives are the requests that a server can answer before any of them was carried out:
// of those to pods the first of each kind is tried for all.
func representatives(list []event.Request) []event.Request {
	var out []event.Request
	seen := map[string]bool{}
	for _, r := range list {
		kind := requestKind(r)
		if kind != "" && seen[kind] {
			continue
		}
		seen[kind] = true
		out = append(out, r)
	}
	return out
}

// requestKind is the same for requests to pods, or for them, that do the same; "" for others.
func requestKind(r event.Request) string {
	// "", api, v1, namespaces, NAMESPACE, pods, NAME, subresource
	if parts := strings.Split(r.Path, "/"); len(parts) > 6 && parts[1] == "api" && parts[5] == "pods" {
		return r.Method + " " + strings.Join(parts[7:], "/")
	}
	if r.Method == http.MethodPost { // of Jobs and the like
		return r.Path
	}
	return ""
}
